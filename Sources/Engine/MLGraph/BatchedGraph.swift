package import MLNumerics

/// A graph for several examples at once, made from the graph for one.
package struct BatchedGraph: Sendable {
    /// Its inputs and outputs are those of the graph for one example, with the joined shapes of `BatchContext`.
    package let graph: Graph
    /// For each output whether the examples differ; otherwise it is the same for all and has the shape of one.
    package let isBatched: [Bool]

    /// Makes the graph for `count` examples; `nil` when an operation computes examples only one by one.
    ///
    /// Every operation has to say how it computes several examples (`Operator.batched`); a rule answers only where each
    /// example's result depends on that example alone.
    ///
    /// - Parameters:
    ///   - one: A bound graph; all inputs differ between examples.
    ///   - count: The number of examples, 1 or more.
    /// - Throws: Errors of type rules.
    package init?(_ one: Graph, count: Int) throws(ModelError) {
        var builder = GraphBuilder()
        var known: [ValueID: (value: ValueID, isBatched: Bool)] = [:]

        func context(_ operation: Operation, _ operands: [BatchContext.Operand?]) -> BatchContext {
            BatchContext(
                builder: builder,
                count: count,
                operands: operands,
                resultTypes: operation.results.map(one.type(of:))
            )
        }

        func resolve(_ id: ValueID) throws(ModelError) -> (value: ValueID, isBatched: Bool) {
            if let known = known[id] { return known }
            guard let tensor = one.constant(id) else {
                throw ModelError(.invalidModel, "value '\(one[id].name)' is used before it is defined")
            }
            let copy = (builder.constant(tensor, name: one[id].name), false)
            known[id] = copy
            return copy
        }

        for id in one.inputs {
            let type = one.type(of: id)
            guard type.isPlain, let shape = type.shape.counts else { return nil }
            let joined = BatchContext(builder: builder, count: count, operands: [], resultTypes: []).joinedShape(shape)
            known[id] = (builder.input(one[id].name, type.with(Shape(joined))), true)
        }
        for operation in one.body.operations {
            guard operation.blocks.isEmpty, operation.op.isPure else { return nil }
            var operands: [BatchContext.Operand?] = []
            for id in operation.operands {
                guard let id else {
                    operands.append(nil)
                    continue
                }
                let (value, isBatched) = try resolve(id)
                guard let shape = one.type(of: id).shape.counts else { return nil }
                operands.append(BatchContext.Operand(value: value, shape: shape, isBatched: isBatched))
            }
            builder.location = operation.location
            let types = operation.results.map(one.type(of:))
            guard types.allSatisfy({ $0.isPlain && $0.isBound }) else { return nil }
            let isBatched = operands.contains { $0?.isBatched == true }
            let results: [ValueID]
            if isBatched {
                var context = context(operation, operands)
                guard let batched = try operation.op.batched(&context) else { return nil }
                builder = context.builder
                for (id, type) in zip(batched, types) {
                    let joined = context.joinedShape(type.shape.counts ?? [])
                    guard builder.type(of: id) == type.with(Shape(joined)) else { return nil }
                }
                results = batched
            } else {
                results = try builder.append(operation.op, operands.map { $0?.value })
            }
            guard results.count == types.count else { return nil }
            for (id, result) in zip(operation.results, results) { known[id] = (result, isBatched) }
        }
        var outputs: [(name: String, value: ValueID)] = []
        var isBatched: [Bool] = []
        for (name, id) in zip(one.outputNames, one.body.outputs) {
            let result = try resolve(id)
            outputs.append((name, result.value))
            isBatched.append(result.isBatched)
        }
        var graph = builder.finished(outputs: outputs)
        graph.body = graph.body.withoutDeadOperations()
        self.graph = graph
        self.isBatched = isBatched
    }
}

extension ValueType {
    /// Whether the value is a tensor with bytes.
    fileprivate var isPlain: Bool { kind == .tensor && scalarType != .string && scalarType.bitWidth >= 8 }
}
