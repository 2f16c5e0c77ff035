package import MLGraph
package import MLNumerics

/// Evaluates one of two bodies, depending on a Boolean.
///
/// Operands: predicate, a scalar. Bodies: for true, for false; without inputs, with outputs of the same types.
package struct Cond: ControlFlowOperator {
    package static let names: [MILName] = ["cond"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) { try arguments.operand("pred") }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        _ = try operands.numericType(0)
        guard operands.bodies.count == 2, operands.bodies.allSatisfy({ $0.inputs.isEmpty }) else {
            throw ModelError(.invalidModel, "a condition needs two bodies without inputs")
        }
        return try merged(operands.bodies[0].outputs, operands.bodies[1].outputs)
    }

    package func evaluate(_ operands: [Tensor], bodies: [BlockBody]) throws(ModelError) -> [Tensor] {
        guard let predicate = operands.first?.values.first else {
            throw ModelError(.invalidInput, "the predicate of a condition must be a scalar")
        }
        return try bodies[predicate != 0 ? 0 : 1]([])
    }
}

/// Types that hold for values of either list; extents that differ become unknown.
func merged(_ a: [ValueType], _ b: [ValueType]) throws(ModelError) -> [ValueType] {
    guard a.count == b.count else {
        throw ModelError(
            .invalidModel,
            "the branches have \(a.count) and \(b.count) results, but the numbers must be equal"
        )
    }
    var result: [ValueType] = []
    for (x, y) in zip(a, b) {
        guard x.kind == y.kind, x.scalarType == y.scalarType, x.rank == y.rank else {
            throw ModelError(.invalidModel, "a result is \(x) in one branch and \(y) in the other")
        }
        result.append(x.with(zip(x.shape, y.shape).map { $0 == $1 ? $0 : .unknown }))
    }
    return result
}
