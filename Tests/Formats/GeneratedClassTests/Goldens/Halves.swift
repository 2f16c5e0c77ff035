// Halves.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Halves predicts from.
@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
class HalvesInput: MLFeatureProvider, @unchecked Sendable {
    /// An array of Float16, 2 × 2.
    var halves: MLMultiArray

    /// A picture grey, of half precision, 2 × 2 pixels.
    var depth: CVPixelBuffer

    var featureNames: Set<String> { ["halves", "depth"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "halves": MLFeatureValue(multiArray: self.halves)
        case "depth": MLFeatureValue(pixelBuffer: self.depth)
        default: nil
        }
    }

    init(halves: MLMultiArray, depth: CVPixelBuffer) {
        self.halves = halves
        self.depth = depth
    }

    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    convenience init(halves: MLShapedArray<Float16>, depth: CVPixelBuffer) {
        self.init(halves: MLMultiArray(halves), depth: depth)
    }
    #endif

    /// Brings pictures to the model's size and form.
    convenience init(halves: MLMultiArray, depthWith depth: CGImage) throws {
        self.init(
            halves: halves,
            depth: try MLFeatureValue(cgImage: depth, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent16Half, options: nil).imageBufferValue!
        )
    }

    /// Brings pictures to the model's size and form.
    convenience init(halves: MLMultiArray, depthAt depth: URL) throws {
        self.init(
            halves: halves,
            depth: try MLFeatureValue(imageAt: depth, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent16Half, options: nil).imageBufferValue!
        )
    }

    /// Brings a picture to the model's size and form.
    func setDepth(with depth: CGImage) throws {
        self.depth = try MLFeatureValue(cgImage: depth, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent16Half, options: nil).imageBufferValue!
    }

    /// Brings a picture to the model's size and form.
    func setDepth(with depth: URL) throws {
        self.depth = try MLFeatureValue(imageAt: depth, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent16Half, options: nil).imageBufferValue!
    }
}

/// What Halves predicted.
@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
class HalvesOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// An array of Float16, 2 × 2.
    var halves: MLMultiArray { self.provider.featureValue(for: "halves")!.multiArrayValue! }

    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    /// An array of Float16, 2 × 2.
    var halvesShapedArray: MLShapedArray<Float16> { MLShapedArray<Float16>(self.halves) }
    #endif

    /// A picture grey, of half precision, 2 × 2 pixels.
    var depth: CVPixelBuffer { self.provider.featureValue(for: "depth")!.imageBufferValue! }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(halves: MLMultiArray, depth: CVPixelBuffer) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: [
            "halves": MLFeatureValue(multiArray: halves),
            "depth": MLFeatureValue(pixelBuffer: depth)
        ])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Halves.
@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
class Halves: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Halves", withExtension: "mlmodelc")!
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
        completionHandler handler: @escaping (Swift.Result<Halves, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Halves {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Halves, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Halves(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Halves {
        Halves(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: HalvesInput) throws -> HalvesOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: HalvesInput, options: MLPredictionOptions) throws -> HalvesOutput {
        HalvesOutput(features: try self.model.prediction(from: input, options: options))
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
    func prediction(
        input: HalvesInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> HalvesOutput {
        HalvesOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [HalvesInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [HalvesOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { HalvesOutput(features: batch.features(at: $0)) }
    }

    func prediction(halves: MLMultiArray, depth: CVPixelBuffer) throws -> HalvesOutput {
        try self.prediction(input: HalvesInput(halves: halves, depth: depth))
    }

    #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    func prediction(halves: MLShapedArray<Float16>, depth: CVPixelBuffer) throws -> HalvesOutput {
        try self.prediction(input: HalvesInput(halves: MLMultiArray(halves), depth: depth))
    }
    #endif
}
