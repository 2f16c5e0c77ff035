import MLSpecification
import SwiftProtobuf

/// Layers that draw random numbers.
///
/// A seed of 0 or more gives the same numbers at every run, −1 different ones.
extension NeuralNetworkBuilder {
    /// A probability distribution.
    public enum Distribution: Hashable, Sendable {
        /// The normal distribution with a mean and a standard deviation.
        case normal(mean: Float, deviation: Float)
        /// The uniform distribution between a lower and an upper bound.
        case uniform(Float, Float)
        /// 1 with this probability, else 0.
        case bernoulli(probability: Float)
    }

    /// The shape of random numbers.
    public enum RandomShape: Hashable, Sendable {
        /// The shape of another value.
        case like(Value)
        /// A fixed shape.
        case fixed([Int])
        /// The shape that another value holds.
        case dynamic(Value)
    }

    /// Draws random numbers of a distribution and a shape.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - distribution: The distribution of each number.
    ///   - shape: The shape of the result.
    ///   - seed: 0 or more for the same numbers at every run, −1 for different ones.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func random(
        _ name: String,
        _ distribution: Distribution,
        _ shape: RandomShape,
        seed: Int = -1,
        output: Value? = nil
    ) -> Value {
        let seed = Int64(seed)
        switch shape {
        case .like(let other): return add(name, [other], output, distribution.like(seed))
        case .fixed(let shape):
            return add(name, [], output, distribution.fixed(seed, natural(name, "the shape", shape)))
        case .dynamic(let shape): return add(name, [shape], output, distribution.dynamic(seed))
        }
    }

    /// Draws indices of the last axis by their probabilities.
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - count: The number of draws, at least 1.
    ///   - isLogits: Whether the input holds logarithms of probabilities rather than probabilities; true by default.
    ///   - epsilon: Added to probabilities before their logarithms are taken.
    ///   - temperature: The divisor of the logarithms; 1 by default.
    ///   - seed: 0 or more for the same numbers at every run, −1 for different ones.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func categoricalDistribution(
        _ name: String,
        _ input: Value,
        count: Int,
        isLogits: Bool = true,
        epsilon: Float = 1e-10,
        temperature: Float = 1,
        seed: Int = -1,
        output: Value? = nil
    ) -> Value {
        if count < 1 { problem(name, "the number of draws is \(count); it must be 1 or more") }
        return add(
            name,
            [input],
            output,
            .categoricalDistribution(
                .with {
                    $0.seed = Int64(seed)
                    $0.numSamples = Int64(count)
                    $0.isLogits = isLogits
                    $0.eps = epsilon
                    $0.temperature = temperature
                }
            )
        )
    }
}

extension NeuralNetworkBuilder.Distribution {
    fileprivate func like(_ seed: Int64) -> SpecNeuralNetworkLayer.OneOf_Layer {
        switch self {
        case .normal(let mean, let deviation):
            .randomNormalLike(.with { ($0.seed, $0.mean, $0.stdDev) = (seed, mean, deviation) })
        case .uniform(let low, let high):
            .randomUniformLike(.with { ($0.seed, $0.minVal, $0.maxVal) = (seed, low, high) })
        case .bernoulli(let probability):
            .randomBernoulliLike(.with { ($0.seed, $0.prob) = (seed, probability) })
        }
    }

    fileprivate func fixed(_ seed: Int64, _ shape: [UInt64]) -> SpecNeuralNetworkLayer.OneOf_Layer {
        switch self {
        case .normal(let mean, let deviation):
            .randomNormalStatic(
                .with { ($0.seed, $0.mean, $0.stdDev, $0.outputShape) = (seed, mean, deviation, shape) }
            )
        case .uniform(let low, let high):
            .randomUniformStatic(.with { ($0.seed, $0.minVal, $0.maxVal, $0.outputShape) = (seed, low, high, shape) })
        case .bernoulli(let probability):
            .randomBernoulliStatic(.with { ($0.seed, $0.prob, $0.outputShape) = (seed, probability, shape) })
        }
    }

    fileprivate func dynamic(_ seed: Int64) -> SpecNeuralNetworkLayer.OneOf_Layer {
        switch self {
        case .normal(let mean, let deviation):
            .randomNormalDynamic(.with { ($0.seed, $0.mean, $0.stdDev) = (seed, mean, deviation) })
        case .uniform(let low, let high):
            .randomUniformDynamic(.with { ($0.seed, $0.minVal, $0.maxVal) = (seed, low, high) })
        case .bernoulli(let probability):
            .randomBernoulliDynamic(.with { ($0.seed, $0.prob) = (seed, probability) })
        }
    }
}
