import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// An activation function, applied to each element.
    public enum Activation: Hashable, Sendable {
        /// αx + β.
        case linear(alpha: Float, beta: Float)
        /// max(0, x).
        case relu
        /// x for x ≥ 0, else αx.
        case leakyRelu(alpha: Float)
        /// x for x ≥ α, else 0.
        case thresholdedRelu(alpha: Float)
        /// x for x ≥ 0, else αx, with one α for each channel or one for all.
        case prelu(alpha: LayerWeights)
        /// The hyperbolic tangent.
        case tanh
        /// α tanh(βx).
        case scaledTanh(alpha: Float, beta: Float)
        /// 1 / (1 + e⁻ˣ).
        case sigmoid
        /// αx + β, limited to 0 … 1.
        case hardSigmoid(alpha: Float, beta: Float)
        /// x for x ≥ 0, else α(eˣ − 1).
        case elu(alpha: Float)
        /// x / (1 + |x|).
        case softsign
        /// ln(1 + eˣ).
        case softplus
        /// α ln(1 + e^βx), with α and β for each channel or one for all.
        case parametricSoftplus(alpha: LayerWeights, beta: LayerWeights)
    }

    /// Applies an activation function to each element.
    @discardableResult
    public mutating func activation(
        _ name: String,
        _ function: Activation,
        _ input: Value,
        output: Value? = nil
    ) -> Value {
        add(name, [input], output, .activation(specification(of: function, name)))
    }

    /// Softmax over the channels of [… C, H, W].
    ///
    /// With the exact mapping the value must have at least three axes.
    @discardableResult
    public mutating func softmax(_ name: String, _ input: Value, output: Value? = nil) -> Value {
        add(name, [input], output, .softmax(.init()))
    }

    /// Softmax along one axis.
    @discardableResult
    public mutating func softmaxND(_ name: String, _ input: Value, axis: Int, output: Value? = nil) -> Value {
        add(name, [input], output, .softmaxNd(.with { $0.axis = Int64(axis) }))
    }

    /// The formula that computes `gelu`.
    public enum GELU: Hashable, Sendable { case exact, tanhApproximation, sigmoidApproximation }

    /// The Gaussian error linear unit x · Φ(x), with Φ the distribution function of the normal distribution.
    @discardableResult
    public mutating func gelu(_ name: String, _ input: Value, _ mode: GELU = .exact, output: Value? = nil) -> Value {
        add(
            name,
            [input],
            output,
            .gelu(
                .with {
                    $0.mode =
                        switch mode {
                        case .exact: .exact
                        case .tanhApproximation: .tanhApproximation
                        case .sigmoidApproximation: .sigmoidApproximation
                        }
                }
            )
        )
    }

    /// A ReLU with an upper bound: min(x, β) for x ≥ 0, min(αx, β) below.
    @discardableResult
    public mutating func clampedRelu(
        _ name: String,
        _ input: Value,
        alpha: Float = 0,
        beta: Float = 6,
        output: Value? = nil
    ) -> Value {
        add(
            name,
            [input],
            output,
            .clampedReLu(
                .with {
                    $0.alpha = alpha
                    $0.beta = beta
                }
            )
        )
    }

    /// Returns the function as a message of the model format.
    mutating func specification(of function: Activation, _ name: String) -> SpecActivationParams {
        var message = SpecActivationParams()
        switch function {
        case .linear(let alpha, let beta): (message.linear.alpha, message.linear.beta) = (alpha, beta)
        case .relu: message.reLu = .init()
        case .leakyRelu(let alpha): message.leakyReLu.alpha = alpha
        case .thresholdedRelu(let alpha): message.thresholdedReLu.alpha = alpha
        case .prelu(let alpha): message.preLu.alpha = weights(name, "alpha", alpha)
        case .tanh: message.tanh = .init()
        case .scaledTanh(let alpha, let beta): (message.scaledTanh.alpha, message.scaledTanh.beta) = (alpha, beta)
        case .sigmoid: message.sigmoid = .init()
        case .hardSigmoid(let alpha, let beta): (message.sigmoidHard.alpha, message.sigmoidHard.beta) = (alpha, beta)
        case .elu(let alpha): message.elu.alpha = alpha
        case .softsign: message.softsign = .init()
        case .softplus: message.softplus = .init()
        case .parametricSoftplus(let alpha, let beta):
            message.parametricSoftplus.alpha = weights(name, "alpha", alpha)
            message.parametricSoftplus.beta = weights(name, "beta", beta)
        }
        return message
    }
}
