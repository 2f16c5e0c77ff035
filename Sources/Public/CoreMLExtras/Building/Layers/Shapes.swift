import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// Which of the channels and the pixels vary fastest when [C, H, W] becomes a row.
    public enum ChannelOrder: Hashable, Sendable { case channelFirst, channelLast }

    /// [… C, H, W] → [… C·H·W, 1, 1].
    @discardableResult
    public mutating func flatten(
        _ name: String,
        _ input: Value,
        _ order: ChannelOrder = .channelFirst,
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, .flatten(.with { $0.mode = order == .channelFirst ? .channelFirst : .channelLast }))
    }

    /// The axes before `axis` become one, those from it on another.
    @discardableResult
    public mutating func flattenTo2D(_ name: String, _ input: Value, axis: Int = 1, output: Value? = nil) -> Value {
        add(name, [input], output, .flattenTo2D(.with { $0.axis = Int64(axis) }))
    }

    /// Another shape for the elements of [… C, H, W].
    /// - Parameter shape: [C, H, W] or [Sequence, C, H, W].
    @discardableResult
    public mutating func reshape(
        _ name: String,
        _ input: Value,
        shape: [Int],
        _ order: ChannelOrder = .channelFirst,
        output: Value? = nil
    ) -> Value {
        let extents = natural(name, "the shape", shape, atLeast: 1).map { Int64(clamping: $0) }
        return add(
            name,
            [input],
            output,
            .reshape(
                .with {
                    $0.targetShape = extents
                    $0.mode = order == .channelFirst ? .channelFirst : .channelLast
                }
            )
        )
    }

    /// Another shape of any rank; −1 once, for what is left.
    @discardableResult
    public mutating func reshapeND(_ name: String, _ input: Value, shape: [Int], output: Value? = nil) -> Value {
        add(name, [input], output, .reshapeStatic(.with { $0.targetShape = shape.map { Int64($0) } }))
    }

    /// The shape of another value.
    @discardableResult
    public mutating func reshapeLike(
        _ name: String,
        _ input: Value,
        like other: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [input, other], output, .reshapeLike(.init()))
    }

    /// The shape that another value holds; −1 once, for what is left.
    @discardableResult
    public mutating func reshapeDynamic(_ name: String, _ input: Value, shape: Value, output: Value? = nil) -> Value {
        add(name, [input, shape], output, .reshapeDynamic(.init()))
    }

    /// Another shape of the same rank; 0 keeps an extent, −1 once is what is left.
    @discardableResult
    public mutating func rankPreservingReshape(
        _ name: String,
        _ input: Value,
        shape: [Int],
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, .rankPreservingReshape(.with { $0.targetShape = shape.map { Int64($0) } }))
    }

    /// Another order of [Sequence, C, H, W].
    /// - Parameter axes: for each axis of the result, the axis of the input: 0 to 3.
    @discardableResult
    public mutating func permute(_ name: String, _ input: Value, axes: [Int], output: Value? = nil) -> Value {
        let order = natural(name, "the axis", axes)
        return add(name, [input], output, .permute(.with { $0.axis = order }))
    }

    /// Another order of the axes of a value of any rank.
    @discardableResult
    public mutating func transpose(_ name: String, _ input: Value, axes: [Int], output: Value? = nil) -> Value {
        let order = natural(name, "the axis", axes)
        return add(name, [input], output, .transpose(.with { $0.axes = order }))
    }

    /// Takes axes of extent 1 away; all of them when none are named.
    @discardableResult
    public mutating func squeeze(_ name: String, _ input: Value, axes: [Int]? = nil, output: Value? = nil) -> Value {
        add(
            name,
            [input],
            output,
            .squeeze(
                .with {
                    $0.axes = (axes ?? []).map { Int64($0) }
                    $0.squeezeAll = axes == nil
                }
            )
        )
    }

    /// Adds axes of extent 1, at these places of the result.
    @discardableResult
    public mutating func expandDims(_ name: String, _ input: Value, axes: [Int], output: Value? = nil) -> Value {
        add(name, [input], output, .expandDims(.with { $0.axes = axes.map { Int64($0) } }))
    }

    /// The shape of a value as a value.
    @discardableResult
    public mutating func getShape(_ name: String, _ input: Value, output: Value? = nil) -> Value {
        add(name, [input], output, .getShape(.init()))
    }

    /// How blocks of pixels and channels change places.
    public enum Reorganization: Hashable, Sendable {
        case spaceToDepth, depthToSpace
        /// As `depthToSpace`, channels of a block side by side.
        case pixelShuffle
    }

    /// Moves blocks of pixels of [… C, H, W] into channels or back.
    @discardableResult
    public mutating func reorganize(
        _ name: String,
        _ mode: Reorganization,
        _ input: Value,
        blockSize: Int,
        output: Value? = nil
    ) -> Value {
        var layer = SpecReorganizeDataLayerParams()
        layer.blockSize = natural(name, "the block's size", blockSize, atLeast: 2)
        layer.mode =
            switch mode {
            case .spaceToDepth: .spaceToDepth
            case .depthToSpace: .depthToSpace
            case .pixelShuffle: .pixelShuffle
            }
        return add(name, [input], output, .reorganizeData(layer))
    }

    /// Turns axes round.
    /// - Parameter axes: one for each axis, true for those to reverse.
    @discardableResult
    public mutating func reverse(_ name: String, _ input: Value, axes: [Bool], output: Value? = nil) -> Value {
        add(name, [input], output, .reverse(.with { $0.reverseDim = axes }))
    }

    /// Turns the first `lengths` steps of each sequence round.
    @discardableResult
    public mutating func reverseSequence(
        _ name: String,
        _ input: Value,
        lengths: Value,
        batchAxis: Int = 0,
        sequenceAxis: Int = 1,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input, lengths],
            output,
            .reverseSeq(
                .with {
                    $0.batchAxis = Int64(batchAxis)
                    $0.sequenceAxis = Int64(sequenceAxis)
                }
            )
        )
    }

    /// Keeps the diagonals from `lower` below to `upper` above the main one; negative numbers keep all.
    @discardableResult
    public mutating func matrixBandPart(
        _ name: String,
        _ input: Value,
        lower: Int = -1,
        upper: Int = -1,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input],
            output,
            .matrixBandPart(
                .with {
                    $0.numLower = Int64(lower)
                    $0.numUpper = Int64(upper)
                }
            )
        )
    }

    /// Keeps what lies on and below the k-th diagonal.
    @discardableResult
    public mutating func lowerTriangular(_ name: String, _ input: Value, k: Int = 0, output: Value? = nil) -> Value {
        add(name, [input], output, .lowerTriangular(.with { $0.k = Int64(k) }))
    }

    /// Keeps what lies on and above the k-th diagonal.
    @discardableResult
    public mutating func upperTriangular(_ name: String, _ input: Value, k: Int = 0, output: Value? = nil) -> Value {
        add(name, [input], output, .upperTriangular(.with { $0.k = Int64(k) }))
    }
}
