// Bytes.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Bytes predicts from.
@available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
class BytesInput: MLFeatureProvider, @unchecked Sendable {
    /// An array of Int8, 4.
    var bytes: MLMultiArray

    var featureNames: Set<String> { ["bytes"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "bytes": MLFeatureValue(multiArray: self.bytes)
        default: nil
        }
    }

    init(bytes: MLMultiArray) {
        self.bytes = bytes
    }

    convenience init(bytes: MLShapedArray<Int8>) {
        self.init(bytes: MLMultiArray(bytes))
    }
}

/// What Bytes predicted.
@available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
class BytesOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// An array of Int8, 4.
    var bytes: MLMultiArray { self.provider.featureValue(for: "bytes")!.multiArrayValue! }

    /// An array of Int8, 4.
    var bytesShapedArray: MLShapedArray<Int8> { MLShapedArray<Int8>(self.bytes) }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(bytes: MLMultiArray) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: ["bytes": MLFeatureValue(multiArray: bytes)])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Bytes.
@available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
class Bytes: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Bytes", withExtension: "mlmodelc")!
    }

    /// Takes a model that was loaded otherwise.
    init(model: MLModel) {
        self.model = model
    }

    /// Loads the model from the bundle.
    convenience init(configuration: MLModelConfiguration = MLModelConfiguration()) throws {
        try self.init(contentsOf: type(of: self).urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    convenience init(contentsOf modelURL: URL) throws {
        try self.init(model: MLModel(contentsOf: modelURL))
    }

    /// Loads the model that lies at `modelURL`.
    convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws {
        try self.init(model: MLModel(contentsOf: modelURL, configuration: configuration))
    }

    /// Loads the model from the bundle.
    class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Bytes, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Bytes {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Bytes, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Bytes(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Bytes {
        Bytes(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: BytesInput) throws -> BytesOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: BytesInput, options: MLPredictionOptions) throws -> BytesOutput {
        BytesOutput(features: try self.model.prediction(from: input, options: options))
    }

    func prediction(
        input: BytesInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> BytesOutput {
        BytesOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [BytesInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [BytesOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { BytesOutput(features: batch.features(at: $0)) }
    }

    func prediction(bytes: MLMultiArray) throws -> BytesOutput {
        try self.prediction(input: BytesInput(bytes: bytes))
    }

    func prediction(bytes: MLShapedArray<Int8>) throws -> BytesOutput {
        try self.prediction(input: BytesInput(bytes: MLMultiArray(bytes)))
    }
}
