import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// What becomes of the elements that are written to.
    public enum ScatterMode: Hashable, Sendable { case update, add, subtract, multiply, divide, maximum, minimum }

    /// The slices of an axis that `indices` name.
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

    /// Writes `updates` to the slices of an axis that `indices` name.
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

    /// The elements or slices whose places the last axis of `indices` holds.
    @discardableResult
    public mutating func gatherND(_ name: String, _ input: Value, indices: Value, output: Value? = nil) -> Value {
        add(name, [input, indices], output, .gatherNd(.init()))
    }

    /// Writes `updates` to the elements or slices whose places the last axis of `indices` holds.
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

    /// For each element of `indices`, the element at that place of the axis.
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

    /// For each element of `indices`, writes to the element at that place of the axis.
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

    /// The greatest elements along an axis, and their places.
    /// - Parameters:
    ///   - count: how many.
    ///   - isLeast: the least elements instead.
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

    /// The greatest elements along an axis, as many as another value says, and their places.
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

    /// The places of the elements in ascending or descending order along an axis.
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

    /// The places of the elements that are not 0, [elements, rank].
    @discardableResult
    public mutating func whereNonZero(_ name: String, _ input: Value, output: Value? = nil) -> Value {
        add(name, [input], output, .whereNonZero(.init()))
    }

    /// A new axis with `on` at the place that an integer names.
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

    /// As `oneHot`, with the size in another value.
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

    /// Keeps the boxes with the best scores that overlap no better one too much.
    /// - Parameters:
    ///   - boxes: [Batch, boxes, 4]: centre x, centre y, width, height.
    ///   - scores: [Batch, boxes, classes].
    ///   - overlap: the greatest intersection over union.
    ///   - score: the least score.
    ///   - count: the greatest number of boxes.
    ///   - perClass: boxes of different classes do not hinder each other.
    ///   - outputs: names for boxes, scores, places (−1 where there is none) and numbers of boxes.
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
