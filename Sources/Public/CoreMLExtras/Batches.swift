public import CoreML
import MLFeatures

extension MLModel {
    /// Whether the model computes the examples of a batch together, which takes less time than one after the other.
    ///
    /// Trees, linear models, support vectors, nearest neighbours and their pipelines do; `predictions(fromBatch:)` of
    /// other models, networks among them, distributes the examples over the processors, and computes some of them together
    /// where products would otherwise read their weights for a few rows only.
    public var prefersBatches: Bool { engine.prefersBatches }
}
