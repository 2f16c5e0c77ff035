package import MLGraph
package import MLNumerics
import MLSpecification

/// The same elements in the same order, with another shape.
///
/// Operands: x, shape [K]. An extent −1 is inferred; 0 copies the extent of `x` at the same distance from the last axis
/// (1 where `x` has none).
package struct Reshape: Operator {
    package static let names: [MILName] = ["reshape"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("shape")
    }

    package var shapeOperands: [Int] { [1] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let rank = try operands.integerCount(1)
        guard let target = operands.integers(1) else {
            guard let rank else {
                throw ModelError(.unknownRank, "the rank of the new shape must be known; give it a fixed length")
            }
            return [type.with(Shape(repeating: .unknown, count: rank))]
        }
        return [type.with(try Reshape.shape(type.shape, as: target))]
    }

    /// The shape for `target`, with its 0 and −1 resolved.
    static func shape(_ source: Shape, as target: [Int]) throws(ModelError) -> Shape {
        var result: Shape = []
        var open: Int?
        for (axis, extent) in target.enumerated() {
            switch extent {
            case -1:
                guard open == nil else {
                    throw ModelError(.invalidModel, "shape \(target) has more than one -1; leave one extent open")
                }
                open = axis
                result.append(1)
            case 0:
                let position = source.count - (target.count - axis)
                result.append(position >= 0 ? source[position] : 1)
            case 1...: result.append(Dimension(extent))
            default: throw ModelError(.invalidModel, "shape \(target) has a negative extent")
            }
        }
        guard let open else {
            if let provided = source.elementCount.count, let requested = result.elementCount.count,
                provided != requested
            {
                throw ModelError(.invalidModel, "\(provided) elements of shape \(source) do not fill shape \(target)")
            }
            return result
        }
        // Unknown extents that are copied cancel out.
        let kept = target.enumerated().filter { $0.element == 0 }.map { source.count - (target.count - $0.offset) }
        let numerator = source.enumerated().filter { !kept.contains($0.offset) }.map(\.element).elementCount
        let denominator = target.filter { $0 > 0 }.elementCount
        guard let count = numerator.count else {
            result[open] = .unknown
            return result
        }
        guard denominator > 0, count % denominator == 0 else {
            throw ModelError(.invalidModel, "shape \(source) does not divide into shape \(target)")
        }
        result[open] = Dimension(count / denominator)
        return result
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shape = try Reshape.shape(Shape(operands[0].shape), as: operands[1].integers).counts ?? operands[0].shape
        return [operands[0].reshaped(shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }
}

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
            throw ModelError(.invalidModel, "a reshape layer has \(target.count) target extents; it must have 3 or 4")
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

extension Reshape: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension Reshape {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.regrouped()
    }
}
