/// A layer that the app computes.
public protocol MLCustomLayer: AnyObject {
    init(parameters: [String: Any]) throws
    func setWeightData(_ weights: [Data]) throws
    func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]]
    func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws
}

/// A model that the app computes.
public protocol MLCustomModel: AnyObject {
    init(modelDescription: MLModelDescription, parameters: [String: Any]) throws
    func prediction(from input: any MLFeatureProvider, options: MLPredictionOptions) throws -> any MLFeatureProvider
    func predictions(from inputBatch: any MLBatchProvider, options: MLPredictionOptions) throws -> any MLBatchProvider
}

extension MLCustomModel {
    /// The examples one by one.
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
