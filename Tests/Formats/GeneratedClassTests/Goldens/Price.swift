// Price.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Price predicts from.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class PriceInput: MLFeatureProvider, @unchecked Sendable {
    /// An array of Double, 2.
    var rooms: MLMultiArray

    var featureNames: Set<String> { ["rooms"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "rooms": MLFeatureValue(multiArray: self.rooms)
        default: nil
        }
    }

    init(rooms: MLMultiArray) {
        self.rooms = rooms
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    convenience init(rooms: MLShapedArray<Double>) {
        self.init(rooms: MLMultiArray(rooms))
    }
}

/// What Price predicted.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class PriceOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// A number.
    var price: Double { self.provider.featureValue(for: "price")!.doubleValue }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(price: Double) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: ["price": MLFeatureValue(double: price)])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Price.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class Price: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Price", withExtension: "mlmodelc")!
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
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
    class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Price, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Price {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Price, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Price(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Price {
        Price(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: PriceInput) throws -> PriceOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: PriceInput, options: MLPredictionOptions) throws -> PriceOutput {
        PriceOutput(features: try self.model.prediction(from: input, options: options))
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
    func prediction(
        input: PriceInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> PriceOutput {
        PriceOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [PriceInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [PriceOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { PriceOutput(features: batch.features(at: $0)) }
    }

    func prediction(rooms: MLMultiArray) throws -> PriceOutput {
        try self.prediction(input: PriceInput(rooms: rooms))
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    func prediction(rooms: MLShapedArray<Double>) throws -> PriceOutput {
        try self.prediction(input: PriceInput(rooms: MLMultiArray(rooms)))
    }
}
