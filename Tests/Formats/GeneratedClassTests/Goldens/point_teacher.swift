// point-teacher.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What point_teacher predicts from.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class point_teacherInput: MLFeatureProvider, @unchecked Sendable {
    /// An array of Float, 2.
    var x: MLMultiArray

    var featureNames: Set<String> { ["x"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "x": MLFeatureValue(multiArray: self.x)
        default: nil
        }
    }

    init(x: MLMultiArray) {
        self.x = x
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    convenience init(x: MLShapedArray<Float>) {
        self.init(x: MLMultiArray(x))
    }
}

/// What point_teacher predicted.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class point_teacherOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// Numbers by text.
    var probabilities: [String: Double] { self.provider.featureValue(for: "probabilities")!.dictionaryValue as! [String: Double] }

    /// A text.
    var label: String { self.provider.featureValue(for: "label")!.stringValue }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(probabilities: [String: Double], label: String) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: [
            "probabilities": try! MLFeatureValue(dictionary: probabilities as [AnyHashable: NSNumber]),
            "label": MLFeatureValue(string: label)
        ])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// An example that point_teacher learns from.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class point_teacherTrainingInput: MLFeatureProvider, @unchecked Sendable {
    /// An array of Float, 2.
    var x: MLMultiArray

    /// A text.
    var label: String

    var featureNames: Set<String> { ["x", "label"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "x": MLFeatureValue(multiArray: self.x)
        case "label": MLFeatureValue(string: self.label)
        default: nil
        }
    }

    init(x: MLMultiArray, label: String) {
        self.x = x
        self.label = label
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    convenience init(x: MLShapedArray<Float>, label: String) {
        self.init(x: MLMultiArray(x), label: label)
    }
}

/// The model point-teacher.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
class point_teacher: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "point-teacher", withExtension: "mlmodelc")!
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
        completionHandler handler: @escaping (Swift.Result<point_teacher, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> point_teacher {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<point_teacher, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { point_teacher(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> point_teacher {
        point_teacher(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: point_teacherInput) throws -> point_teacherOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: point_teacherInput, options: MLPredictionOptions) throws -> point_teacherOutput {
        point_teacherOutput(features: try self.model.prediction(from: input, options: options))
    }

    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
    func prediction(
        input: point_teacherInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> point_teacherOutput {
        point_teacherOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [point_teacherInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [point_teacherOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { point_teacherOutput(features: batch.features(at: $0)) }
    }

    func prediction(x: MLMultiArray) throws -> point_teacherOutput {
        try self.prediction(input: point_teacherInput(x: x))
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    func prediction(x: MLShapedArray<Float>) throws -> point_teacherOutput {
        try self.prediction(input: point_teacherInput(x: MLMultiArray(x)))
    }
}
