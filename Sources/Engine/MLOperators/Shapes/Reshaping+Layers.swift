import MLGraph
import MLNumerics
import MLSpecification

extension Reshape: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("reshapeStatic", \.reshapeStatic) { parameters, context throws(ModelError) in
                let shape = context.constant(integers: integers(parameters.targetShape))
                try context.finish(try context.add(Reshape(), context.input(), shape))
            },
            LayerRule("reshapeDynamic", \.reshapeDynamic) { _, context throws(ModelError) in
                let shape = try context.integers(context.input(1))
                try context.finish(try context.add(Reshape(), context.input(), shape))
            },
            LayerRule("rankPreservingReshape", \.rankPreservingReshape) { parameters, context throws(ModelError) in
                let shape = context.constant(integers: integers(parameters.targetShape))
                try context.finish(try context.add(Reshape(), context.input(), shape))
            },
            LayerRule("reshape", \.reshape) { parameters, context throws(ModelError) in
                try context.finish(
                    try context.imageReshaped(
                        integers(parameters.targetShape),
                        channelsLast: parameters.mode == .channelLast
                    )
                )
            },
            LayerRule("flatten", \.flatten) { parameters, context throws(ModelError) in
                // [.., C, H, W] → [.., C·H·W, 1, 1]
                var x = try context.input()
                if parameters.mode == .channelLast { x = try context.add(Transpose(context.channelsBehind), x) }
                let lead = context.rank(of: x) - 3
                guard lead >= 0 else {
                    throw ModelError(.invalidModel, "a flatten layer needs [.., C, H, W], not rank \(lead + 3)")
                }
                let kept = (0..<lead).map { Regroup.Axis.axis($0) }
                try context.finish(try context.add(Regroup(kept + [.merged(lead..<(lead + 3)), .one, .one]), x))
            },
        ]
    }
}

extension LayerContext {
    /// The permutation that takes [.., C, H, W] to [.., H, W, C].
    fileprivate var channelsBehind: [Int] {
        let rank = inputs.first.map(rank(of:)) ?? 0
        return Array(0..<max(rank - 3, 0)) + (rank >= 3 ? [rank - 2, rank - 1, rank - 3] : Array(0..<rank))
    }

    /// [.., C, H, W] with the same elements in another shape; with `channelsLast` the order of elements is that of [..,
    /// H, W, C] before and after.
    fileprivate mutating func imageReshaped(_ target: [Int], channelsLast: Bool) throws(ModelError) -> ValueID {
        guard target.count == 3 || target.count == 4 else {
            throw ModelError(.invalidModel, "a reshape layer to \(target.count) extents; 3 or 4 are possible")
        }
        let image = Array(target.suffix(3))
        var x = try input()
        let lead = rank(of: x) - 3
        guard lead >= 0 else { throw ModelError(.invalidModel, "a reshape layer needs [.., C, H, W]") }
        if channelsLast { x = try add(Transpose(channelsBehind), x) }
        var shape = [Int](repeating: 0, count: max(lead - 1, 0))
        if lead > 0 { shape.insert(target.count == 4 ? target[0] : 0, at: 0) }
        shape += channelsLast ? [image[1], image[2], image[0]] : image
        x = try add(Reshape(), x, constant(integers: shape))
        guard channelsLast else { return x }
        return try add(Transpose(Array(0..<lead) + [lead + 2, lead, lead + 1]), x)
    }
}

extension ReshapeLike: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("reshapeLike", \.reshapeLike) { _, context throws(ModelError) in
                let op = ReshapeLike(begins: [0], ends: [nil])
                try context.finish(try context.add(op, context.input(0), context.input(1)))
            }
        ]
    }
}

extension Flatten2D: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("flattenTo2D", \.flattenTo2D) { parameters, context throws(ModelError) in
                try context.finish(try context.add(Flatten2D(axis: Int(clamping: parameters.axis)), context.input()))
            }
        ]
    }
}

extension ExpandDims: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("expandDims", \.expandDims) { parameters, context throws(ModelError) in
                try context.finish(try context.add(ExpandDims(axes: integers(parameters.axes)), context.input()))
            }
        ]
    }
}

extension Squeeze: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("squeeze", \.squeeze) { parameters, context throws(ModelError) in
                let op = Squeeze(axes: parameters.squeezeAll ? nil : integers(parameters.axes))
                try context.finish(try context.add(op, context.input()))
            }
        ]
    }
}

extension ShapeOf: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("getShape", \.getShape) { _, context throws(ModelError) in
                try context.finish(try context.add(ShapeOf(), context.input()))
            }
        ]
    }
}

extension Transpose: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("transpose", \.transpose) { parameters, context throws(ModelError) in
                // Axes of fewer than all are those at the end: an image [1, C, H, W] transposed as [C, H, W].
                let x = try context.input()
                let lead = max(0, context.rank(of: x) - parameters.axes.count)
                let given = integers(parameters.axes)
                guard given.allSatisfy(given.indices.contains) else {
                    throw ModelError(.invalidModel, "\(given) is no order of \(given.count) axes")
                }
                let axes = Array(0..<lead) + given.map { $0 + lead }
                try context.finish(try context.add(Transpose(axes), x))
            },
            LayerRule("permute", \.permute) { parameters, context throws(ModelError) in
                // The axes are those of [Sequence, C, H, W]; a batch axis after the sequence is not moved.
                let axes = parameters.axis.isEmpty ? [0, 1, 2, 3] : integers(parameters.axis)
                guard axes.sorted() == [0, 1, 2, 3] else {
                    throw ModelError(.invalidModel, "\(axes) is no order of the axes [Sequence, C, H, W]")
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

extension BroadcastTo: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("broadcastToStatic", \.broadcastToStatic) { parameters, context throws(ModelError) in
                let shape = context.constant(integers: integers(parameters.targetShape))
                try context.finish(try context.add(BroadcastTo(), context.input(), shape))
            },
            LayerRule("broadcastToDynamic", \.broadcastToDynamic) { _, context throws(ModelError) in
                let shape = try context.integers(context.input(1))
                try context.finish(try context.add(BroadcastTo(), context.input(), shape))
            },
            LayerRule("broadcastToLike", \.broadcastToLike) { _, context throws(ModelError) in
                let shape = try context.add(ShapeOf(), context.input(1))
                try context.finish(try context.add(BroadcastTo(), context.input(), shape))
            },
        ]
    }
}
