package import MLGraph
package import MLNumerics
import MLSpecification

/// The axes permuted: axis `i` of the result is axis `permutation[i]` of `x`.
package struct Transpose: Rearrangement {
    package static let names: [MILName] = ["transpose"]
    /// Negative entries count from the end.
    package var permutation: [Int]

    package init(_ permutation: [Int]) { self.permutation = permutation }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        permutation = try arguments.ints("perm")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        return [type.with(try normalizedPermutation(rank: type.rank).map { type.shape[$0] })]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        x.transposed(try normalizedPermutation(rank: x.shape.count))
    }

    /// The permutation with every axis counted from the front.
    package func normalizedPermutation(rank: Int) throws(ModelError) -> [Int] {
        var result: [Int] = []
        for axis in permutation { result.append(try normalizedAxis(axis, rank: rank)) }
        guard result.sorted() == Array(0..<rank) else {
            throw ModelError(.invalidModel, "\(permutation) is not a permutation of \(rank) axes")
        }
        return result
    }
}

extension Transpose: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("transpose", \.transpose) { parameters, context throws(ModelError) in
                // Axes of fewer than all are those at the end: an image [1, C, H, W] transposed as [C, H, W].
                let x = try context.input()
                let lead = max(0, context.rank(of: x) - parameters.axes.count)
                let provided = integers(parameters.axes)
                guard provided.allSatisfy(provided.indices.contains) else {
                    throw ModelError(.invalidModel, "\(provided) is not a permutation of \(provided.count) axes")
                }
                let axes = Array(0..<lead) + provided.map { $0 + lead }
                try context.finish(try context.add(Transpose(axes), x))
            },
            LayerRule("permute", \.permute) { parameters, context throws(ModelError) in
                // The axes are those of [Sequence, C, H, W]; a batch axis after the sequence is not moved.
                let axes = parameters.axis.isEmpty ? [0, 1, 2, 3] : integers(parameters.axis)
                guard axes.sorted() == [0, 1, 2, 3] else {
                    throw ModelError(.invalidModel, "\(axes) is not a permutation of the axes [Sequence, C, H, W]")
                }
                let x = try context.input()
                let moved = axes.map { $0 == 0 ? 0 : $0 + 1 }
                let behind = [moved[0], 1] + moved[1...]
                switch context.rank(of: x) {
                case 5: try context.finish(try context.add(Transpose(behind), x))
                case 4 where axes[0] != 0 && context.outputBatch > 1:
                    let result = try context.add(Transpose(behind), context.sequence(0))
                    try context.finish(try context.blob(fromSequence: result, like: x))
                case 3 where axes[0] == 0:
                    try context.finish(try context.add(Transpose(axes[1...].map { $0 - 1 }), x))
                default:
                    try context.finish(try context.add(Transpose(axes), context.padded(x, toRank: 4)))
                }
            },
        ]
    }
}

extension Transpose: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let order = try normalizedPermutation(rank: context.extents(context.operand()).count)
        let inverse = order.indices.map { axis in order.firstIndex(of: axis) ?? axis }
        context.setGradient(ofOperand: 0, to: try context.add(Transpose(inverse), context.resultGradient()))
    }
}

extension Transpose {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        let permutation = try normalizedPermutation(rank: context.rank())
        guard let first = permutation.first else { return nil }
        if first == 0 { return try context.rows(self) }
        return try context.shifted(Transpose([0] + permutation.map { $0 + 1 }))
    }
}
