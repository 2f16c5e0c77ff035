public import CoreML
import MLEngine
import MLFeatures

extension MLModel {
    /// Whether the model computes the examples of a batch together, which takes less time than one after the other.
    ///
    /// Trees, linear models, support vectors, nearest neighbours and their pipelines do, and networks whose products
    /// would otherwise read their weights for a few rows only. `predictions(fromBatch:)` of other networks distributes
    /// the examples over the processors.
    public var prefersBatches: Bool { engine.prefersBatches || (engine as? GraphEngine)?.joinsExamples ?? false }
}
