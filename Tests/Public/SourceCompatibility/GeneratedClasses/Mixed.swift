// Source in the form of the class that Xcode generates for a model: one input of each kind, two optional.

import CoreML

/// Model Prediction Input Type
@available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
class MixedInput: MLFeatureProvider, @unchecked Sendable {
    /// image as color (kCVPixelFormatType_32BGRA) image buffer, 224 pixels wide by 224 pixels high
    var image: CVPixelBuffer
    /// tokens as 1 by 16 matrix of 32-bit integers
    var tokens: MLMultiArray
    /// weights as dictionary of strings to doubles
    var weights: [String: Double]
    /// codes as dictionary of 64-bit integers to doubles
    var codes: [Int64: Double]
    /// iouThreshold as optional double value
    var iouThreshold: Double?
    /// title as optional string value
    var title: String?

    var featureNames: Set<String> { ["image", "tokens", "weights", "codes", "iouThreshold", "title"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        if featureName == "image" {
            return MLFeatureValue(pixelBuffer: image)
        }
        if featureName == "tokens" {
            return MLFeatureValue(multiArray: tokens)
        }
        if featureName == "weights" {
            return try! MLFeatureValue(dictionary: weights as [AnyHashable: NSNumber])
        }
        if featureName == "codes" {
            return try! MLFeatureValue(dictionary: codes as [AnyHashable: NSNumber])
        }
        if featureName == "iouThreshold" {
            return iouThreshold == nil ? nil : MLFeatureValue(double: iouThreshold!)
        }
        if featureName == "title" {
            return title == nil ? nil : MLFeatureValue(string: title!)
        }
        return nil
    }

    init(
        image: CVPixelBuffer,
        tokens: MLMultiArray,
        weights: [String: Double],
        codes: [Int64: Double],
        iouThreshold: Double? = nil,
        title: String? = nil
    ) {
        self.image = image
        self.tokens = tokens
        self.weights = weights
        self.codes = codes
        self.iouThreshold = iouThreshold
        self.title = title
    }

    convenience init(
        image: CVPixelBuffer,
        tokens: MLShapedArray<Int32>,
        weights: [String: Double],
        codes: [Int64: Double]
    ) {
        self.init(image: image, tokens: MLMultiArray(tokens), weights: weights, codes: codes)
    }

    convenience init(
        imageWith image: CGImage,
        tokens: MLMultiArray,
        weights: [String: Double],
        codes: [Int64: Double]
    ) throws {
        self.init(
            image: try MLFeatureValue(
                cgImage: image,
                pixelsWide: 224,
                pixelsHigh: 224,
                pixelFormatType: kCVPixelFormatType_32ARGB,
                options: nil
            ).imageBufferValue!,
            tokens: tokens,
            weights: weights,
            codes: codes
        )
    }

    convenience init(
        imageAt image: URL,
        tokens: MLMultiArray,
        weights: [String: Double],
        codes: [Int64: Double]
    ) throws {
        self.init(
            image: try MLFeatureValue(
                imageAt: image,
                pixelsWide: 224,
                pixelsHigh: 224,
                pixelFormatType: kCVPixelFormatType_32ARGB,
                options: nil
            ).imageBufferValue!,
            tokens: tokens,
            weights: weights,
            codes: codes
        )
    }

    func setImage(with image: CGImage) throws {
        self.image = try MLFeatureValue(
            cgImage: image,
            pixelsWide: 224,
            pixelsHigh: 224,
            pixelFormatType: kCVPixelFormatType_32ARGB,
            options: nil
        ).imageBufferValue!
    }
}

/// Model Prediction Output Type
@available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
class MixedOutput: MLFeatureProvider, @unchecked Sendable {
    /// Source provided by CoreML
    private let provider: MLFeatureProvider

    var target: String { provider.featureValue(for: "target")!.stringValue }
    var targetProbability: [String: Double] {
        provider.featureValue(for: "targetProbability")!.dictionaryValue as! [String: Double]
    }
    var index: Int64 { provider.featureValue(for: "index")!.int64Value }
    var byCode: [Int64: Double] { provider.featureValue(for: "byCode")!.dictionaryValue as! [Int64: Double] }
    var logits: MLMultiArray { provider.featureValue(for: "logits")!.multiArrayValue! }
    var logitsShapedArray: MLShapedArray<Float> { MLShapedArray<Float>(logits) }
    var mask: CVPixelBuffer { provider.featureValue(for: "mask")!.imageBufferValue! }

    var featureNames: Set<String> { provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        provider.featureValue(for: featureName)
    }

    init(target: String, targetProbability: [String: Double], logits: MLMultiArray) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: [
            "target": MLFeatureValue(string: target),
            "targetProbability": MLFeatureValue(dictionary: targetProbability as [AnyHashable: NSNumber]),
            "logits": MLFeatureValue(multiArray: logits),
        ])
    }

    init(features: MLFeatureProvider) {
        self.provider = features
    }
}

/// Class for model loading and prediction
@available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
class Mixed: @unchecked Sendable {
    let model: MLModel

    /// URL of model assuming it was installed in the same bundle as this class
    class var urlOfModelInThisBundle: URL {
        let bundle = Bundle(for: self)
        return bundle.url(forResource: "Mixed", withExtension: "mlmodelc")!
    }

    init(model: MLModel) {
        self.model = model
    }

    convenience init(configuration: MLModelConfiguration = MLModelConfiguration()) throws {
        try self.init(contentsOf: type(of: self).urlOfModelInThisBundle, configuration: configuration)
    }

    convenience init(contentsOf modelURL: URL) throws {
        try self.init(model: MLModel(contentsOf: modelURL))
    }

    convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws {
        try self.init(model: MLModel(contentsOf: modelURL, configuration: configuration))
    }

    class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Mixed, Error>) -> Void
    ) {
        load(
            contentsOf: self.urlOfModelInThisBundle,
            configuration: configuration,
            completionHandler: handler
        )
    }

    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Mixed {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Mixed, Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            switch result {
            case .failure(let error):
                handler(.failure(error))
            case .success(let model):
                handler(.success(Mixed(model: model)))
            }
        }
    }

    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Mixed {
        let model = try await MLModel.load(contentsOf: modelURL, configuration: configuration)
        return Mixed(model: model)
    }

    func prediction(input: MixedInput) throws -> MixedOutput {
        try prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: MixedInput, options: MLPredictionOptions) throws -> MixedOutput {
        let outFeatures = try model.prediction(from: input, options: options)
        return MixedOutput(features: outFeatures)
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
    func prediction(input: MixedInput, options: MLPredictionOptions = MLPredictionOptions()) async throws -> MixedOutput
    {
        let outFeatures = try await model.prediction(from: input, options: options)
        return MixedOutput(features: outFeatures)
    }

    func predictions(inputs: [MixedInput], options: MLPredictionOptions = MLPredictionOptions()) throws -> [MixedOutput]
    {
        let batchIn = MLArrayBatchProvider(array: inputs)
        let batchOut = try model.predictions(from: batchIn, options: options)
        var results: [MixedOutput] = []
        results.reserveCapacity(inputs.count)
        for i in 0..<batchOut.count {
            let outProvider = batchOut.features(at: i)
            let result = MixedOutput(features: outProvider)
            results.append(result)
        }
        return results
    }
}
