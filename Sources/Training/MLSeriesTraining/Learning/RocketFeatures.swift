import MLNumerics

/// Standardised MiniRocket features, and a linear classifier of them as a starting point.
struct RocketFeatures: Sendable {
    let rocket: MiniRocket
    let standardization: FeatureStandardization

    /// The approximate number of features of a series; MiniRocket's usual number.
    static let count = 10_000

    /// The training features: [examples, features], standardised.
    var training: [Float] { standardization.training }

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
        let features = try rocket.features(of: series)
        try Cancellation.check()
        standardization = try FeatureStandardization(
            features,
            labels: labels,
            classCount: classCount,
            groups: groups,
            solves: solves
        )
    }

    /// The standardised features of further series.
    func features(of series: SeriesSet) throws(ModelError) -> [Float] {
        standardization.standardized(try rocket.features(of: series))
    }
}
