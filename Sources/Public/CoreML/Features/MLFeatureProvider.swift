/// The values of features by name: one example, or the result of a prediction.
public protocol MLFeatureProvider: AnyObject {
    /// The names of the features.
    var featureNames: Set<String> { get }
    /// The value of a feature; `nil` when there is none of that name.
    func featureValue(for featureName: String) -> MLFeatureValue?
}

/// A batch of examples.
public protocol MLBatchProvider: AnyObject {
    /// The number of examples.
    var count: Int { get }
    /// The example at an index from 0 to `count` − 1.
    func features(at index: Int) -> any MLFeatureProvider
}
