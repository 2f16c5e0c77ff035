/// A layer of a neural network that the app computes.
///
/// One object per layer of a loaded model is called from one thread at a time.
public protocol MLCustomLayer: AnyObject {
    /// Makes the layer's object when the model is loaded.
    ///
    /// - Parameter parameters: The layer's parameters in the model file: `Double`, `Int`, `Bool` or `String` values.
    /// - Throws: Any error, which loading reports as `MLModelError.customLayer`.
    init(parameters: [String: Any]) throws

    /// Receives the layer's weights, after `init(parameters:)`; not called for a layer without weights.
    ///
    /// - Parameter weights: The stored bytes of each array: 4 per value in single precision, 2 in half precision.
    /// - Throws: Any error, which loading reports as `MLModelError.customLayer`.
    func setWeightData(_ weights: [Data]) throws

    /// The shapes of the outputs for inputs of the given shapes.
    ///
    /// - Parameter inputShapes: The shape of each input.
    /// - Returns: The shape of each output, in the order of the layer's outputs.
    /// - Throws: Any error, which the prediction reports as `MLModelError.customLayer`.
    func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]]

    /// Computes the outputs.
    ///
    /// - Parameters:
    ///   - inputs: The inputs in the order of the layer; valid during the call.
    ///   - outputs: `Float32` arrays of the shapes that `outputShapes(forInputShapes:)` gave, to be filled in.
    /// - Throws: Any error, which the prediction reports as `MLModelError.customLayer`.
    func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws
}

/// A model that the app computes.
///
/// Predictions may come from several threads at a time.
public protocol MLCustomModel: AnyObject {
    /// Makes the model's object when it is loaded.
    ///
    /// - Parameters:
    ///   - modelDescription: The interface of the model.
    ///   - parameters: The model's parameters in its file: `Double`, `Int`, `Bool`, `String` or `Data` values.
    /// - Throws: Any error, which loading reports as `MLModelError.customModel`.
    init(modelDescription: MLModelDescription, parameters: [String: Any]) throws

    /// Predicts the outputs for one example.
    ///
    /// - Parameters:
    ///   - input: The inputs, checked against the model's interface.
    ///   - options: The default options.
    /// - Returns: A value for each output that is not optional.
    /// - Throws: Any error, which the prediction reports as `MLModelError.customModel`.
    func prediction(from input: any MLFeatureProvider, options: MLPredictionOptions) throws -> any MLFeatureProvider

    /// Predicts the outputs for a batch; by default, example by example.
    ///
    /// - Parameters:
    ///   - inputBatch: The examples.
    ///   - options: The default options.
    /// - Returns: As many results, in the same order.
    /// - Throws: Any error, which the prediction reports as `MLModelError.customModel`.
    func predictions(from inputBatch: any MLBatchProvider, options: MLPredictionOptions) throws -> any MLBatchProvider
}

extension MLCustomModel {
    /// Predicts the outputs for the examples one by one.
    public func predictions(
        from inputBatch: any MLBatchProvider,
        options: MLPredictionOptions
    ) throws -> any MLBatchProvider {
        MLArrayBatchProvider(
            array: try (0..<inputBatch.count).map {
                try prediction(from: inputBatch.features(at: $0), options: options)
            }
        )
    }
}
