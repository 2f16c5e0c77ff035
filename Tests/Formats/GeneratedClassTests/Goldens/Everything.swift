// Everything.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Everything predicts from.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class EverythingInput: MLFeatureProvider, @unchecked Sendable {
    /// How many there are.
    ///
    /// An integer.
    var count: Int64

    /// A number.
    var ratio: Double

    /// A text.
    var title: String

    /// A picture in colour, 4 × 3 pixels.
    var photo: CVPixelBuffer

    /// A picture grey, 2 × 2 pixels.
    var mask: CVPixelBuffer

    /// An array of Double, 2.
    var doubles: MLMultiArray

    /// An array of Float, 1 × 2.
    var floats: MLMultiArray

    /// An array of Int32, 3.
    var integers: MLMultiArray

    /// Numbers by text.
    var shares: [String: Double]

    /// Numbers by integer.
    var votes: [Int64: Double]

    /// A list of texts.
    var words: [String]

    /// A list of integers.
    var codes: [Int64]

    var featureNames: Set<String> { [
        "count",
        "ratio",
        "title",
        "photo",
        "mask",
        "doubles",
        "floats",
        "integers",
        "shares",
        "votes",
        "words",
        "codes"
    ] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "count": MLFeatureValue(int64: self.count)
        case "ratio": MLFeatureValue(double: self.ratio)
        case "title": MLFeatureValue(string: self.title)
        case "photo": MLFeatureValue(pixelBuffer: self.photo)
        case "mask": MLFeatureValue(pixelBuffer: self.mask)
        case "doubles": MLFeatureValue(multiArray: self.doubles)
        case "floats": MLFeatureValue(multiArray: self.floats)
        case "integers": MLFeatureValue(multiArray: self.integers)
        case "shares": try! MLFeatureValue(dictionary: self.shares as [AnyHashable: NSNumber])
        case "votes": try! MLFeatureValue(dictionary: self.votes as [AnyHashable: NSNumber])
        case "words": MLFeatureValue(sequence: MLSequence(strings: self.words))
        case "codes": MLFeatureValue(sequence: MLSequence(int64s: self.codes.map(NSNumber.init(value:))))
        default: nil
        }
    }

    init(
        count: Int64,
        ratio: Double,
        title: String,
        photo: CVPixelBuffer,
        mask: CVPixelBuffer,
        doubles: MLMultiArray,
        floats: MLMultiArray,
        integers: MLMultiArray,
        shares: [String: Double],
        votes: [Int64: Double],
        words: [String],
        codes: [Int64]
    ) {
        self.count = count
        self.ratio = ratio
        self.title = title
        self.photo = photo
        self.mask = mask
        self.doubles = doubles
        self.floats = floats
        self.integers = integers
        self.shares = shares
        self.votes = votes
        self.words = words
        self.codes = codes
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    convenience init(
        count: Int64,
        ratio: Double,
        title: String,
        photo: CVPixelBuffer,
        mask: CVPixelBuffer,
        doubles: MLShapedArray<Double>,
        floats: MLShapedArray<Float>,
        integers: MLShapedArray<Int32>,
        shares: [String: Double],
        votes: [Int64: Double],
        words: [String],
        codes: [Int64]
    ) {
        self.init(
            count: count,
            ratio: ratio,
            title: title,
            photo: photo,
            mask: mask,
            doubles: MLMultiArray(doubles),
            floats: MLMultiArray(floats),
            integers: MLMultiArray(integers),
            shares: shares,
            votes: votes,
            words: words,
            codes: codes
        )
    }

    /// Brings pictures to the model's size and form.
    convenience init(
        count: Int64,
        ratio: Double,
        title: String,
        photoWith photo: CGImage,
        maskWith mask: CGImage,
        doubles: MLMultiArray,
        floats: MLMultiArray,
        integers: MLMultiArray,
        shares: [String: Double],
        votes: [Int64: Double],
        words: [String],
        codes: [Int64]
    ) throws {
        self.init(
            count: count,
            ratio: ratio,
            title: title,
            photo: try MLFeatureValue(cgImage: photo, pixelsWide: 4, pixelsHigh: 3, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue!,
            mask: try MLFeatureValue(cgImage: mask, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue!,
            doubles: doubles,
            floats: floats,
            integers: integers,
            shares: shares,
            votes: votes,
            words: words,
            codes: codes
        )
    }

    /// Brings pictures to the model's size and form.
    convenience init(
        count: Int64,
        ratio: Double,
        title: String,
        photoAt photo: URL,
        maskAt mask: URL,
        doubles: MLMultiArray,
        floats: MLMultiArray,
        integers: MLMultiArray,
        shares: [String: Double],
        votes: [Int64: Double],
        words: [String],
        codes: [Int64]
    ) throws {
        self.init(
            count: count,
            ratio: ratio,
            title: title,
            photo: try MLFeatureValue(imageAt: photo, pixelsWide: 4, pixelsHigh: 3, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue!,
            mask: try MLFeatureValue(imageAt: mask, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue!,
            doubles: doubles,
            floats: floats,
            integers: integers,
            shares: shares,
            votes: votes,
            words: words,
            codes: codes
        )
    }

    /// Brings a picture to the model's size and form.
    func setPhoto(with photo: CGImage) throws {
        self.photo = try MLFeatureValue(cgImage: photo, pixelsWide: 4, pixelsHigh: 3, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue!
    }

    /// Brings a picture to the model's size and form.
    func setPhoto(with photo: URL) throws {
        self.photo = try MLFeatureValue(imageAt: photo, pixelsWide: 4, pixelsHigh: 3, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue!
    }

    /// Brings a picture to the model's size and form.
    func setMask(with mask: CGImage) throws {
        self.mask = try MLFeatureValue(cgImage: mask, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue!
    }

    /// Brings a picture to the model's size and form.
    func setMask(with mask: URL) throws {
        self.mask = try MLFeatureValue(imageAt: mask, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue!
    }
}

/// What Everything predicted.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class EverythingOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// How many there are.
    ///
    /// An integer.
    var count: Int64 { self.provider.featureValue(for: "count")!.int64Value }

    /// A number.
    var ratio: Double { self.provider.featureValue(for: "ratio")!.doubleValue }

    /// A text.
    var title: String { self.provider.featureValue(for: "title")!.stringValue }

    /// A picture in colour, 4 × 3 pixels.
    var photo: CVPixelBuffer { self.provider.featureValue(for: "photo")!.imageBufferValue! }

    /// A picture grey, 2 × 2 pixels.
    var mask: CVPixelBuffer { self.provider.featureValue(for: "mask")!.imageBufferValue! }

    /// An array of Double, 2.
    var doubles: MLMultiArray { self.provider.featureValue(for: "doubles")!.multiArrayValue! }

    /// An array of Double, 2.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    var doublesShapedArray: MLShapedArray<Double> { MLShapedArray<Double>(self.doubles) }

    /// An array of Float, 1 × 2.
    var floats: MLMultiArray { self.provider.featureValue(for: "floats")!.multiArrayValue! }

    /// An array of Float, 1 × 2.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    var floatsShapedArray: MLShapedArray<Float> { MLShapedArray<Float>(self.floats) }

    /// An array of Int32, 3.
    var integers: MLMultiArray { self.provider.featureValue(for: "integers")!.multiArrayValue! }

    /// An array of Int32, 3.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    var integersShapedArray: MLShapedArray<Int32> { MLShapedArray<Int32>(self.integers) }

    /// Numbers by text.
    var shares: [String: Double] { self.provider.featureValue(for: "shares")!.dictionaryValue as! [String: Double] }

    /// Numbers by integer.
    var votes: [Int64: Double] { self.provider.featureValue(for: "votes")!.dictionaryValue as! [Int64: Double] }

    /// A list of texts.
    var words: [String] { self.provider.featureValue(for: "words")!.sequenceValue!.stringValues }

    /// A list of integers.
    var codes: [Int64] { self.provider.featureValue(for: "codes")!.sequenceValue!.int64Values.map { $0.int64Value } }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(
        count: Int64,
        ratio: Double,
        title: String,
        photo: CVPixelBuffer,
        mask: CVPixelBuffer,
        doubles: MLMultiArray,
        floats: MLMultiArray,
        integers: MLMultiArray,
        shares: [String: Double],
        votes: [Int64: Double],
        words: [String],
        codes: [Int64]
    ) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: [
            "count": MLFeatureValue(int64: count),
            "ratio": MLFeatureValue(double: ratio),
            "title": MLFeatureValue(string: title),
            "photo": MLFeatureValue(pixelBuffer: photo),
            "mask": MLFeatureValue(pixelBuffer: mask),
            "doubles": MLFeatureValue(multiArray: doubles),
            "floats": MLFeatureValue(multiArray: floats),
            "integers": MLFeatureValue(multiArray: integers),
            "shares": try! MLFeatureValue(dictionary: shares as [AnyHashable: NSNumber]),
            "votes": try! MLFeatureValue(dictionary: votes as [AnyHashable: NSNumber]),
            "words": MLFeatureValue(sequence: MLSequence(strings: words)),
            "codes": MLFeatureValue(sequence: MLSequence(int64s: codes.map(NSNumber.init(value:))))
        ])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// Gives back what it gets.
///
/// Of every type one.
///
/// The model Everything.
///
/// Author: The tests
///
/// Licence: Apache-2.0
///
/// Version: 1.2
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class Everything: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Everything", withExtension: "mlmodelc")!
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
        completionHandler handler: @escaping (Swift.Result<Everything, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Everything {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Everything, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Everything(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Everything {
        Everything(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: EverythingInput) throws -> EverythingOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: EverythingInput, options: MLPredictionOptions) throws -> EverythingOutput {
        EverythingOutput(features: try self.model.prediction(from: input, options: options))
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
    func prediction(
        input: EverythingInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> EverythingOutput {
        EverythingOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [EverythingInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [EverythingOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { EverythingOutput(features: batch.features(at: $0)) }
    }

    func prediction(
        count: Int64,
        ratio: Double,
        title: String,
        photo: CVPixelBuffer,
        mask: CVPixelBuffer,
        doubles: MLMultiArray,
        floats: MLMultiArray,
        integers: MLMultiArray,
        shares: [String: Double],
        votes: [Int64: Double],
        words: [String],
        codes: [Int64]
    ) throws -> EverythingOutput {
        try self.prediction(input: EverythingInput(
            count: count,
            ratio: ratio,
            title: title,
            photo: photo,
            mask: mask,
            doubles: doubles,
            floats: floats,
            integers: integers,
            shares: shares,
            votes: votes,
            words: words,
            codes: codes
        ))
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    func prediction(
        count: Int64,
        ratio: Double,
        title: String,
        photo: CVPixelBuffer,
        mask: CVPixelBuffer,
        doubles: MLShapedArray<Double>,
        floats: MLShapedArray<Float>,
        integers: MLShapedArray<Int32>,
        shares: [String: Double],
        votes: [Int64: Double],
        words: [String],
        codes: [Int64]
    ) throws -> EverythingOutput {
        try self.prediction(input: EverythingInput(
            count: count,
            ratio: ratio,
            title: title,
            photo: photo,
            mask: mask,
            doubles: MLMultiArray(doubles),
            floats: MLMultiArray(floats),
            integers: MLMultiArray(integers),
            shares: shares,
            votes: votes,
            words: words,
            codes: codes
        ))
    }
}
