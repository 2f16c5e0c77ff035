package import MLGraph
package import MLNumerics

/// Repeats a body while a condition holds.
///
/// Operands: the initial values of the loop. Bodies: the condition, which returns one Boolean, and the body, which
/// returns the values of the next iteration; both take the values of the current one. `limit` is the maximum number of
/// iterations. A loop stops with an error when the prediction is cancelled.
package struct WhileLoop: ControlFlowOperator {
    package static let names: [MILName] = ["while_loop"]
    /// `nil` for no limit.
    package var limit: Int?

    package init(limit: Int? = nil) { self.limit = limit }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        limit = nil
        try arguments.variadicOperand("loop_vars")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        var types: [ValueType] = []
        for index in 0..<operands.count { types.append(try operands.type(index)) }
        guard operands.bodies.count == 2, operands.bodies[0].outputs.count == 1,
            operands.bodies.allSatisfy({ $0.inputs.count == types.count })
        else {
            throw ModelError(.invalidModel, "a loop needs a condition and a body that take \(types.count) values")
        }
        return try merged(types, operands.bodies[1].outputs)
    }

    package func evaluate(_ operands: [Tensor], bodies: [BlockBody]) throws(ModelError) -> [Tensor] {
        var values = operands
        var turn = 0
        while turn < limit ?? .max {
            try Cancellation.check()
            guard let condition = try bodies[0](values).first?.values.first else {
                throw ModelError(.invalidInput, "the condition of a loop must be a scalar")
            }
            guard condition != 0 else { break }
            values = try bodies[1](values)
            turn += 1
        }
        return values
    }
}
