public import CoreML
import MLFeatures

extension MLModel {
    /// Whether the model computes the examples of a batch together, which takes less time than one after the other.
    ///
    /// Trees, linear models, support vectors, nearest neighbours and their pipelines do; `predictions(fromBatch:)` of
    /// other models, networks among them, predicts the examples one by one.
    public var prefersBatches: Bool { engine.prefersBatches }
}
