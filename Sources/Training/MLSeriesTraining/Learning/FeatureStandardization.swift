import MLNumerics

/// Standardised training features, and a linear classifier of them as a starting point.
struct FeatureStandardization: Sendable {
    /// The mean of each feature.
    let means: [Float]
    /// The inverse of each feature's standard deviation.
    let scales: [Float]
    /// The training features: [examples, features], standardised.
    let training: [Float]
    /// The weights and intercepts of a softmax classifier of standardised features; `nil` when there are too many
    /// examples for a closed-form solution.
    let start: [Tensor]?

    /// Standardises features, and fits the linear classifier if `solves` is `true`.
    ///
    /// - Parameters:
    ///   - features: The features of all examples [examples, features].
    ///   - labels: For each example the index of its class.
    ///   - classCount: The number of classes.
    ///   - groups: The group of each example, as for `RidgeClassifier`.
    ///   - solves: Whether to compute a linear classifier.
    /// - Throws: `.invalidInput` when there are too few examples, `.cancelled` when the task is cancelled.
    init(
        _ features: consuming [Float],
        labels: [Int],
        classCount: Int,
        groups: [Int]? = nil,
        solves: Bool
    ) throws(ModelError) {
        var values = consume features
        let width = values.count / labels.count
        let ridge =
            solves && labels.count <= RidgeClassifier.exampleLimit && labels.count > 1
            ? try RidgeClassifier(features: values, labels: labels, classCount: classCount, groups: groups) : nil
        let moments = ColumnMoments(values, count: labels.count)
        let means = moments.means.map { Float($0) }
        let scales = moments.scales(above: 1e-6).map { Float($0) }
        (self.means, self.scales) = (means, scales)
        Self.standardize(&values, means, scales)
        training = values
        guard let ridge else {
            start = nil
            return
        }
        // w · x + b with x = z / scale + mean.
        var (weights, biases) = ([Float](), [Float]())
        for label in 0..<classCount {
            var bias = Double(ridge.intercepts[label])
            for k in 0..<width {
                let weight = Double(ridge.weights[label * width + k])
                bias += weight * Double(means[k])
                weights.append(Float(weight / Double(scales[k]) * ridge.steepness))
            }
            biases.append(Float(bias * ridge.steepness))
        }
        start = [Tensor(weights, shape: [classCount, width]), Tensor(biases, shape: [classCount])]
    }

    private static func standardize(_ features: inout [Float], _ means: [Float], _ scales: [Float]) {
        let width = means.count
        for row in 0..<features.count / width {
            for k in 0..<width { features[row * width + k] = (features[row * width + k] - means[k]) * scales[k] }
        }
    }

    /// Further features, standardised like the training features.
    func standardized(_ features: consuming [Float]) -> [Float] {
        var values = consume features
        Self.standardize(&values, means, scales)
        return values
    }
}
