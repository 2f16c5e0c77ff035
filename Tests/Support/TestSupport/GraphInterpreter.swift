package import MLGraph
package import MLNumerics

/// Runs graphs by the operators' plain evaluations alone: the judge of plans, passes and kernels.
package struct GraphInterpreter {
    private let graph: Graph

    private init(_ graph: Graph) { self.graph = graph }

    /// The outputs of `graph` for `inputs`, which fix its shapes.
    package static func outputs(of graph: Graph, _ inputs: [Tensor]) throws(ModelError) -> [Tensor] {
        var types: [ValueID: ValueType] = [:]
        for (id, tensor) in zip(graph.inputs, inputs) {
            types[id] = ValueType(tensor.scalarType, Shape(tensor.shape), kind: graph.type(of: id).kind)
        }
        let bound = try graph.bound(types)
        return try GraphInterpreter(bound).run(bound.body, inputs, [:])
    }

    private func run(
        _ block: Block,
        _ inputs: [Tensor],
        _ outer: [ValueID: Tensor]
    ) throws(ModelError) -> [Tensor] {
        var values = outer
        for (id, tensor) in zip(block.inputs, inputs) { values[id] = tensor }
        func value(_ id: ValueID) throws(ModelError) -> Tensor {
            guard let tensor = values[id] ?? graph.constant(id) else {
                throw ModelError(.invalidModel, "value \(graph.label(id)) is used before it is defined")
            }
            return tensor
        }
        for operation in block.operations {
            var operands: [Tensor?] = []
            for id in operation.operands {
                if let id { operands.append(try value(id)) } else { operands.append(nil) }
            }
            let results = try evaluate(operation, operands, values)
            for (id, tensor) in zip(operation.results, results) { values[id] = tensor }
        }
        var outputs: [Tensor] = []
        for id in block.outputs { outputs.append(try value(id)) }
        return outputs
    }

    private func evaluate(
        _ operation: Operation,
        _ operands: [Tensor?],
        _ values: [ValueID: Tensor]
    ) throws(ModelError) -> [Tensor] {
        if let control = operation.op as? any ControlFlowOperator {
            var bodies: [BlockBody] = []
            for block in operation.blocks {
                let body: BlockBody = { (inputs: [Tensor]) throws(ModelError) -> [Tensor] in
                    try run(block, inputs, values)
                }
                bodies.append(body)
            }
            return try control.evaluate(operands.compactMap { $0 }, bodies: bodies)
        }
        return try operation.op.evaluated(operands)
    }
}

extension Operator {
    /// The results by plain evaluation, shapes inferred from the operands' contents.
    package func evaluated(_ operands: [Tensor?]) throws(ModelError) -> [Tensor] {
        let known = operands.map { tensor in
            tensor.map { Operands.Operand(type: ValueType($0.scalarType, Shape($0.shape)), constant: $0) }
        }
        let types = try resultTypes(of: Operands(known))
        if let results = knownResults(Operands(known)) { return results }
        var builder = GraphBuilder()
        let ids = operands.map { tensor in tensor.map { builder.constant($0) } }
        if let expanded = try expansion(ids, in: &builder) {
            let graph = builder.finished(outputs: expanded.map { ("", $0) })
            return try GraphInterpreter.outputs(of: graph, [])
        }
        return try reference(ReferenceOperands(operands, resultTypes: types))
    }
}
