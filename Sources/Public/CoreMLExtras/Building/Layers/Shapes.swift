import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// The order in which [C, H, W] is flattened: pixels of a channel together, or channels of a pixel.
    public enum ChannelOrder: Hashable, Sendable { case channelFirst, channelLast }

    /// Flattens [… C, H, W] to [… C·H·W, 1, 1].
    @discardableResult
    public mutating func flatten(
        _ name: String,
        _ input: Value,
        _ order: ChannelOrder = .channelFirst,
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, .flatten(.with { $0.mode = order == .channelFirst ? .channelFirst : .channelLast }))
    }

    /// Flattens to two axes: those before `axis`, and those from it on.
    @discardableResult
    public mutating func flattenTo2D(_ name: String, _ input: Value, axis: Int = 1, output: Value? = nil) -> Value {
        add(name, [input], output, .flattenTo2D(.with { $0.axis = Int64(axis) }))
    }

    /// Reshapes [… C, H, W].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - shape: [C, H, W] or [Sequence, C, H, W].
    ///   - order: The order of the elements; that of [C, H, W] by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
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

    /// Reshapes to any rank; one extent may be −1 to be inferred.
    @discardableResult
    public mutating func reshapeND(_ name: String, _ input: Value, shape: [Int], output: Value? = nil) -> Value {
        add(name, [input], output, .reshapeStatic(.with { $0.targetShape = shape.map { Int64($0) } }))
    }

    /// Reshapes to the shape of another value.
    @discardableResult
    public mutating func reshapeLike(
        _ name: String,
        _ input: Value,
        like other: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [input, other], output, .reshapeLike(.init()))
    }

    /// Reshapes to the shape that another value holds; one extent may be −1 to be inferred.
    @discardableResult
    public mutating func reshapeDynamic(_ name: String, _ input: Value, shape: Value, output: Value? = nil) -> Value {
        add(name, [input, shape], output, .reshapeDynamic(.init()))
    }

    /// Reshapes without changing the rank; 0 keeps an extent, and one may be −1 to be inferred.
    @discardableResult
    public mutating func rankPreservingReshape(
        _ name: String,
        _ input: Value,
        shape: [Int],
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, .rankPreservingReshape(.with { $0.targetShape = shape.map { Int64($0) } }))
    }

    /// Permutes the axes of [Sequence, C, H, W].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - axes: For each axis of the result, the axis of the input: 0 to 3.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func permute(_ name: String, _ input: Value, axes: [Int], output: Value? = nil) -> Value {
        let order = natural(name, "the axis", axes)
        return add(name, [input], output, .permute(.with { $0.axis = order }))
    }

    /// Permutes the axes of a value of any rank.
    @discardableResult
    public mutating func transpose(_ name: String, _ input: Value, axes: [Int], output: Value? = nil) -> Value {
        let order = natural(name, "the axis", axes)
        return add(name, [input], output, .transpose(.with { $0.axes = order }))
    }

    /// Removes axes of extent 1; all of them when none are named.
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

    /// Inserts axes of extent 1 at these positions of the result.
    @discardableResult
    public mutating func expandDims(_ name: String, _ input: Value, axes: [Int], output: Value? = nil) -> Value {
        add(name, [input], output, .expandDims(.with { $0.axes = axes.map { Int64($0) } }))
    }

    /// The shape of a value, as a value.
    @discardableResult
    public mutating func getShape(_ name: String, _ input: Value, output: Value? = nil) -> Value {
        add(name, [input], output, .getShape(.init()))
    }

    /// The direction in which blocks of pixels and channels are exchanged.
    public enum Reorganization: Hashable, Sendable {
        /// From pixels to channels, or from channels to pixels.
        case spaceToDepth, depthToSpace
        /// From channels to pixels, with the channels of a block adjacent.
        case pixelShuffle
    }

    /// Moves blocks of pixels of [… C, H, W] into channels, or back.
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

    /// Reverses the elements along some axes.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - axes: A flag for each axis, true for those to reverse.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func reverse(_ name: String, _ input: Value, axes: [Bool], output: Value? = nil) -> Value {
        add(name, [input], output, .reverse(.with { $0.reverseDim = axes }))
    }

    /// Reverses the first `lengths` steps of each sequence.
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

    /// Keeps the elements on and below the k-th diagonal.
    @discardableResult
    public mutating func lowerTriangular(_ name: String, _ input: Value, k: Int = 0, output: Value? = nil) -> Value {
        add(name, [input], output, .lowerTriangular(.with { $0.k = Int64(k) }))
    }

    /// Keeps the elements on and above the k-th diagonal.
    @discardableResult
    public mutating func upperTriangular(_ name: String, _ input: Value, k: Int = 0, output: Value? = nil) -> Value {
        add(name, [input], output, .upperTriangular(.with { $0.k = Int64(k) }))
    }
}
