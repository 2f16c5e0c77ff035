import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// Batch normalization: γ (x − mean) / √(variance + epsilon) + β for each channel of [… C, H, W].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - channels: The number of channels.
    ///   - gamma: The factors γ, [channels].
    ///   - beta: The offsets β, [channels].
    ///   - mean: The means, [channels].
    ///   - variance: The variances, [channels].
    ///   - epsilon: Added to the variance.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func batchNorm(
        _ name: String,
        _ input: Value,
        channels: Int,
        gamma: LayerWeights,
        beta: LayerWeights,
        mean: LayerWeights,
        variance: LayerWeights,
        epsilon: Float = 1e-5,
        output: Value? = nil
    ) -> Value {
        var layer = SpecBatchnormLayerParams()
        layer.channels = natural(name, "the number of channels", channels, atLeast: 1)
        layer.epsilon = epsilon
        layer.gamma = weights(name, "gamma", gamma, count: channels)
        layer.beta = weights(name, "beta", beta, count: channels)
        layer.mean = weights(name, "mean", mean, count: channels)
        layer.variance = weights(name, "variance", variance, count: channels)
        return add(name, [input], output, .batchnorm(layer))
    }

    /// Normalization by the mean and variance of the values: of the whole batch, or of each of its elements.
    @discardableResult
    public mutating func batchNormComputed(
        _ name: String,
        _ input: Value,
        channels: Int,
        gamma: LayerWeights,
        beta: LayerWeights,
        perElement: Bool,
        epsilon: Float = 1e-5,
        output: Value? = nil
    ) -> Value {
        var layer = SpecBatchnormLayerParams()
        layer.channels = natural(name, "the number of channels", channels, atLeast: 1)
        layer.epsilon = epsilon
        layer.computeMeanVar = true
        layer.instanceNormalization = perElement
        layer.gamma = weights(name, "gamma", gamma, count: channels)
        layer.beta = weights(name, "beta", beta, count: channels)
        return add(name, [input], output, .batchnorm(layer))
    }

    /// Subtracts the mean and, if `dividesByDeviation`, divides by the square root of the variance plus epsilon.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - acrossChannels: Whether mean and deviation are those of [C, H, W] together rather than of each channel;
    ///     true by default.
    ///   - dividesByDeviation: Whether differences are divided by the standard deviation; true by default.
    ///   - epsilon: Added to the standard deviation.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func meanVarianceNormalize(
        _ name: String,
        _ input: Value,
        acrossChannels: Bool = true,
        dividesByDeviation: Bool = true,
        epsilon: Float = 1e-5,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input],
            output,
            .mvn(
                .with {
                    $0.acrossChannels = acrossChannels
                    $0.normalizeVariance = dividesByDeviation
                    $0.epsilon = epsilon
                }
            )
        )
    }

    /// Division by the Euclidean norm: x / √(Σx² + epsilon) over [C, H, W].
    @discardableResult
    public mutating func l2Normalize(
        _ name: String,
        _ input: Value,
        epsilon: Float = 1e-5,
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, .l2Normalize(.with { $0.epsilon = epsilon }))
    }

    /// Local response normalization: x / (k + α/n · Σx² over the n nearest channels)^β of [… C, H, W].
    @discardableResult
    public mutating func localResponseNormalize(
        _ name: String,
        _ input: Value,
        alpha: Float,
        beta: Float,
        localSize: Int,
        k: Float = 1,
        output: Value? = nil
    ) -> Value {
        let size = natural(name, "the number of channels", localSize, atLeast: 1)
        return add(
            name,
            [input],
            output,
            .lrn(
                .with {
                    $0.alpha = alpha
                    $0.beta = beta
                    $0.localSize = size
                    $0.k = k
                }
            )
        )
    }

    /// Layer normalization: γ (x − mean) / √(variance + epsilon) + β over the last axes.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - shape: The extents of the last axes.
    ///   - gamma: The factors γ, of that shape.
    ///   - beta: The offsets β, of that shape.
    ///   - epsilon: Added to the variance.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func layerNormalize(
        _ name: String,
        _ input: Value,
        shape: [Int],
        gamma: LayerWeights,
        beta: LayerWeights,
        epsilon: Float = 1e-5,
        output: Value? = nil
    ) -> Value {
        var layer = SpecLayerNormalizationLayerParams()
        layer.normalizedShape = natural(name, "the normalised shape", shape, atLeast: 1).map { Int64(clamping: $0) }
        layer.eps = epsilon
        layer.gamma = weights(name, "gamma \(shape)", gamma, shape: shape)
        layer.beta = weights(name, "beta \(shape)", beta, shape: shape)
        return add(name, [input], output, .layerNormalization(layer))
    }
}
