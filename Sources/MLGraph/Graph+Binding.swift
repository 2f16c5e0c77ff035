package import MLNumerics

extension Graph {
    /// The graph for concrete inputs: types inferred anew front to back, operations on constants folded, operators
    /// that only stand for others expanded.
    ///
    /// - Parameters:
    ///   - types: what is now known of graph inputs; the others keep their types.
    ///   - constants: inputs whose contents are fixed for this binding.
    package func bound(
        _ types: [ValueID: ValueType] = [:],
        constants: [ValueID: Tensor] = [:]
    ) throws(ModelError) -> Graph {
        var builder = GraphBuilder()
        var map: [ValueID: ValueID] = [:]
        for id in body.inputs {
            map[id] = builder.input(self[id].name, types[id] ?? type(of: id))
            if let tensor = constants[id] { map[id] = builder.constant(tensor, name: self[id].name) }
        }
        try copy(body, into: &builder, &map)
        var outputs: [(String, ValueID)] = []
        for (name, id) in zip(outputNames, body.outputs) { outputs.append((name, try resolve(id, &map, &builder))) }
        var result = builder.finished(outputs: outputs)
        result.body = result.body.withoutDeadOperations()
        return result
    }

    private func resolve(
        _ id: ValueID,
        _ map: inout [ValueID: ValueID],
        _ builder: inout GraphBuilder
    ) throws(ModelError) -> ValueID {
        if let known = map[id] { return known }
        guard let tensor = constant(id) else {
            throw ModelError(.invalidModel, "value '\(self[id].name)' is used before it is defined")
        }
        let copy = builder.constant(tensor, name: self[id].name)
        map[id] = copy
        return copy
    }

    private func copy(
        _ block: Block,
        into builder: inout GraphBuilder,
        _ map: inout [ValueID: ValueID]
    ) throws(ModelError) {
        for operation in block.operations {
            var operands: [ValueID?] = []
            for operand in operation.operands {
                if let operand { operands.append(try resolve(operand, &map, &builder)) } else { operands.append(nil) }
            }
            var bodies: [Block] = []
            for body in operation.blocks {
                builder.beginBlock()
                for input in body.inputs { map[input] = builder.input(self[input].name, type(of: input)) }
                try copy(body, into: &builder, &map)
                var outputs: [ValueID] = []
                for output in body.outputs { outputs.append(try resolve(output, &map, &builder)) }
                bodies.append(builder.endBlock(outputs: outputs))
            }
            builder.location = operation.location
            let names = operation.results.map { self[$0].name }
            let results: [ValueID]
            if let expanded = try operation.op.expansion(operands, in: &builder) {
                results = expanded
                for (id, name) in zip(expanded, names) where !name.isEmpty { builder.name(id, name) }
            } else {
                results = try builder.append(operation.op, operands, names: names, blocks: bodies)
            }
            for (old, new) in zip(operation.results, results) { map[old] = new }
        }
    }
}
