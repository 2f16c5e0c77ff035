import MLSpecification
import SwiftProtobuf

/// Layers that create values: constants, ranges, fills.
extension NeuralNetworkBuilder {
    /// A constant [C, H, W].
    @discardableResult
    public mutating func constant(
        _ name: String,
        _ data: LayerWeights,
        shape: (channels: Int, height: Int, width: Int),
        output: Value? = nil
    ) -> Value {
        let extents = [shape.channels, shape.height, shape.width]
        var layer = SpecLoadConstantLayerParams()
        layer.shape = natural(name, "the shape", extents, atLeast: 1)
        layer.data = weights(name, "data \(extents)", data, shape: extents)
        return add(name, [], output, .loadConstant(layer))
    }

    /// A constant of any rank.
    @discardableResult
    public mutating func constantND(
        _ name: String,
        _ data: LayerWeights,
        shape: [Int],
        output: Value? = nil
    ) -> Value {
        var layer = SpecLoadConstantNDLayerParams()
        layer.shape = natural(name, "the shape", shape, atLeast: 1)
        layer.data = weights(name, "data \(shape)", data, shape: shape)
        return add(name, [], output, .loadConstantNd(layer))
    }

    /// The numbers start, start + step, … up to `end`, exclusive.
    @discardableResult
    public mutating func range(
        _ name: String,
        from start: Float = 0,
        to end: Float,
        step: Float = 1,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [],
            output,
            .rangeStatic(
                .with {
                    $0.endValue = end
                    $0.startValue = start
                    $0.stepSizeValue = step
                }
            )
        )
    }

    /// The numbers start, start + step, … up to the number that a value holds, exclusive.
    @discardableResult
    public mutating func rangeDynamic(
        _ name: String,
        to end: Value,
        from start: Float = 0,
        step: Float = 1,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [end],
            output,
            .rangeDynamic(
                .with {
                    $0.startValue = start
                    $0.stepSizeValue = step
                }
            )
        )
    }

    /// A range whose end, start and step are values.
    @discardableResult
    public mutating func rangeDynamic(
        _ name: String,
        to end: Value,
        from start: Value,
        step: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [end, start, step], output, .rangeDynamic(.init()))
    }

    /// A value of the shape of another one, filled with a number.
    @discardableResult
    public mutating func fillLike(_ name: String, like other: Value, value: Float, output: Value? = nil) -> Value {
        add(name, [other], output, .fillLike(.with { $0.value = value }))
    }

    /// A value of a fixed shape, filled with a number.
    @discardableResult
    public mutating func fill(_ name: String, shape: [Int], value: Float, output: Value? = nil) -> Value {
        let extents = natural(name, "the shape", shape)
        return add(
            name,
            [],
            output,
            .fillStatic(
                .with {
                    $0.value = value
                    $0.targetShape = extents
                }
            )
        )
    }

    /// A value of the shape that another one holds, filled with a number.
    @discardableResult
    public mutating func fillDynamic(_ name: String, shape: Value, value: Float, output: Value? = nil) -> Value {
        add(name, [shape], output, .fillDynamic(.with { $0.value = value }))
    }
}
