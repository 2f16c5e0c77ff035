import MLNumerics

/// Standardised MiniRocket features, and a linear classifier of them as a starting point.
struct RocketFeatures: Sendable {
    let rocket: MiniRocket
    /// The mean of each feature.
    let means: [Float]
    let scales: [Float]
    /// The training features: [examples, features], standardised.
    let training: [Float]
    /// The weights and intercepts of a softmax classifier of standardised features; `nil` when there are too many
    /// examples for a closed-form solution.
    let start: [Tensor]?

    /// The approximate number of features of a series; MiniRocket's usual number.
    static let count = 10_000

    /// Fits the transform, and the linear classifier if `solves` is `true`.
    ///
    /// - Parameters:
    ///   - series: The training series.
    ///   - labels: For each series the index of its class.
    ///   - classCount: The number of classes.
    ///   - groups: The group of each series, as for `RidgeClassifier`.
    ///   - seed: The seed of the transform's random choices.
    ///   - solves: Whether to compute a linear classifier.
    /// - Throws: `.invalidInput` when there are too few or too many examples, `.cancelled` when the task is cancelled.
    init(
        _ series: SeriesSet,
        labels: [Int],
        classCount: Int,
        groups: [Int]? = nil,
        seed: UInt64,
        solves: Bool
    ) throws(ModelError) {
        rocket = try MiniRocket(fitting: series, featureCount: Self.count, seed: seed)
        try Cancellation.check()
        var features = try rocket.features(of: series)
        let width = rocket.featureCount
        try Cancellation.check()
        let ridge =
            solves && labels.count <= RidgeClassifier.exampleLimit && labels.count > 1
            ? try RidgeClassifier(features: features, labels: labels, classCount: classCount, groups: groups) : nil
        let moments = ColumnMoments(features, count: labels.count)
        let means = moments.means.map { Float($0) }
        let scales = moments.scales(above: 1e-6).map { Float($0) }
        (self.means, self.scales) = (means, scales)
        Self.standardize(&features, means, scales)
        training = features
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

    /// The standardised features of further series.
    func features(of series: SeriesSet) throws(ModelError) -> [Float] {
        var features = try rocket.features(of: series)
        Self.standardize(&features, means, scales)
        return features
    }
}
