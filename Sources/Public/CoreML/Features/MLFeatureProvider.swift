/// Values of features by name.
public protocol MLFeatureProvider: AnyObject {
    var featureNames: Set<String> { get }
    /// `nil` when there is no value for the name.
    func featureValue(for featureName: String) -> MLFeatureValue?
}

/// Features of several examples.
public protocol MLBatchProvider: AnyObject {
    var count: Int { get }
    func features(at index: Int) -> any MLFeatureProvider
}
