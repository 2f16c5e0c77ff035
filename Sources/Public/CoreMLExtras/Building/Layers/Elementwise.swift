import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// A function of each element, without parameters.
    public enum ElementwiseFunction: Hashable, Sendable, CaseIterable {
        /// Rounding up, rounding down, or the sign (−1, 0 or 1).
        case ceil, floor, sign
        /// Rounding to the nearest integer, halves to the even one.
        case round
        /// 2ˣ.
        case exp2
        /// Trigonometric and hyperbolic functions and their inverses.
        case sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh
        /// The error function.
        case erf
    }

    /// Applies a function to each element of a value of any rank.
    @discardableResult
    public mutating func elementwise(
        _ name: String,
        _ function: ElementwiseFunction,
        _ input: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, function.specification)
    }

    /// A function of scale · x + shift, which is called x here.
    public enum UnaryFunction: Hashable, Sendable {
        /// √x.
        case squareRoot
        /// 1 / √(x + epsilon).
        case inverseSquareRoot(epsilon: Float)
        /// 1 / (x + epsilon).
        case inverse(epsilon: Float)
        /// x^α.
        case power(alpha: Float)
        /// eˣ.
        case exponential
        /// The natural logarithm.
        case logarithm
        /// |x|.
        case absoluteValue
        /// max(α, x).
        case threshold(alpha: Float)
    }

    /// Applies a function to scale · x + shift for each element x.
    @discardableResult
    public mutating func unary(
        _ name: String,
        _ function: UnaryFunction,
        _ input: Value,
        scale: Float = 1,
        shift: Float = 0,
        output: Value? = nil
    ) -> Value {
        var layer = SpecUnaryFunctionLayerParams()
        layer.scale = scale
        layer.shift = shift
        layer.alpha = 1
        if function != .logarithm { layer.epsilon = 1e-6 }
        switch function {
        case .squareRoot: layer.type = .sqrt
        case .inverseSquareRoot(let epsilon): (layer.type, layer.epsilon) = (.rsqrt, epsilon)
        case .inverse(let epsilon): (layer.type, layer.epsilon) = (.inverse, epsilon)
        case .power(let alpha): (layer.type, layer.alpha) = (.power, alpha)
        case .exponential: layer.type = .exp
        case .logarithm: layer.type = .log
        case .absoluteValue: layer.type = .abs
        case .threshold(let alpha): (layer.type, layer.alpha) = (.threshold, alpha)
        }
        return add(name, [input], output, .unary(layer))
    }

    /// Limits each element to a range: min(max(x, minimum), maximum).
    @discardableResult
    public mutating func clip(
        _ name: String,
        _ input: Value,
        minimum: Float,
        maximum: Float,
        output: Value? = nil
    ) -> Value {
        if !(minimum <= maximum) { problem(name, "the minimum \(minimum) lies above the maximum \(maximum)") }
        return add(
            name,
            [input],
            output,
            .clip(
                .with {
                    $0.minVal = minimum
                    $0.maxVal = maximum
                }
            )
        )
    }

    /// Copies a value to another name.
    @discardableResult
    public mutating func copy(_ name: String, _ input: Value, output: Value? = nil) -> Value {
        add(name, [input], output, .copy(.init()))
    }

    // MARK: Values of the same extents, or of extent 1

    /// The sum of several values, or of one value and the number `alpha`.
    @discardableResult
    public mutating func add(_ name: String, _ inputs: [Value], alpha: Float = 0, output: Value? = nil) -> Value {
        add(name, inputs, output, .add(.with { $0.alpha = alpha }))
    }

    /// The product of several values, or of one value and the number `alpha`.
    @discardableResult
    public mutating func multiply(_ name: String, _ inputs: [Value], alpha: Float = 1, output: Value? = nil) -> Value {
        add(name, inputs, output, .multiply(.with { $0.alpha = alpha }))
    }

    /// The mean of several values, element by element.
    @discardableResult
    public mutating func average(_ name: String, _ inputs: [Value], output: Value? = nil) -> Value {
        add(name, inputs, output, .average(.init()))
    }

    /// The greatest of several values, element by element.
    @discardableResult
    public mutating func maximum(_ name: String, _ inputs: [Value], output: Value? = nil) -> Value {
        add(name, inputs, output, .max(.init()))
    }

    /// The least of several values, element by element.
    @discardableResult
    public mutating func minimum(_ name: String, _ inputs: [Value], output: Value? = nil) -> Value {
        add(name, inputs, output, .min(.init()))
    }

    /// Scales a value and adds a bias: scale · x + bias.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - scale: The factors.
    ///   - shape: The shape of `scale`: [1], [C] or [C, H, W].
    ///   - bias: The bias; none by default.
    ///   - biasShape: The shape of `bias`; that of the scale by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func scale(
        _ name: String,
        _ input: Value,
        scale: LayerWeights,
        shape: [Int],
        bias: LayerWeights? = nil,
        biasShape: [Int]? = nil,
        output: Value? = nil
    ) -> Value {
        var layer = SpecScaleLayerParams()
        layer.shapeScale = natural(name, "the scale's shape", shape, atLeast: 1)
        layer.scale = weights(name, "scale \(shape)", scale, shape: shape)
        if let bias {
            let extents = biasShape ?? shape
            layer.hasBias_p = true
            layer.shapeBias = natural(name, "the bias's shape", extents, atLeast: 1)
            layer.bias = weights(name, "bias \(extents)", bias, shape: extents)
        }
        return add(name, [input], output, .scale(layer))
    }

    /// Adds a bias.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - bias: The bias.
    ///   - shape: The shape of `bias`: [1], [C] or [C, H, W].
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func bias(
        _ name: String,
        _ input: Value,
        bias: LayerWeights,
        shape: [Int],
        output: Value? = nil
    ) -> Value {
        var layer = SpecBiasLayerParams()
        layer.shape = natural(name, "the bias's shape", shape, atLeast: 1)
        layer.bias = weights(name, "bias \(shape)", bias, shape: shape)
        return add(name, [input], output, .bias(layer))
    }
}

extension NeuralNetworkBuilder.ElementwiseFunction {
    fileprivate var specification: SpecNeuralNetworkLayer.OneOf_Layer {
        switch self {
        case .ceil: .ceil(.init())
        case .floor: .floor(.init())
        case .sign: .sign(.init())
        case .round: .round(.init())
        case .exp2: .exp2(.init())
        case .sin: .sin(.init())
        case .cos: .cos(.init())
        case .tan: .tan(.init())
        case .asin: .asin(.init())
        case .acos: .acos(.init())
        case .atan: .atan(.init())
        case .sinh: .sinh(.init())
        case .cosh: .cosh(.init())
        case .tanh: .tanh(.init())
        case .asinh: .asinh(.init())
        case .acosh: .acosh(.init())
        case .atanh: .atanh(.init())
        case .erf: .erf(.init())
        }
    }
}
