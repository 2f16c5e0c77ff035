package import MLNumerics

/// Identifies a value of a graph.
package struct ValueID: Hashable, Sendable {
    package let index: Int
    package init(index: Int) { self.index = index }
}

/// A value of a graph: its name in the model, its type, and its contents when they are known before running.
package struct Value: Sendable {
    package var name: String
    package var type: ValueType
    /// The contents, in logical, row-major order whatever `layout` says.
    package var constant: Tensor?
    /// The memory layout of the elements at run time; decided by the layout pass on a bound graph.
    package var layout = Layout.rowMajor

    package init(name: String, type: ValueType, constant: Tensor? = nil) {
        self.name = name
        self.type = type
        self.constant = constant
    }
}

/// One step of a program: an operator applied to operands.
///
/// Immutable and shared by reference: rewrites copy lists of thousands of operations and change a few of them.
package final class Operation: Sendable {
    package let op: any Operator
    /// The operands in the order that the operator documents; `nil` for an absent optional operand.
    package let operands: [ValueID?]
    package let results: [ValueID]
    /// The bodies of control flow.
    package let blocks: [Block]
    /// The origin of the operation: "layer 'conv1'", "operation 'y' (conv)".
    package let location: String
    /// The type of `op`.
    private let kind: ObjectIdentifier

    package init(
        _ op: any Operator,
        operands: [ValueID?],
        results: [ValueID],
        blocks: [Block] = [],
        location: String
    ) {
        self.op = op
        self.operands = operands
        self.results = results
        self.blocks = blocks
        self.location = location
        kind = ObjectIdentifier(type(of: op))
    }

    /// Whether the operator is an `O`.
    ///
    /// Faster than `op is O`, which copies the operator.
    package func `is`<O: Operator>(_ type: O.Type) -> Bool { kind == ObjectIdentifier(type) }

    /// The operator, if it is an `O`.
    ///
    /// Faster than `op as? O` where it is not.
    package func `as`<O: Operator>(_ type: O.Type) -> O? { kind == ObjectIdentifier(type) ? op as? O : nil }

    /// The operation with other operands, results or bodies.
    package func with(operands: [ValueID?]? = nil, results: [ValueID]? = nil, blocks: [Block]? = nil) -> Operation {
        Operation(
            op,
            operands: operands ?? self.operands,
            results: results ?? self.results,
            blocks: blocks ?? self.blocks,
            location: location
        )
    }
}

/// Operations in execution order.
///
/// An operation may use earlier values of its own block, and every value that the enclosing blocks have at that point.
package struct Block: Sendable {
    package var inputs: [ValueID]
    package var operations: [Operation]
    package var outputs: [ValueID]

    package init(inputs: [ValueID] = [], operations: [Operation] = [], outputs: [ValueID] = []) {
        self.inputs = inputs
        self.operations = operations
        self.outputs = outputs
    }
}

/// A function in single-assignment form with MIL's operators: every value is defined once, by a graph input, a
/// constant, a block input or an operation.
///
/// A value type; copies are cheap. It is only built by `GraphBuilder` and changed by `GraphPatch`.
package struct Graph: Sendable {
    var values: ValueTable
    package internal(set) var body: Block
    /// The names of the outputs of `body`, in the same order.
    package internal(set) var outputNames: [String]

    package init() {
        values = ValueTable()
        body = Block()
        outputNames = []
    }

    package subscript(id: ValueID) -> Value { values[id.index] }
    package func type(of id: ValueID) -> ValueType { values[id.index].type }
    package func constant(_ id: ValueID) -> Tensor? { values[id.index].constant }
    package func name(of id: ValueID) -> String { values[id.index].name }
    package func layout(of id: ValueID) -> Layout { values[id.index].layout }

    /// The number of values; their numbers are below it.
    package var valueCount: Int { values.count }

    /// The inputs that a caller supplies, states included.
    package var inputs: [ValueID] { body.inputs }

    mutating func define(_ value: Value) -> ValueID {
        values.append(value)
        return ValueID(index: values.count - 1)
    }
}
