package import MLFeatures
package import MLNumerics
package import MLSpecification
import Synchronization

/// The probability Φ(m / √(1 + v)) of an event, where m and v are the sums of the means and variances of the weights of
/// the features' values and of the bias.
///
/// The input is a vector, whose index is the feature, or rows of two, feature and value. Values without a weight add
/// nothing. Pessimistic: m is shifted by optimism · √v. Sampled: Φ of a draw from the normal distribution with mean m
/// and standard deviation samplingScale · √v, truncated at samplingTruncation deviations; draws differ from call to
/// call and repeat each time the model is loaded.
package struct BayesianProbitRegressor: ModelEngine {
    package let interface: SpecModelDescription
    private let weights: [Key: (mean: Double, variance: Double)]
    private let bias: (mean: Double, variance: Double)
    private let featureCount: Int
    private let parameters: SpecBayesianProbitRegressor
    private let inputName: String
    private let probabilityOutput: String?
    private let draws = DrawCounter()

    private struct Key: Hashable, Sendable {
        var feature: UInt32
        var value: UInt32
    }

    private final class DrawCounter: Sendable {
        private let count = Atomic<UInt64>(0)
        func next() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    package init(_ parameters: SpecBayesianProbitRegressor, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        self.parameters = parameters
        featureCount = Int(parameters.numberOfFeatures)
        inputName =
            parameters.regressionInputFeatureName.isEmpty
            ? try interface.soleInput().name : parameters.regressionInputFeatureName
        let input = try interface.inputFeature(named: inputName, for: "regression input")
        guard case .multiArrayType? = input.type.type else { throw input.mismatch("a multi-array") }
        bias = parameters.hasBias ? try Self.moments(parameters.bias, "the bias") : (0, 0)
        var weights: [Key: (mean: Double, variance: Double)] = [:]
        for feature in parameters.features {
            guard feature.featureID < parameters.numberOfFeatures else {
                throw ModelError(
                    .invalidModel,
                    "the feature \(feature.featureID) has weights, but the model has \(featureCount) features"
                )
            }
            for weight in feature.weights {
                let key = Key(feature: feature.featureID, value: weight.featureValue)
                let position = "the weight of feature \(feature.featureID), value \(weight.featureValue),"
                guard weights.updateValue(try Self.moments(weight.featureWeight, position), forKey: key) == nil else {
                    throw ModelError(.invalidModel, "\(position) occurs twice")
                }
            }
        }
        self.weights = weights
        let extra = [
            parameters.meanOutputFeatureName, parameters.varianceOutputFeatureName,
            parameters.pessimisticProbabilityOutputFeatureName, parameters.sampledProbabilityOutputFeatureName,
        ]
        for name in extra where !name.isEmpty {
            let output = try interface.outputFeature(named: name, for: "output")
            guard case .doubleType? = output.type.type else { throw output.mismatch("a number") }
        }
        probabilityOutput =
            interface.predictedFeatureName.isEmpty
            ? interface.output.first { !extra.contains($0.name) }?.name : interface.predictedFeatureName
        if let probabilityOutput {
            let output = try interface.outputFeature(named: probabilityOutput, for: "predicted feature")
            guard case .doubleType? = output.type.type else { throw output.mismatch("a number") }
        }
    }

    private static func moments(
        _ gaussian: SpecBayesianProbitRegressor.Gaussian,
        _ position: String
    ) throws(ModelError) -> (mean: Double, variance: Double) {
        guard gaussian.precision > 0, gaussian.mean.isFinite else {
            throw ModelError(
                .invalidModel,
                "\(position) has the mean \(gaussian.mean) and the precision \(gaussian.precision), which is not a distribution"
            )
        }
        return (gaussian.mean, 1 / gaussian.precision)
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        guard case .tensor(let tensor)? = inputs[inputName] else {
            throw ModelError(.invalidInput, "the input '\(inputName)' is missing or not a multi-array")
        }
        var (mean, variance) = bias
        for (feature, value) in try pairs(tensor) {
            guard let feature = UInt32(exactly: feature), let value = UInt32(exactly: value),
                let weight = weights[Key(feature: feature, value: value)]
            else { continue }
            mean += weight.mean
            variance += weight.variance
        }
        let deviation = variance.squareRoot()
        let scale = (1 + variance).squareRoot()
        var outputs: [String: FeatureData] = [:]
        if let probabilityOutput { outputs[probabilityOutput] = .double(normalCDF(mean / scale)) }
        if !parameters.meanOutputFeatureName.isEmpty { outputs[parameters.meanOutputFeatureName] = .double(mean) }
        if !parameters.varianceOutputFeatureName.isEmpty {
            outputs[parameters.varianceOutputFeatureName] = .double(variance)
        }
        if !parameters.pessimisticProbabilityOutputFeatureName.isEmpty {
            let optimism = try number(inputs, parameters.optimismInputFeatureName) ?? 0
            outputs[parameters.pessimisticProbabilityOutputFeatureName] =
                .double(normalCDF((mean + optimism * deviation) / scale))
        }
        if !parameters.sampledProbabilityOutputFeatureName.isEmpty {
            let factor = try number(inputs, parameters.samplingScaleInputFeatureName) ?? 1
            let bound = try number(inputs, parameters.samplingTruncationInputFeatureName) ?? .infinity
            let draw = TruncatedNormal(bound: bound).draw(seed: draws.next())
            outputs[parameters.sampledProbabilityOutputFeatureName] = .double(
                normalCDF(mean + factor * deviation * draw)
            )
        }
        return outputs
    }

    /// The features and their values.
    private func pairs(_ tensor: Tensor) throws(ModelError) -> [(Int, Int)] {
        let values = tensor.integers
        switch tensor.shape.count {
        case 1:
            guard values.count <= featureCount else {
                throw ModelError(
                    .invalidInput,
                    "the input '\(inputName)' has \(values.count) elements, but the model has \(featureCount) features"
                )
            }
            return values.enumerated().map { ($0.offset, $0.element) }
        case 2 where tensor.shape[1] == 2:
            return (0..<tensor.shape[0]).map { (values[2 * $0], values[2 * $0 + 1]) }
        default:
            throw ModelError(
                .invalidInput,
                "the input '\(inputName)' is \(tensor.shape); the model takes a vector, or rows of feature and value"
            )
        }
    }

    private func number(_ inputs: [String: FeatureData], _ name: String) throws(ModelError) -> Double? {
        switch inputs[name] {
        case nil: return nil
        case .double(let number)?: return number
        case .int64(let number)?: return Double(number)
        case .tensor(let tensor)? where tensor.count == 1: return tensor.values[0]
        case let other?:
            throw ModelError(.invalidInput, "the input '\(name)' is \(other.kind); the model takes a number")
        }
    }
}
