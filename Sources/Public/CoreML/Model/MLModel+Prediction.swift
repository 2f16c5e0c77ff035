import MLEngine
import MLNumerics

extension MLModel {
    /// Predicts the outputs for one example.
    ///
    /// - Parameter input: A value for each input that is not optional; further features are ignored.
    /// - Returns: The outputs by name.
    /// - Throws: `MLModelError`: `featureType` when an input is missing or does not fit, otherwise the code of the
    ///   failure.
    public func prediction(from input: any MLFeatureProvider) throws -> any MLFeatureProvider {
        try predict(input, MLPredictionOptions(), nil)
    }

    /// Predicts the outputs for one example, with options.
    ///
    /// - Parameters:
    ///   - input: A value for each input that is not optional; further features are ignored.
    ///   - options: The memory to write outputs to.
    /// - Returns: The outputs by name.
    /// - Throws: `MLModelError`: `featureType` when an input or a backing is missing or does not fit, otherwise the
    ///   code of the failure.
    public func prediction(
        from input: any MLFeatureProvider,
        options: MLPredictionOptions
    ) throws -> any MLFeatureProvider {
        try predict(input, options, nil)
    }

    /// Predicts the outputs for one example on another thread.
    ///
    /// When the task is cancelled, the prediction stops between two steps of the model.
    ///
    /// - Parameters:
    ///   - input: A value for each input that is not optional; further features are ignored.
    ///   - options: The memory to write outputs to.
    /// - Returns: The outputs by name.
    /// - Throws: `MLModelError`: `featureType` when an input or a backing does not fit, `predictionCancelled` after a
    ///   cancellation, otherwise the code of the failure.
    public func prediction(
        from input: any MLFeatureProvider,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> any MLFeatureProvider {
        try await predictAsync(input, options, nil)
    }

    /// Predicts the outputs for one example, reading and writing a state.
    ///
    /// - Parameters:
    ///   - inputFeatures: A value for each input that is not optional; further features are ignored.
    ///   - state: A state that `makeState()` of this model made. A prediction that fails may leave it partly updated.
    /// - Returns: The outputs by name.
    /// - Throws: `MLModelError`: `featureType` when an input is missing or does not fit, otherwise the code of the
    ///   failure.
    public func prediction(
        from inputFeatures: any MLFeatureProvider,
        using state: MLState
    ) throws -> any MLFeatureProvider {
        try predict(inputFeatures, MLPredictionOptions(), state)
    }

    /// Predicts the outputs for one example, reading and writing a state, with options.
    ///
    /// - Parameters:
    ///   - inputFeatures: A value for each input that is not optional; further features are ignored.
    ///   - state: A state that `makeState()` of this model made. A prediction that fails may leave it partly updated.
    ///   - options: The memory to write outputs to.
    /// - Returns: The outputs by name.
    /// - Throws: `MLModelError`: `featureType` when an input or a backing does not fit, otherwise the code of the
    ///   failure.
    public func prediction(
        from inputFeatures: any MLFeatureProvider,
        using state: MLState,
        options: MLPredictionOptions
    ) throws -> any MLFeatureProvider {
        try predict(inputFeatures, options, state)
    }

    /// Predicts the outputs for one example on another thread, reading and writing a state.
    ///
    /// Predictions with the same state run one after another, in the order in which they reach it.
    ///
    /// - Parameters:
    ///   - input: A value for each input that is not optional; further features are ignored.
    ///   - state: A state that `makeState()` of this model made. A prediction that fails may leave it partly updated.
    ///   - options: The memory to write outputs to.
    /// - Returns: The outputs by name.
    /// - Throws: `MLModelError`: `featureType` when an input or a backing does not fit, `predictionCancelled` after a
    ///   cancellation, otherwise the code of the failure.
    public func prediction(
        from input: any MLFeatureProvider,
        using state: MLState,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> any MLFeatureProvider {
        try await predictAsync(input, options, state)
    }

    /// Predicts the outputs for each example of a batch.
    ///
    /// - Parameter inputBatch: The examples.
    /// - Returns: The outputs in the order of the examples.
    /// - Throws: `MLModelError`, whose message names the example: `featureType` when an input does not fit, otherwise
    ///   the code of the failure.
    public func predictions(fromBatch inputBatch: any MLBatchProvider) throws -> any MLBatchProvider {
        try predictions(from: inputBatch, options: MLPredictionOptions())
    }

    /// Predicts the outputs for each example of a batch, with options.
    ///
    /// Examples are predicted on all processors, several at once where the model is faster so; a batch of any size is
    /// read piece by piece. When the task that calls it is cancelled, it stops between two examples.
    ///
    /// - Parameters:
    ///   - inputBatch: The examples.
    ///   - options: Output backings are allowed for batches of one example only.
    /// - Returns: The outputs in the order of the examples.
    /// - Throws: `MLModelError`: `featureType` when an input does not fit, `predictionCancelled` after a cancellation,
    ///   `generic` for backings with several examples, otherwise the code of the failure.
    public func predictions(
        from inputBatch: any MLBatchProvider,
        options: MLPredictionOptions
    ) throws -> any MLBatchProvider {
        guard options.outputBackings.isEmpty || inputBatch.count < 2 else {
            throw MLModelError(
                .generic,
                "Output backings hold one example, but the batch has \(inputBatch.count); predict them one by one."
            )
        }
        if inputBatch.count > 1, engine.prefersBatches, let batch = try columns(inputBatch) {
            let results = try translatingErrors { () throws(ModelError) in try engine.predictions(from: batch) }
            return try ColumnBatchProvider(results, modelDescription)
        }
        guard inputBatch.count > 1 else {
            return MLArrayBatchProvider(
                array: try (0..<inputBatch.count).map { index in
                    try translatingErrors { () throws(ModelError) in try Cancellation.check() }
                    return try predict(inputBatch.features(at: index), options, nil)
                }
            )
        }
        var results: [any MLFeatureProvider] = []
        results.reserveCapacity(inputBatch.count)
        while results.count < inputBatch.count {
            try results += predictPiece(of: inputBatch, from: results.count)
        }
        return MLArrayBatchProvider(array: results)
    }

    /// Makes a state with all buffers zero, for a sequence of predictions with this model.
    public func makeState() -> MLState { MLState(engine.makeState(), names: modelDescription.states.map { $0.name }) }

    // MARK: -

    private func predict(
        _ input: any MLFeatureProvider,
        _ options: MLPredictionOptions,
        _ state: MLState?
    ) throws -> any MLFeatureProvider {
        let features = try engineFeatures(input)
        let backings = try OutputBackings(options.outputBackings, modelDescription)
        let results = try translatingErrors { () throws(ModelError) in
            try engine.prediction(from: features, backings: backings.data, state: state?.buffers)
        }
        return try provider(results, backings)
    }

    /// Predicts the next examples of a batch: as many as may be in memory together.
    private func predictPiece(of batch: any MLBatchProvider, from start: Int) throws -> [any MLFeatureProvider] {
        var examples: [[String: FeatureData]] = []
        var failure: (any Error)?
        var byteCount = 0
        while failure == nil, start + examples.count < batch.count, examples.count < FeatureBatch.chunkCount,
            byteCount < FeatureBatch.chunkByteCount
        {
            do {
                let example = try engineFeatures(batch.features(at: start + examples.count))
                byteCount += example.values.reduce(0) { $0 + $1.byteCount }
                examples.append(example)
            } catch { failure = error }
        }
        let backings = try OutputBackings([:], modelDescription)
        var results: [any MLFeatureProvider] = []
        for (index, result) in engine.results(of: examples).enumerated() {
            do {
                let outputs = try translatingErrors { () throws(ModelError) in try result.get() }
                results.append(try provider(outputs, backings))
            } catch let error as MLModelError {
                throw error.code == .predictionCancelled ? error : error.at(example: start + index)
            }
        }
        // The examples before the one that does not fit come first.
        if let failure {
            throw (failure as? MLModelError)?.at(example: start + examples.count) ?? failure
        }
        return results
    }

    private func predictAsync(
        _ input: any MLFeatureProvider,
        _ options: MLPredictionOptions,
        _ state: MLState?
    ) async throws -> any MLFeatureProvider {
        if Task.isCancelled {
            throw MLModelError(.predictionCancelled, "The task was cancelled before the prediction began.")
        }
        let features = try engineFeatures(input)
        let backings = try OutputBackings(options.outputBackings, modelDescription)
        let data = backings.data
        let buffers = state?.buffers
        let cancellation = Cancellation(stopsBetweenSteps: true)
        let results = try await withTaskCancellationHandler {
            try await runBlocking { [engine] in
                try Cancellation.$current.withValue(cancellation) {
                    try translatingErrors { () throws(ModelError) in
                        try cancellation.check()
                        return try engine.prediction(from: features, backings: data, state: buffers)
                    }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try provider(results, backings)
    }

    /// The inputs, checked against the description.
    private func engineFeatures(_ input: any MLFeatureProvider) throws -> [String: FeatureData] {
        var features = [String: FeatureData](minimumCapacity: modelDescription.inputs.count)
        for description in modelDescription.inputs {
            guard let value = input.featureValue(for: description.name), !value.isUndefined else {
                if description.isOptional { continue }
                throw missing(description, input)
            }
            if let failure = description.validationFailure(for: value, allowsLegacyRanks: allowsLegacyRanks) {
                throw MLModelError(
                    .featureType,
                    "The value of input \"\(description.name)\" \(failure). The model's inputs are:\n"
                        + modelDescription.inputList
                )
            }
            features[description.name] = try value.engineData(for: description)
        }
        return features
    }

    /// The examples as columns; `nil` when not all have the same features.
    private func columns(_ batch: any MLBatchProvider) throws -> FeatureBatch? {
        var examples: [[String: FeatureData]] = []
        examples.reserveCapacity(batch.count)
        for index in 0..<batch.count {
            do {
                examples.append(try engineFeatures(batch.features(at: index)))
            } catch let error as MLModelError {
                throw error.at(example: index)
            }
        }
        return FeatureBatch(examples)
    }

    private func missing(_ description: MLFeatureDescription, _ input: any MLFeatureProvider) -> MLModelError {
        let unknown = input.featureNames.filter { modelDescription.inputDescriptionsByName[$0] == nil }.sorted()
        var text = "The input \"\(description.name)\" has no value."
        if !unknown.isEmpty {
            let names = unknown.map { "\"\($0)\"" }.joined(separator: ", ")
            text += " Values were given for \(names), which the model does not have."
        }
        return MLModelError(.featureType, text + " The model's inputs are:\n" + modelDescription.inputList)
    }

    private func provider(
        _ results: [String: FeatureData],
        _ backings: OutputBackings
    ) throws -> any MLFeatureProvider {
        var values = [String: MLFeatureValue](minimumCapacity: results.count)
        for (name, data) in results {
            let value = try MLFeatureValue(data, modelDescription.outputDescriptionsByName[name])
            values[name] = try backings.received(value, name)
        }
        return MLDictionaryFeatureProvider(values: values)
    }
}

extension MLModelError {
    /// The error of one example of a batch.
    fileprivate func at(example index: Int) -> MLModelError {
        MLModelError(code, "Example \(index) of the batch: \(localizedDescription)")
    }
}
