public import CoreML
import MLEngine
import MLFeatures

extension MLModel {
    /// Whether the model computes the examples of a batch together, which takes less time than one after the other.
    ///
    /// Trees, linear models, support vectors, nearest neighbours and their pipelines do, and networks whose work is
    /// mostly to read weights for a few rows. `predictions(fromBatch:)` of other networks distributes the examples over
    /// the processors, and computes some of them together where that is faster.
    public var prefersBatches: Bool { engine.prefersBatches || (engine as? GraphEngine)?.joinsExamples ?? false }
}
