package import MLNumerics

/// Decides how an operation is rewritten: the results that replace its own, or `nil` to append it unchanged.
///
/// Operands are values of the new graph.
package typealias OperationRewrite = (
    _ operation: Operation, _ operands: [ValueID?], _ builder: inout GraphBuilder
) throws(ModelError) -> [ValueID]?

extension Graph {
    /// The graph for concrete inputs: types are inferred anew front to back, operations on constants folded, and
    /// operators that only stand for others expanded.
    ///
    /// - Parameters:
    ///   - types: The types of graph inputs that are now known; the others keep their types.
    ///   - constants: Inputs whose contents are fixed for this binding.
    /// - Returns: The bound graph.
    /// - Throws: Errors of type inference and folding, such as shapes that an operation does not accept.
    package func bound(
        _ types: [ValueID: ValueType] = [:],
        constants: [ValueID: Tensor] = [:]
    ) throws(ModelError) -> Graph {
        try rebuilt { (id, builder) throws(ModelError) in
            let input = builder.input(self[id].name, types[id] ?? type(of: id))
            return constants[id].map { builder.constant($0, name: self[id].name) } ?? input
        } operation: { (operation, operands, builder) throws(ModelError) in
            try operation.op.expansion(operands, in: &builder)
        }
    }

    /// Rewrites the graph front to back, inferring types and folding constants.
    ///
    /// - Parameters:
    ///   - input: Appends one input of the body, and returns the value that represents it.
    ///   - blockInput: Returns the type of an input of a nested block.
    ///   - output: Returns the value that replaces an output.
    ///   - operation: Decides how each operation is rewritten.
    /// - Returns: The rewritten graph.
    /// - Throws: Errors that the closures, type inference or folding throw.
    package func rebuilt(
        input: (ValueID, inout GraphBuilder) throws(ModelError) -> ValueID,
        blockInput: ((ValueType) -> ValueType)? = nil,
        output: ((_ old: ValueID, _ new: ValueID, inout GraphBuilder) throws(ModelError) -> ValueID)? = nil,
        operation: OperationRewrite
    ) throws(ModelError) -> Graph {
        var copier = GraphCopier(graph: self)
        for id in body.inputs { copier.set(id, try input(id, &copier.builder)) }
        try copier.copy(body, blockInput: blockInput, operation)
        var outputs: [(String, ValueID)] = []
        for (name, id) in zip(outputNames, body.outputs) {
            let new = try copier.resolve(id)
            outputs.append((name, try output?(id, new, &copier.builder) ?? new))
        }
        var result = copier.builder.finished(outputs: outputs)
        result.body = result.body.withoutDeadOperations()
        return result
    }
}

private struct GraphCopier {
    let graph: Graph
    var builder = GraphBuilder()
    /// By value of `graph`: its copy.
    private var map: [ValueID?]

    init(graph: Graph) {
        self.graph = graph
        map = [ValueID?](repeating: nil, count: graph.values.count)
    }

    mutating func set(_ id: ValueID, _ copy: ValueID) { map[id.index] = copy }

    mutating func resolve(_ id: ValueID) throws(ModelError) -> ValueID {
        if let known = map[id.index] { return known }
        guard let tensor = graph.constant(id) else {
            throw ModelError(.invalidModel, "value '\(graph[id].name)' is used before it is defined")
        }
        let copy = builder.constant(tensor, name: graph[id].name)
        set(id, copy)
        return copy
    }

    mutating func copy(
        _ block: Block,
        blockInput: ((ValueType) -> ValueType)?,
        _ rewrite: OperationRewrite
    ) throws(ModelError) {
        for operation in block.operations {
            var operands: [ValueID?] = []
            for operand in operation.operands {
                if let operand { operands.append(try resolve(operand)) } else { operands.append(nil) }
            }
            var bodies: [Block] = []
            for body in operation.blocks {
                builder.beginBlock()
                for input in body.inputs {
                    let type = graph.type(of: input)
                    set(input, builder.input(graph[input].name, blockInput?(type) ?? type))
                }
                try copy(body, blockInput: blockInput, rewrite)
                var outputs: [ValueID] = []
                for output in body.outputs { outputs.append(try resolve(output)) }
                bodies.append(builder.endBlock(outputs: outputs))
            }
            builder.location = operation.location
            let names = operation.results.map(graph.name(of:))
            let results: [ValueID]
            if bodies.isEmpty, let rewritten = try rewrite(operation, operands, &builder) {
                results = rewritten
                for (id, name) in zip(rewritten, names) where !name.isEmpty && builder.constant(id) == nil {
                    builder.name(id, name)
                }
            } else {
                results = try builder.append(operation.op, operands, names: names, blocks: bodies)
            }
            for (old, new) in zip(operation.results, results) { set(old, new) }
        }
    }
}
