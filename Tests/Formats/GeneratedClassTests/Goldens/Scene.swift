// Scene.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Scene predicts from.
@available(macOS 10.14, iOS 12.0, tvOS 12.0, visionOS 1.0, *)
@available(watchOS, unavailable)
class SceneInput: MLFeatureProvider, @unchecked Sendable {
    /// A picture in colour.
    var image: CVPixelBuffer

    /// A picture in colour, 299 × 299 pixels or other sizes.
    var preview: CVPixelBuffer

    var featureNames: Set<String> { ["image", "preview"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "image": MLFeatureValue(pixelBuffer: self.image)
        case "preview": MLFeatureValue(pixelBuffer: self.preview)
        default: nil
        }
    }

    init(image: CVPixelBuffer, preview: CVPixelBuffer) {
        self.image = image
        self.preview = preview
    }

    /// Brings pictures to the model's size and form.
    @available(macOS 10.15, iOS 13.0, tvOS 13.0, visionOS 1.0, *)
    convenience init(image: CVPixelBuffer, previewWith preview: CGImage) throws {
        self.init(
            image: image,
            preview: try MLFeatureValue(cgImage: preview, pixelsWide: 299, pixelsHigh: 299, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue!
        )
    }

    /// Brings pictures to the model's size and form.
    @available(macOS 10.15, iOS 13.0, tvOS 13.0, visionOS 1.0, *)
    convenience init(image: CVPixelBuffer, previewAt preview: URL) throws {
        self.init(
            image: image,
            preview: try MLFeatureValue(imageAt: preview, pixelsWide: 299, pixelsHigh: 299, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue!
        )
    }

    /// Brings a picture to the model's size and form.
    @available(macOS 10.15, iOS 13.0, tvOS 13.0, visionOS 1.0, *)
    func setPreview(with preview: CGImage) throws {
        self.preview = try MLFeatureValue(cgImage: preview, pixelsWide: 299, pixelsHigh: 299, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue!
    }

    /// Brings a picture to the model's size and form.
    @available(macOS 10.15, iOS 13.0, tvOS 13.0, visionOS 1.0, *)
    func setPreview(with preview: URL) throws {
        self.preview = try MLFeatureValue(imageAt: preview, pixelsWide: 299, pixelsHigh: 299, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue!
    }
}

/// What Scene predicted.
@available(macOS 10.14, iOS 12.0, tvOS 12.0, visionOS 1.0, *)
@available(watchOS, unavailable)
class SceneOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// An array of Double, 2048.
    var features: MLMultiArray { self.provider.featureValue(for: "features")!.multiArrayValue! }

    /// An array of Double, 2048.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, visionOS 1.0, *)
    var featuresShapedArray: MLShapedArray<Double> { MLShapedArray<Double>(self.features) }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(features: MLMultiArray) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: [
            "features": MLFeatureValue(multiArray: features)
        ])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Scene.
@available(macOS 10.14, iOS 12.0, tvOS 12.0, visionOS 1.0, *)
@available(watchOS, unavailable)
class Scene: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Scene", withExtension: "mlmodelc")!
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
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, visionOS 1.0, *)
    class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Scene, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, visionOS 1.0, *)
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Scene {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Scene, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Scene(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Scene {
        Scene(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: SceneInput) throws -> SceneOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: SceneInput, options: MLPredictionOptions) throws -> SceneOutput {
        SceneOutput(features: try self.model.prediction(from: input, options: options))
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, visionOS 1.0, *)
    func prediction(
        input: SceneInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> SceneOutput {
        SceneOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [SceneInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [SceneOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { SceneOutput(features: batch.features(at: $0)) }
    }

    func prediction(image: CVPixelBuffer, preview: CVPixelBuffer) throws -> SceneOutput {
        try self.prediction(input: SceneInput(image: image, preview: preview))
    }
}
