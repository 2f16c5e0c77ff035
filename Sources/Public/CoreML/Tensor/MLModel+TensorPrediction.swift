import MLEngine
import MLNumerics

extension MLModel {
    /// Predicts the outputs for tensors, on another thread.
    ///
    /// Tensors that are not computed yet are computed first, together. When the task is cancelled, the prediction stops
    /// between two steps of the model.
    ///
    /// - Parameter inputs: A tensor for each input that is not optional, by name; further ones are ignored. Elements are
    ///   converted to the type that the model takes.
    /// - Returns: The outputs by name. Elements of `Double` outputs become `Float`.
    /// - Throws: `MLModelError`: `featureType` when an input is missing or does not fit or the model has inputs or outputs that
    ///   are no multi-arrays, `predictionCancelled` after a cancellation, otherwise the code of the failure.
    public func prediction(from inputs: [String: MLTensor]) async throws -> [String: MLTensor] {
        try await predict(inputs, nil)
    }

    /// Predicts the outputs for tensors on another thread, reading and writing a state.
    ///
    /// Predictions with the same state run one after another, in the order in which they reach it.
    ///
    /// - Parameters:
    ///   - inputs: A tensor for each input that is not optional, by name; further ones are ignored. Elements are converted to
    ///     the type that the model takes.
    ///   - state: A state that `makeState()` of this model made. A prediction that fails may leave it partly updated.
    /// - Returns: The outputs by name. Elements of `Double` outputs become `Float`.
    /// - Throws: `MLModelError`: `featureType` when an input is missing or does not fit or the model has inputs or outputs that
    ///   are no multi-arrays, `predictionCancelled` after a cancellation, otherwise the code of the failure.
    public func prediction(
        from inputs: [String: MLTensor],
        using state: MLState
    ) async throws -> [String: MLTensor] {
        try await predict(inputs, state)
    }

    private func predict(_ inputs: [String: MLTensor], _ state: MLState?) async throws -> [String: MLTensor] {
        if Task.isCancelled {
            throw MLModelError(.predictionCancelled, "The task was cancelled before the prediction began.")
        }
        for output in modelDescription.outputs where output.type != .multiArray {
            throw MLModelError(
                .featureType,
                "The output \"\(output.name)\" is a \(output.type), which a tensor cannot hold; predict from a feature "
                    + "provider instead."
            )
        }
        let names = inputs.keys.filter { modelDescription.inputDescriptionsByName[$0] != nil }
        let tensors = names.compactMap { inputs[$0]?.lazy }
        let unused = inputs.keys.filter { modelDescription.inputDescriptionsByName[$0] == nil }
        let cancellation = Cancellation(stopsBetweenSteps: true)
        let results = try await withTaskCancellationHandler {
            try await runBlocking { [self] in
                try Cancellation.$current.withValue(cancellation) {
                    let elements = try translatingErrors { () throws(ModelError) in
                        try cancellation.check()
                        return try LazyTensor.elements(of: tensors)
                    }
                    var features = [String: FeatureData](minimumCapacity: names.count)
                    for (name, tensor) in zip(names, elements) { features[name] = .tensor(tensor) }
                    // Values that the model does not have are named where one is missing.
                    for name in unused { features[name] = .double(0) }
                    return try engineOutputs(from: features, state: state)
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try results.mapValues { data in
            guard case .tensor(let tensor) = data else {
                throw MLModelError(.generic, "The model gave \(data.kind) where its description states a multi-array.")
            }
            return MLTensor(tensor)
        }
    }
}
