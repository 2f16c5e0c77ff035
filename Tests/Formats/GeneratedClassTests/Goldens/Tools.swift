// Tools.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

import CoreML

/// What Tools predicts from.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class ToolsInput: MLFeatureProvider, @unchecked Sendable {
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

    convenience init(x: MLShapedArray<Float>) {
        self.init(x: MLMultiArray(x))
    }
}

/// What Tools predicted.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class ToolsOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// An array of Float, 2.
    var y: MLMultiArray { self.provider.featureValue(for: "y")!.multiArrayValue! }

    /// An array of Float, 2.
    var yShapedArray: MLShapedArray<Float> { MLShapedArray<Float>(self.y) }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(y: MLMultiArray) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: ["y": MLFeatureValue(multiArray: y)])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Tools.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class Tools: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Tools", withExtension: "mlmodelc")!
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
        completionHandler handler: @escaping (Swift.Result<Tools, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Tools {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Tools, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Tools(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Tools {
        Tools(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    func prediction(input: ToolsInput) throws -> ToolsOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: ToolsInput, options: MLPredictionOptions) throws -> ToolsOutput {
        ToolsOutput(features: try self.model.prediction(from: input, options: options))
    }

    func prediction(
        input: ToolsInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> ToolsOutput {
        ToolsOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [ToolsInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [ToolsOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { ToolsOutput(features: batch.features(at: $0)) }
    }

    func prediction(x: MLMultiArray) throws -> ToolsOutput {
        try self.prediction(input: ToolsInput(x: x))
    }

    func prediction(x: MLShapedArray<Float>) throws -> ToolsOutput {
        try self.prediction(input: ToolsInput(x: MLMultiArray(x)))
    }
}

/// What ToolsInput_ predicts from.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class ToolsInput_Input: MLFeatureProvider, @unchecked Sendable {
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

    convenience init(x: MLShapedArray<Float>) {
        self.init(x: MLMultiArray(x))
    }
}

/// What ToolsInput_ predicted.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class ToolsInput_Output: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// An array of Float, 2.
    var y: MLMultiArray { self.provider.featureValue(for: "y")!.multiArrayValue! }

    /// An array of Float, 2.
    var yShapedArray: MLShapedArray<Float> { MLShapedArray<Float>(self.y) }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(y: MLMultiArray) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: ["y": MLFeatureValue(multiArray: y)])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Tools, its function input.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class ToolsInput_: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Tools", withExtension: "mlmodelc")!
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
        try self.init(contentsOf: modelURL, configuration: MLModelConfiguration())
    }

    /// Loads the model that lies at `modelURL`.
    convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws {
        try self.init(model: MLModel(contentsOf: modelURL, configuration: ToolsInput_.ofFunction(configuration)))
    }

    /// The configuration with the function that this class asks.
    private class func ofFunction(_ configuration: MLModelConfiguration) -> MLModelConfiguration {
        let copy = configuration.copy() as! MLModelConfiguration
        copy.functionName = "input"
        return copy
    }

    /// Loads the model from the bundle.
    class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<ToolsInput_, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> ToolsInput_ {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<ToolsInput_, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: ToolsInput_.ofFunction(configuration)) { result in
            handler(result.map { ToolsInput_(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> ToolsInput_ {
        ToolsInput_(model: try await MLModel.load(contentsOf: modelURL, configuration: ToolsInput_.ofFunction(configuration)))
    }

    func prediction(input: ToolsInput_Input) throws -> ToolsInput_Output {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: ToolsInput_Input, options: MLPredictionOptions) throws -> ToolsInput_Output {
        ToolsInput_Output(features: try self.model.prediction(from: input, options: options))
    }

    func prediction(
        input: ToolsInput_Input,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> ToolsInput_Output {
        ToolsInput_Output(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [ToolsInput_Input],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [ToolsInput_Output] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { ToolsInput_Output(features: batch.features(at: $0)) }
    }

    func prediction(x: MLMultiArray) throws -> ToolsInput_Output {
        try self.prediction(input: ToolsInput_Input(x: x))
    }

    func prediction(x: MLShapedArray<Float>) throws -> ToolsInput_Output {
        try self.prediction(input: ToolsInput_Input(x: MLMultiArray(x)))
    }
}

/// What ToolsLabel predicts from.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class ToolsLabelInput: MLFeatureProvider, @unchecked Sendable {
    /// An array of Float, 3.
    var p: MLMultiArray

    var featureNames: Set<String> { ["p"] }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "p": MLFeatureValue(multiArray: self.p)
        default: nil
        }
    }

    init(p: MLMultiArray) {
        self.p = p
    }

    convenience init(p: MLShapedArray<Float>) {
        self.init(p: MLMultiArray(p))
    }
}

/// What ToolsLabel predicted.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class ToolsLabelOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// A text.
    var best: String { self.provider.featureValue(for: "best")!.stringValue }

    /// Numbers by text.
    var all: [String: Double] { self.provider.featureValue(for: "all")!.dictionaryValue as! [String: Double] }

    var featureNames: Set<String> { self.provider.featureNames }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    init(best: String, all: [String: Double]) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: [
            "best": MLFeatureValue(string: best),
            "all": try! MLFeatureValue(dictionary: all as [AnyHashable: NSNumber])
        ])
    }

    init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// The model Tools, its function label.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
class ToolsLabel: @unchecked Sendable {
    let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Tools", withExtension: "mlmodelc")!
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
        try self.init(contentsOf: modelURL, configuration: MLModelConfiguration())
    }

    /// Loads the model that lies at `modelURL`.
    convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws {
        try self.init(model: MLModel(contentsOf: modelURL, configuration: ToolsLabel.ofFunction(configuration)))
    }

    /// The configuration with the function that this class asks.
    private class func ofFunction(_ configuration: MLModelConfiguration) -> MLModelConfiguration {
        let copy = configuration.copy() as! MLModelConfiguration
        copy.functionName = "label"
        return copy
    }

    /// Loads the model from the bundle.
    class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<ToolsLabel, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> ToolsLabel {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<ToolsLabel, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: ToolsLabel.ofFunction(configuration)) { result in
            handler(result.map { ToolsLabel(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> ToolsLabel {
        ToolsLabel(model: try await MLModel.load(contentsOf: modelURL, configuration: ToolsLabel.ofFunction(configuration)))
    }

    func prediction(input: ToolsLabelInput) throws -> ToolsLabelOutput {
        try self.prediction(input: input, options: MLPredictionOptions())
    }

    func prediction(input: ToolsLabelInput, options: MLPredictionOptions) throws -> ToolsLabelOutput {
        ToolsLabelOutput(features: try self.model.prediction(from: input, options: options))
    }

    func prediction(
        input: ToolsLabelInput,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> ToolsLabelOutput {
        ToolsLabelOutput(features: try await self.model.prediction(from: input, options: options))
    }

    /// Predicts from several inputs, at once where the model can.
    func predictions(
        inputs: [ToolsLabelInput],
        options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> [ToolsLabelOutput] {
        let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { ToolsLabelOutput(features: batch.features(at: $0)) }
    }

    func prediction(p: MLMultiArray) throws -> ToolsLabelOutput {
        try self.prediction(input: ToolsLabelInput(p: p))
    }

    func prediction(p: MLShapedArray<Float>) throws -> ToolsLabelOutput {
        try self.prediction(input: ToolsLabelInput(p: MLMultiArray(p)))
    }
}
