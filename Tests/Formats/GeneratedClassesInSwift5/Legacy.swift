// Legacy.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Legacy predicts from.
@available(macOS 10.13, iOS 11.0, tvOS 11.0, watchOS 4.0, visionOS 1.0, *)
public class LegacyInput: MLFeatureProvider, @unchecked Sendable {
    /// An array of Double, 2.
    public var rooms: MLMultiArray

    public var featureNames: Set<String> { ["rooms"] }

    public func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "rooms": MLFeatureValue(multiArray: self.rooms)
        default: nil
        }
    }

    public init(rooms: MLMultiArray) {
        self.rooms = rooms
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public convenience init(rooms: MLShapedArray<Double>) {
        self.init(rooms: MLMultiArray(rooms))
    }
}

/// What Legacy predicted.
@available(macOS 10.13, iOS 11.0, tvOS 11.0, watchOS 4.0, visionOS 1.0, *)
public class LegacyOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: MLFeatureProvider

    /// A number.
    public var price: Double { self.provider.featureValue(for: "price")!.doubleValue }

    public var featureNames: Set<String> { self.provider.featureNames }

    public func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    public init(price: Double) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: ["price": MLFeatureValue(double: price)])
    }

    public init(features: MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Legacy.
@available(macOS 10.13, iOS 11.0, tvOS 11.0, watchOS 4.0, visionOS 1.0, *)
public class Legacy: @unchecked Sendable {
    public let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    public class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Legacy", withExtension: "mlmodelc")!
    }

    /// Takes a model that was loaded otherwise.
    public init(model: MLModel) {
        self.model = model
    }

    /// Loads the model from the bundle.
    @available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, visionOS 1.0, *)
    public convenience init(configuration: MLModelConfiguration = MLModelConfiguration()) throws {
        try self.init(contentsOf: type(of: self).urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    public convenience init(contentsOf modelURL: URL) throws {
        try self.init(model: MLModel(contentsOf: modelURL))
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, visionOS 1.0, *)
    public convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws {
        try self.init(model: MLModel(contentsOf: modelURL, configuration: configuration))
    }

    /// Loads the model from the bundle.
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
    public class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Legacy, Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Legacy {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
    public class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Legacy, Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Legacy(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Legacy {
        Legacy(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    public func prediction(input: LegacyInput) throws -> LegacyOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    public func prediction(input: LegacyInput, options: MLPredictionOptions) throws -> LegacyOutput {
        LegacyOutput(features: try self.model.prediction(from: input, options: options))
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
    public func prediction(
        input: LegacyInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> LegacyOutput {
        LegacyOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    @available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, visionOS 1.0, *)
    public func predictions(
        inputs: [LegacyInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [LegacyOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { LegacyOutput(features: batch.features(at: $0)) }
    }

    public func prediction(rooms: MLMultiArray) throws -> LegacyOutput {
        try self.prediction(input: LegacyInput(rooms: rooms))
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public func prediction(rooms: MLShapedArray<Double>) throws -> LegacyOutput {
        try self.prediction(input: LegacyInput(rooms: MLMultiArray(rooms)))
    }
}
