package import MLNumerics

extension Graph {
    /// Checks the invariants: every value is one of the graph's, defined once and before its uses, and every operation's
    /// types follow from its rule.
    ///
    /// The error names the operation's location in the model.
    package func verify() throws(ModelError) {
        var defined: Set<ValueID> = []
        try verify(body, &defined)
        guard outputNames.count == body.outputs.count else {
            throw ModelError(.invalidModel, "\(body.outputs.count) outputs have \(outputNames.count) names")
        }
    }

    private func verify(_ block: Block, _ defined: inout Set<ValueID>) throws(ModelError) {
        func exists(_ id: ValueID, at location: String) throws(ModelError) {
            guard 0..<values.count ~= id.index else {
                throw ModelError(.invalidModel, "the graph has no value of number \(id.index)", at: location)
            }
        }
        func check(_ id: ValueID, at location: String) throws(ModelError) {
            try exists(id, at: location)
            guard defined.contains(id) || constant(id) != nil else {
                throw ModelError(.invalidModel, "value '\(self[id].name)' is used before it is defined", at: location)
            }
        }
        func define(_ id: ValueID, at location: String) throws(ModelError) {
            try exists(id, at: location)
            guard defined.insert(id).inserted else {
                throw ModelError(.invalidModel, "value '\(self[id].name)' is defined twice", at: location)
            }
        }
        for input in block.inputs { try define(input, at: "block input") }
        for operation in block.operations {
            for case let operand? in operation.operands { try check(operand, at: operation.location) }
            for inner in operation.blocks {
                var visible = defined
                try verify(inner, &visible)
            }
            let types = try withErrorContext(operation.location) { () throws(ModelError) in
                try operation.op.resultTypes(of: operands(operation.operands, blocks: operation.blocks))
            }
            for result in operation.results { try exists(result, at: operation.location) }
            guard types.count == operation.results.count,
                zip(types, operation.results).allSatisfy({ $0.agrees(with: type(of: $1)) })
            else {
                throw ModelError(
                    .invalidModel,
                    "'\(operation.op.displayName)' gives \(types), the graph says \(operation.results.map(type(of:)))",
                    at: operation.location
                )
            }
            for result in operation.results { try define(result, at: operation.location) }
        }
        for output in block.outputs { try check(output, at: "block output") }
    }
}
