import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// The operation that combines written elements with existing ones.
    public enum ScatterMode: Hashable, Sendable { case update, add, subtract, multiply, divide, maximum, minimum }

    /// Takes the slices of an axis at the positions in `indices`.
    @discardableResult
    public mutating func gather(
        _ name: String,
        _ input: Value,
        indices: Value,
        axis: Int = 0,
        output: Value? = nil
    ) -> Value {
        add(name, [input, indices], output, .gather(.with { $0.axis = Int64(axis) }))
    }

    /// Writes `updates` to the slices of an axis at the positions in `indices`.
    @discardableResult
    public mutating func scatter(
        _ name: String,
        _ input: Value,
        indices: Value,
        updates: Value,
        axis: Int = 0,
        _ mode: ScatterMode = .update,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input, indices, updates],
            output,
            .scatter(
                .with {
                    $0.axis = Int64(axis)
                    $0.mode = mode.specification
                }
            )
        )
    }

    /// Takes the elements or slices at the positions in the last axis of `indices`.
    @discardableResult
    public mutating func gatherND(_ name: String, _ input: Value, indices: Value, output: Value? = nil) -> Value {
        add(name, [input, indices], output, .gatherNd(.init()))
    }

    /// Writes `updates` to the elements or slices at the positions in the last axis of `indices`.
    @discardableResult
    public mutating func scatterND(
        _ name: String,
        _ input: Value,
        indices: Value,
        updates: Value,
        _ mode: ScatterMode = .update,
        output: Value? = nil
    ) -> Value {
        add(name, [input, indices, updates], output, .scatterNd(.with { $0.mode = mode.specification }))
    }

    /// Takes, for each element of `indices`, the element at that position of the axis.
    @discardableResult
    public mutating func gatherAlongAxis(
        _ name: String,
        _ input: Value,
        indices: Value,
        axis: Int = 0,
        output: Value? = nil
    ) -> Value {
        add(name, [input, indices], output, .gatherAlongAxis(.with { $0.axis = Int64(axis) }))
    }

    /// Writes, for each element of `indices`, to the element at that position of the axis.
    @discardableResult
    public mutating func scatterAlongAxis(
        _ name: String,
        _ input: Value,
        indices: Value,
        updates: Value,
        axis: Int = 0,
        _ mode: ScatterMode = .update,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input, indices, updates],
            output,
            .scatterAlongAxis(
                .with {
                    $0.axis = Int64(axis)
                    $0.mode = mode.specification
                }
            )
        )
    }

    /// The greatest elements along an axis, and their positions.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - count: The number of elements, at least 1.
    ///   - axis: The axis; a negative one counts from the last.
    ///   - isLeast: Whether the least elements are taken instead; false by default.
    ///   - outputs: The names of the elements and of their positions.
    /// - Returns: The names in `outputs`.
    @discardableResult
    public mutating func topK(
        _ name: String,
        _ input: Value,
        count: Int,
        axis: Int,
        isLeast: Bool = false,
        outputs: (values: Value, indices: Value)
    ) -> (values: Value, indices: Value) {
        let count = natural(name, "the number of elements", count, atLeast: 1)
        let layer = SpecTopKLayerParams.with {
            $0.axis = Int64(axis)
            $0.k = count
            $0.useBottomK = isLeast
        }
        add(name, [input], outputs: [outputs.values, outputs.indices], .topK(layer))
        return outputs
    }

    /// The greatest elements along an axis, as many as another value states, and their positions.
    @discardableResult
    public mutating func topKDynamic(
        _ name: String,
        _ input: Value,
        count: Value,
        axis: Int,
        isLeast: Bool = false,
        outputs: (values: Value, indices: Value)
    ) -> (values: Value, indices: Value) {
        let layer = SpecTopKLayerParams.with {
            $0.axis = Int64(axis)
            $0.useBottomK = isLeast
        }
        add(name, [input, count], outputs: [outputs.values, outputs.indices], .topK(layer))
        return outputs
    }

    /// The positions of the elements along an axis in ascending or descending order of the elements.
    @discardableResult
    public mutating func argSort(
        _ name: String,
        _ input: Value,
        axis: Int = 0,
        isDescending: Bool = false,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input],
            output,
            .argSort(
                .with {
                    $0.axis = Int64(axis)
                    $0.descending = isDescending
                }
            )
        )
    }

    /// The positions of the elements that are not 0, [elements, rank].
    @discardableResult
    public mutating func whereNonZero(_ name: String, _ input: Value, output: Value? = nil) -> Value {
        add(name, [input], output, .whereNonZero(.init()))
    }

    /// One-hot encodes integers along a new axis: `on` at the position of the integer, else `off`.
    @discardableResult
    public mutating func oneHot(
        _ name: String,
        _ input: Value,
        size: Int,
        axis: Int = -1,
        on: Float = 1,
        off: Float = 0,
        output: Value? = nil
    ) -> Value {
        let size = natural(name, "the size", size, atLeast: 1)
        return add(
            name,
            [input],
            output,
            .oneHot(
                .with {
                    $0.oneHotVectorSize = size
                    $0.axis = Int64(axis)
                    $0.onValue = on
                    $0.offValue = off
                }
            )
        )
    }

    /// One-hot encodes integers along a new axis whose extent another value holds.
    @discardableResult
    public mutating func oneHotDynamic(
        _ name: String,
        _ input: Value,
        size: Value,
        axis: Int = -1,
        on: Float = 1,
        off: Float = 0,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input, size],
            output,
            .oneHot(
                .with {
                    $0.axis = Int64(axis)
                    $0.onValue = on
                    $0.offValue = off
                }
            )
        )
    }

    /// Keeps the boxes with the best scores that do not overlap a better one too much.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - boxes: [Batch, boxes, 4]: center x, center y, width, height.
    ///   - scores: [Batch, boxes, classes].
    ///   - overlap: The greatest intersection over union that is accepted; 0.5 by default.
    ///   - score: The least score that is accepted; 0 by default.
    ///   - count: The greatest number of boxes; 1 by default.
    ///   - perClass: Whether only boxes of the same class suppress each other; false by default.
    ///   - outputs: The names of boxes, scores, positions (−1 where there is none) and numbers of boxes.
    /// - Returns: The names in `outputs`.
    @discardableResult
    public mutating func nonMaximumSuppression(
        _ name: String,
        boxes: Value,
        scores: Value,
        overlap: Float = 0.5,
        score: Float = 0,
        count: Int = 1,
        perClass: Bool = false,
        outputs: [Value]
    ) -> [Value] {
        if outputs.count != 4 { problem(name, "there are four outputs: boxes, scores, places, numbers of boxes") }
        let count = natural(name, "the number of boxes", count, atLeast: 1)
        let layer = SpecNonMaximumSuppressionLayerParams.with {
            $0.iouThreshold = overlap
            $0.scoreThreshold = score
            $0.maxBoxes = count
            $0.perClassSuppression = perClass
        }
        return add(name, [boxes, scores], outputs: outputs, .nonMaximumSuppression(layer))
    }
}

extension NeuralNetworkBuilder.ScatterMode {
    fileprivate var specification: SpecScatterMode {
        switch self {
        case .update: .scatterUpdate
        case .add: .scatterAdd
        case .subtract: .scatterSub
        case .multiply: .scatterMul
        case .divide: .scatterDiv
        case .maximum: .scatterMax
        case .minimum: .scatterMin
        }
    }
}
