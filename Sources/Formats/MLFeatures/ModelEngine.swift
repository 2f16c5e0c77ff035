package import MLNumerics
package import MLSpecification

/// A loaded model, which predicts outputs from inputs.
///
/// It is immutable; any number of threads may predict at once.
package protocol ModelEngine: Sendable {
    /// The model's interface, as its file states it.
    var interface: SpecModelDescription { get }

    /// Predicts the outputs for one example.
    ///
    /// - Parameters:
    ///   - inputs: A value for every input that is not optional.
    ///   - backings: Tensors that outputs of the same type and shape are written to.
    ///   - state: The buffers that the model keeps from call to call; needed by models with states.
    /// - Returns: Every output by name.
    /// - Throws: `ModelError` when an input does not fit or the model fails.
    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData]

    /// Whether predicting a batch as a whole is faster than predicting its examples one by one.
    var prefersBatches: Bool { get }

    /// Predicts the outputs for each example of a batch; row i of the result belongs to example i.
    func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch

    /// Predicts each example: on all workers where the engine allows it, several at once where that is faster.
    ///
    /// Examples may have different features and shapes. Result i belongs to example i, so that an error names its
    /// example; the examples that a cancelled task does not reach fail with `.cancelled`.
    func results(of examples: [[String: FeatureData]]) -> [Result<[String: FeatureData], ModelError>]

    /// Makes buffers of zeros for a sequence of predictions; none for a model without states.
    func makeState() -> ModelState
}

extension ModelEngine {
    package var prefersBatches: Bool { false }

    package func makeState() -> ModelState { ModelState([:]) }

    package func prediction(from inputs: [String: FeatureData]) throws(ModelError) -> [String: FeatureData] {
        try prediction(from: inputs, backings: [:], state: nil)
    }

    /// Predicts the examples one by one; a cancelled task stops between two examples.
    package func results(of examples: [[String: FeatureData]]) -> [Result<[String: FeatureData], ModelError>] {
        examples.map { example in
            Result { () throws(ModelError) in
                try Cancellation.check()
                return try prediction(from: example)
            }
        }
    }

    /// Predicts each example; the first error ends the batch.
    package func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch {
        var results: [[String: FeatureData]] = []
        results.reserveCapacity(batch.count)
        for start in stride(from: 0, to: batch.count, by: FeatureBatch.chunkCount) {
            let piece = start..<Swift.min(start + FeatureBatch.chunkCount, batch.count)
            for (index, result) in zip(piece, self.results(of: piece.map(batch.features(at:)))) {
                do { results.append(try result.get()) } catch {
                    throw batch.count > 1 ? error.at("example \(index)") : error
                }
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
