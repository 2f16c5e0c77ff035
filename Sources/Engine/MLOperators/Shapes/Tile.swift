package import MLGraph
package import MLNumerics
import MLSpecification

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

extension Tile: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("tile", \.tile) { parameters, context throws(ModelError) in
                let counts =
                    context.inputs.count > 1
                    ? try context.integers(context.input(1)) : context.constant(integers: integers(parameters.reps))
                // Missing counts are 1, missing axes have extent 1, both in front.
                var (x, repeats) = (try context.input(), counts)
                if let provided = context.shape(of: counts)[0].count {
                    let rank = context.rank(of: x)
                    if provided > rank { x = try context.padded(x, toRank: provided) }
                    if provided < rank {
                        let ones = context.constant(integers: [Int](repeating: 1, count: rank - provided))
                        repeats = try context.append(Concat(axis: 0), [ones, counts])[0]
                    }
                }
                try context.finish(try context.add(Tile(), x, repeats))
            },
            LayerRule("sequenceRepeat", \.sequenceRepeat) { parameters, context throws(ModelError) in
                let x = try context.input()
                let rank = context.rank(of: x)
                guard rank >= 4 else {
                    throw ModelError(.invalidModel, "a sequence repeat needs [Sequence, .., C, H, W], not rank \(rank)")
                }
                var counts = [Int](repeating: 1, count: rank)
                counts[rank == 4 ? 0 : rank - 5] = max(Int(clamping: parameters.nRepetitions), 1)
                try context.finish(try context.add(Tile(), x, context.constant(integers: counts)))
            },
        ]
    }
}

extension Tile: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension Tile {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        guard let counts = context.integers(1), let first = counts.first else { return nil }
        if first == 1 { return try context.rows(self) }
        let x = try context.stacked(0)
        return try context.finish(self, [x, context.constant(integers: [1] + counts)])
    }
}
