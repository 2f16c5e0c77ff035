// Digits.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Digits predicts from.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class DigitsInput: MLFeatureProvider, @unchecked Sendable {
    /// A grey picture of one digit, white ink on black
    ///
    /// A picture grey, 28 × 28 pixels.
    var image: CVPixelBuffer

    var featureNames: Set<String> { ["image"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "image": MLFeatureValue(pixelBuffer: self.image)
        default: nil
        }
    }

    init(image: CVPixelBuffer) {
        self.image = image
    }

    /// Brings pictures to the model's size and form.
    convenience init(imageWith image: CGImage) throws {
        self.init(
            image: try MLFeatureValue(cgImage: image, pixelsWide: 28, pixelsHigh: 28, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue!
        )
    }

    /// Brings pictures to the model's size and form.
    convenience init(imageAt image: URL) throws {
        self.init(
            image: try MLFeatureValue(imageAt: image, pixelsWide: 28, pixelsHigh: 28, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue!
        )
    }

    /// Brings a picture to the model's size and form.
    func setImage(with image: CGImage) throws {
        self.image = try MLFeatureValue(cgImage: image, pixelsWide: 28, pixelsHigh: 28, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue!
    }

    /// Brings a picture to the model's size and form.
    func setImage(with image: URL) throws {
        self.image = try MLFeatureValue(imageAt: image, pixelsWide: 28, pixelsHigh: 28, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue!
    }
}

/// What Digits predicted.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class DigitsOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// Numbers by text.
    var probabilities: [String: Double] { self.provider.featureValue(for: "probabilities")!.dictionaryValue as! [String: Double] }

    /// The most likely digit
    ///
    /// A text.
    var digit: String { self.provider.featureValue(for: "digit")!.stringValue }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(probabilities: [String: Double], digit: String) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: [
            "probabilities": try! MLFeatureValue(dictionary: probabilities as [AnyHashable: NSNumber]),
            "digit": MLFeatureValue(string: digit)
        ])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// Recognises a handwritten digit. 99.6% right on 450 held-out scans of scikit-learn's digits.
///
/// The model Digits.
///
/// Author: The swift-coreml authors
///
/// Licence: Apache-2.0
///
/// Version: 1.0
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class Digits: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Digits", withExtension: "mlmodelc")!
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
        completionHandler handler: @escaping (Swift.Result<Digits, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Digits {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Digits, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Digits(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Digits {
        Digits(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: DigitsInput) throws -> DigitsOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: DigitsInput, options: MLPredictionOptions) throws -> DigitsOutput {
        DigitsOutput(features: try self.model.prediction(from: input, options: options))
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
    func prediction(
        input: DigitsInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> DigitsOutput {
        DigitsOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [DigitsInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [DigitsOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { DigitsOutput(features: batch.features(at: $0)) }
    }

    func prediction(image: CVPixelBuffer) throws -> DigitsOutput {
        try self.prediction(input: DigitsInput(image: image))
    }
}
