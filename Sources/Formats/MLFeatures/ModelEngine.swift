package import MLNumerics
package import MLSpecification

/// A loaded model: features in, features out.  Immutable; any number of threads may predict at once.
package protocol ModelEngine: Sendable {
    /// The model's interface as its file states it.
    var interface: SpecModelDescription { get }

    /// Predicts.
    /// - Parameters:
    ///   - inputs: a value for every input that is not optional.
    ///   - backings: tensors that outputs of the same type and shape are written to.
    ///   - state: what the model keeps from call to call; needed by models that have states.
    /// - Returns: every output by name.
    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData]

    /// Whether a batch as a whole is faster than its examples one by one.
    var prefersBatches: Bool { get }

    /// Predicts from each example of a batch; row i of the result belongs to example i.
    func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch

    /// New buffers, all zero, for a sequence of predictions; empty for a model that keeps nothing.
    func makeState() -> ModelState
}

extension ModelEngine {
    package var prefersBatches: Bool { false }

    package func makeState() -> ModelState { ModelState([:]) }

    package func prediction(from inputs: [String: FeatureData]) throws(ModelError) -> [String: FeatureData] {
        try prediction(from: inputs, backings: [:], state: nil)
    }

    /// The examples one by one; a cancelled task ends them between two.
    package func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch {
        var results: [[String: FeatureData]] = []
        results.reserveCapacity(batch.count)
        for index in 0..<batch.count {
            try Cancellation.check()
            do {
                results.append(try prediction(from: batch.features(at: index)))
            } catch {
                throw batch.count > 1 ? error.at("example \(index)") : error
            }
        }
        guard let joined = FeatureBatch(results) else {
            throw ModelError(
                .invalidModel,
                "the model gave other outputs for some examples of the batch than for others"
            )
        }
        return joined
    }
}
