// Choices.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Choices predicts from.
@available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
class ChoicesInput: MLFeatureProvider, @unchecked Sendable {
    /// How many there are.
    ///
    /// An integer, optional.
    var count: Int64? = nil

    /// A number, optional.
    var ratio: Double? = nil

    /// A text, optional.
    var title: String? = nil

    /// A picture in colour, 4 × 3 pixels, optional.
    var photo: CVPixelBuffer? = nil

    /// A picture grey, 2 × 2 pixels, optional.
    var mask: CVPixelBuffer? = nil

    /// An array of Double, 2, optional.
    var doubles: MLMultiArray? = nil

    /// An array of Float, 1 × 2, optional.
    var floats: MLMultiArray? = nil

    /// An array of Int32, 3, optional.
    var integers: MLMultiArray? = nil

    /// Numbers by text, optional.
    var shares: [String: Double]? = nil

    /// Numbers by integer, optional.
    var votes: [Int64: Double]? = nil

    /// A list of texts, optional.
    var words: [String]? = nil

    /// A list of integers, optional.
    var codes: [Int64]? = nil

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
        case "count": self.count.map { MLFeatureValue(int64: $0) }
        case "ratio": self.ratio.map { MLFeatureValue(double: $0) }
        case "title": self.title.map { MLFeatureValue(string: $0) }
        case "photo": self.photo.map { MLFeatureValue(pixelBuffer: $0) }
        case "mask": self.mask.map { MLFeatureValue(pixelBuffer: $0) }
        case "doubles": self.doubles.map { MLFeatureValue(multiArray: $0) }
        case "floats": self.floats.map { MLFeatureValue(multiArray: $0) }
        case "integers": self.integers.map { MLFeatureValue(multiArray: $0) }
        case "shares": self.shares.map { try! MLFeatureValue(dictionary: $0 as [AnyHashable: NSNumber]) }
        case "votes": self.votes.map { try! MLFeatureValue(dictionary: $0 as [AnyHashable: NSNumber]) }
        case "words": self.words.map { MLFeatureValue(sequence: MLSequence(strings: $0)) }
        case "codes": self.codes.map { MLFeatureValue(sequence: MLSequence(int64s: $0.map(NSNumber.init(value:)))) }
        default: nil
        }
    }

    init(
        count: Int64? = nil,
        ratio: Double? = nil,
        title: String? = nil,
        photo: CVPixelBuffer? = nil,
        mask: CVPixelBuffer? = nil,
        doubles: MLMultiArray? = nil,
        floats: MLMultiArray? = nil,
        integers: MLMultiArray? = nil,
        shares: [String: Double]? = nil,
        votes: [Int64: Double]? = nil,
        words: [String]? = nil,
        codes: [Int64]? = nil
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

    convenience init(
        count: Int64? = nil,
        ratio: Double? = nil,
        title: String? = nil,
        photo: CVPixelBuffer? = nil,
        mask: CVPixelBuffer? = nil,
        doubles: MLShapedArray<Double>?,
        floats: MLShapedArray<Float>?,
        integers: MLShapedArray<Int32>?,
        shares: [String: Double]? = nil,
        votes: [Int64: Double]? = nil,
        words: [String]? = nil,
        codes: [Int64]? = nil
    ) {
        self.init(
            count: count,
            ratio: ratio,
            title: title,
            photo: photo,
            mask: mask,
            doubles: doubles.map { MLMultiArray($0) },
            floats: floats.map { MLMultiArray($0) },
            integers: integers.map { MLMultiArray($0) },
            shares: shares,
            votes: votes,
            words: words,
            codes: codes
        )
    }

    /// Brings pictures to the model's size and form.
    convenience init(
        count: Int64? = nil,
        ratio: Double? = nil,
        title: String? = nil,
        photoWith photo: CGImage?,
        maskWith mask: CGImage?,
        doubles: MLMultiArray? = nil,
        floats: MLMultiArray? = nil,
        integers: MLMultiArray? = nil,
        shares: [String: Double]? = nil,
        votes: [Int64: Double]? = nil,
        words: [String]? = nil,
        codes: [Int64]? = nil
    ) throws {
        self.init(
            count: count,
            ratio: ratio,
            title: title,
            photo: try photo.map { try MLFeatureValue(cgImage: $0, pixelsWide: 4, pixelsHigh: 3, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue! },
            mask: try mask.map { try MLFeatureValue(cgImage: $0, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue! },
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
        count: Int64? = nil,
        ratio: Double? = nil,
        title: String? = nil,
        photoAt photo: URL?,
        maskAt mask: URL?,
        doubles: MLMultiArray? = nil,
        floats: MLMultiArray? = nil,
        integers: MLMultiArray? = nil,
        shares: [String: Double]? = nil,
        votes: [Int64: Double]? = nil,
        words: [String]? = nil,
        codes: [Int64]? = nil
    ) throws {
        self.init(
            count: count,
            ratio: ratio,
            title: title,
            photo: try photo.map { try MLFeatureValue(imageAt: $0, pixelsWide: 4, pixelsHigh: 3, pixelFormatType: kCVPixelFormatType_32ARGB, options: nil).imageBufferValue! },
            mask: try mask.map { try MLFeatureValue(imageAt: $0, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_OneComponent8, options: nil).imageBufferValue! },
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

/// What Choices predicted.
@available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
class ChoicesOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// How many there are.
    ///
    /// An integer, optional.
    var count: Int64? { self.provider.featureValue(for: "count")?.int64Value }

    /// A number, optional.
    var ratio: Double? { self.provider.featureValue(for: "ratio")?.doubleValue }

    /// A text, optional.
    var title: String? { self.provider.featureValue(for: "title")?.stringValue }

    /// A picture in colour, 4 × 3 pixels, optional.
    var photo: CVPixelBuffer? { self.provider.featureValue(for: "photo")?.imageBufferValue }

    /// A picture grey, 2 × 2 pixels, optional.
    var mask: CVPixelBuffer? { self.provider.featureValue(for: "mask")?.imageBufferValue }

    /// An array of Double, 2, optional.
    var doubles: MLMultiArray? { self.provider.featureValue(for: "doubles")?.multiArrayValue }

    /// An array of Double, 2, optional.
    var doublesShapedArray: MLShapedArray<Double>? { self.doubles.map { MLShapedArray<Double>($0) } }

    /// An array of Float, 1 × 2, optional.
    var floats: MLMultiArray? { self.provider.featureValue(for: "floats")?.multiArrayValue }

    /// An array of Float, 1 × 2, optional.
    var floatsShapedArray: MLShapedArray<Float>? { self.floats.map { MLShapedArray<Float>($0) } }

    /// An array of Int32, 3, optional.
    var integers: MLMultiArray? { self.provider.featureValue(for: "integers")?.multiArrayValue }

    /// An array of Int32, 3, optional.
    var integersShapedArray: MLShapedArray<Int32>? { self.integers.map { MLShapedArray<Int32>($0) } }

    /// Numbers by text, optional.
    var shares: [String: Double]? { self.provider.featureValue(for: "shares")?.dictionaryValue as? [String: Double] }

    /// Numbers by integer, optional.
    var votes: [Int64: Double]? { self.provider.featureValue(for: "votes")?.dictionaryValue as? [Int64: Double] }

    /// A list of texts, optional.
    var words: [String]? { self.provider.featureValue(for: "words")?.sequenceValue?.stringValues }

    /// A list of integers, optional.
    var codes: [Int64]? { self.provider.featureValue(for: "codes")?.sequenceValue?.int64Values.map { $0.int64Value } }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(
        count: Int64? = nil,
        ratio: Double? = nil,
        title: String? = nil,
        photo: CVPixelBuffer? = nil,
        mask: CVPixelBuffer? = nil,
        doubles: MLMultiArray? = nil,
        floats: MLMultiArray? = nil,
        integers: MLMultiArray? = nil,
        shares: [String: Double]? = nil,
        votes: [Int64: Double]? = nil,
        words: [String]? = nil,
        codes: [Int64]? = nil
    ) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: ([
            "count": count.map { MLFeatureValue(int64: $0) },
            "ratio": ratio.map { MLFeatureValue(double: $0) },
            "title": title.map { MLFeatureValue(string: $0) },
            "photo": photo.map { MLFeatureValue(pixelBuffer: $0) },
            "mask": mask.map { MLFeatureValue(pixelBuffer: $0) },
            "doubles": doubles.map { MLFeatureValue(multiArray: $0) },
            "floats": floats.map { MLFeatureValue(multiArray: $0) },
            "integers": integers.map { MLFeatureValue(multiArray: $0) },
            "shares": shares.map { try! MLFeatureValue(dictionary: $0 as [AnyHashable: NSNumber]) },
            "votes": votes.map { try! MLFeatureValue(dictionary: $0 as [AnyHashable: NSNumber]) },
            "words": words.map { MLFeatureValue(sequence: MLSequence(strings: $0)) },
            "codes": codes.map { MLFeatureValue(sequence: MLSequence(int64s: $0.map(NSNumber.init(value:)))) }
        ] as [String: MLFeatureValue?]).compactMapValues { $0 })
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Choices.
@available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
class Choices: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Choices", withExtension: "mlmodelc")!
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
        completionHandler handler: @escaping (Swift.Result<Choices, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Choices {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Choices, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Choices(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Choices {
        Choices(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: ChoicesInput) throws -> ChoicesOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: ChoicesInput, options: MLPredictionOptions) throws -> ChoicesOutput {
        ChoicesOutput(features: try self.model.prediction(from: input, options: options))
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
    func prediction(
        input: ChoicesInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> ChoicesOutput {
        ChoicesOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [ChoicesInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [ChoicesOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { ChoicesOutput(features: batch.features(at: $0)) }
    }

    func prediction(
        count: Int64? = nil,
        ratio: Double? = nil,
        title: String? = nil,
        photo: CVPixelBuffer? = nil,
        mask: CVPixelBuffer? = nil,
        doubles: MLMultiArray? = nil,
        floats: MLMultiArray? = nil,
        integers: MLMultiArray? = nil,
        shares: [String: Double]? = nil,
        votes: [Int64: Double]? = nil,
        words: [String]? = nil,
        codes: [Int64]? = nil
    ) throws -> ChoicesOutput {
        try self.prediction(input: ChoicesInput(
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

    func prediction(
        count: Int64? = nil,
        ratio: Double? = nil,
        title: String? = nil,
        photo: CVPixelBuffer? = nil,
        mask: CVPixelBuffer? = nil,
        doubles: MLShapedArray<Double>?,
        floats: MLShapedArray<Float>?,
        integers: MLShapedArray<Int32>?,
        shares: [String: Double]? = nil,
        votes: [Int64: Double]? = nil,
        words: [String]? = nil,
        codes: [Int64]? = nil
    ) throws -> ChoicesOutput {
        try self.prediction(input: ChoicesInput(
            count: count,
            ratio: ratio,
            title: title,
            photo: photo,
            mask: mask,
            doubles: doubles.map { MLMultiArray($0) },
            floats: floats.map { MLMultiArray($0) },
            integers: integers.map { MLMultiArray($0) },
            shares: shares,
            votes: votes,
            words: words,
            codes: codes
        ))
    }
}
