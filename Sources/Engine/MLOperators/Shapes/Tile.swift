package import MLGraph
package import MLNumerics

/// `x` repeated `reps[i]` times along each axis `i`.
///
/// Operands: x, reps [rank].
package struct Tile: Rearrangement {
    package static let names: [MILName] = ["tile"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("reps")
    }

    package var shapeOperands: [Int] { [1] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        if let count = try operands.integerCount(1), count != type.rank {
            throw ModelError(.invalidModel, "\(count) repetitions are given for rank \(type.rank)")
        }
        guard let counts = operands.integers(1) else {
            return [type.with(Shape(repeating: .unknown, count: type.rank))]
        }
        guard counts.allSatisfy({ $0 >= 0 }) else {
            throw ModelError(.invalidModel, "repetitions \(counts) must not be negative")
        }
        return [type.with(zip(type.shape, counts).map { $0 * Dimension($1) })]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        guard let counts = integers(1) else { return nil }
        var view = x
        for axis in x.shape.indices.reversed() { view = view.repeating(axis, counts[axis]) }
        return view
    }
}
