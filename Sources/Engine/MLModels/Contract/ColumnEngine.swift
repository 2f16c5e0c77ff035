package import MLFeatures
package import MLNumerics

/// An engine that computes whole columns; one example is a batch of one.
package protocol ColumnEngine: ModelEngine {
    /// Every output by name, a row for each example.
    func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn]
}

extension ColumnEngine {
    package var prefersBatches: Bool { true }

    package func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch {
        FeatureBatch(count: batch.count, columns: batch.count == 0 ? [:] : try outputs(for: batch))
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        try outputs(for: FeatureBatch(inputs)).mapValues { $0.value(at: 0) }
    }
}
