package import MLNumerics

/// Builds a graph front to back, inferring types and folding constants.
package struct GraphBuilder {
    package private(set) var graph: Graph
    private var open: [Block]
    /// The location of every operation appended from now on.
    package var location = ""

    package init() {
        graph = Graph()
        open = [Block()]
    }

    /// Continues in the value table of `graph`, collecting operations apart from its body.
    init(extending graph: Graph) {
        self.graph = graph
        self.graph.values = ValueTable(extending: graph.values)
        open = [Block()]
    }

    package func type(of id: ValueID) -> ValueType { graph.type(of: id) }
    package func shape(of id: ValueID) -> Shape { graph.type(of: id).shape }
    package func constant(_ id: ValueID) -> Tensor? { graph.constant(id) }

    package mutating func input(_ name: String, _ type: ValueType) -> ValueID {
        let id = graph.define(Value(name: name, type: type))
        open[open.count - 1].inputs.append(id)
        return id
    }

    package mutating func constant(_ tensor: Tensor, name: String = "") -> ValueID {
        graph.define(Value(name: name, type: ValueType(tensor.scalarType, Shape(tensor.shape)), constant: tensor))
    }

    /// Appends an operation and returns its results.
    ///
    /// A pure operation on constants becomes constants.
    @discardableResult
    package mutating func append(
        _ op: some Operator,
        _ operands: [ValueID?],
        names: [String] = [],
        blocks: [Block] = []
    ) throws(ModelError) -> [ValueID] {
        let info = graph.operands(operands, blocks: blocks)
        let types: [ValueType]
        do {
            types = try op.resultTypes(of: info)
            for type in types { try type.requireStorable() }
        } catch {
            throw location.isEmpty ? error.at(op.displayName) : error.at(location)
        }
        func name(_ index: Int) -> String { index < names.count ? names[index] : "" }
        if blocks.isEmpty, let folded = try graph.folded(op, operands, types) {
            return folded.enumerated().map { constant($1, name: name($0)) }
        }
        let results = types.enumerated().map { graph.define(Value(name: name($0), type: $1)) }
        open[open.count - 1].operations.append(
            Operation(op, operands: operands, results: results, blocks: blocks, location: location)
        )
        return results
    }

    /// Appends an operation with one result.
    package mutating func add(_ op: some Operator, _ operands: ValueID?..., name: String = "") throws(ModelError)
        -> ValueID
    {
        try append(op, operands, names: [name])[0]
    }

    /// Opens a nested block; operations go there until `endBlock`.
    package mutating func beginBlock() { open.append(Block()) }

    package mutating func endBlock(outputs: [ValueID]) -> Block {
        var block = open.removeLast()
        block.outputs = outputs
        return block
    }

    /// Gives a value its name in the model.
    package mutating func name(_ id: ValueID, _ name: String) { graph.values[id.index].name = name }

    /// Sets the memory layout of a value.
    package mutating func setLayout(_ id: ValueID, _ layout: Layout) { graph.values[id.index].layout = layout }
    package func layout(of id: ValueID) -> Layout { graph.layout(of: id) }

    /// Changes a block input's type, once the types of the values carried through a loop are known.
    package mutating func retype(_ id: ValueID, _ type: ValueType) { graph.values[id.index].type = type }

    /// The finished graph.
    package func finished(outputs: [(name: String, value: ValueID)]) -> Graph {
        var result = graph
        result.body = open[0]
        result.body.outputs = outputs.map(\.value)
        result.outputNames = outputs.map(\.name)
        return result
    }

    /// The values defined since the builder was made to extend a graph.
    var additions: [Value] { graph.values.additions }

    /// The operations appended outside any nested block.
    var operations: [Operation] { open[0].operations }
}

extension Graph {
    /// Replaces the body by another block; outputs lose their names.
    package mutating func replaceBody(_ block: Block) {
        body = block
        outputNames = block.outputs.map { self[$0].name }
    }

    /// Makes the extents of a value unknown: they may differ from run to run.
    package mutating func clearExtents(_ id: ValueID) {
        values[id.index].type.shape = values[id.index].type.shape.map { _ in .unknown }
    }

    /// The view of `operands` that a type rule gets.
    package func operands(_ operands: [ValueID?], blocks: [Block] = []) -> Operands {
        Operands(
            operands.map { id in id.map { Operands.Operand(type: type(of: $0), constant: constant($0)) } },
            bodies: blocks.map { ($0.inputs.map(type(of:)), $0.outputs.map(type(of:))) }
        )
    }

    /// The results of a pure operation whose operands are all constants and whose results have known extents.
    func folded(_ op: some Operator, _ operands: [ValueID?], _ types: [ValueType]) throws(ModelError) -> [Tensor]? {
        guard op.isPure, types.allSatisfy({ $0.kind == .tensor }) else { return nil }
        if let known = op.knownResults(self.operands(operands)) { return known }
        var tensors: [Tensor?] = []
        for id in operands {
            guard let id else {
                tensors.append(nil)
                continue
            }
            guard let tensor = constant(id), !tensor.storage.isAbsent else { return nil }
            tensors.append(tensor)
        }
        guard !(op is any ControlFlowOperator) else { return nil }
        if let deferred = DeferredResult.results(of: op, tensors, types) { return deferred }
        return try op.reference(ReferenceOperands(tensors, resultTypes: types))
    }
}
