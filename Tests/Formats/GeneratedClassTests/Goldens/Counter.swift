// Counter.swift
// Written by coreml generate, which replaces what is changed here when it writes it again.
// swift-format-ignore-file
// swiftlint:disable all

public import CoreML

/// What Counter predicts from.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
public class CounterInput: MLFeatureProvider, @unchecked Sendable {
    /// An array of Float, 2.
    public var x: MLMultiArray

    public var featureNames: Set<String> { ["x"] }

    public func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
        case "x": MLFeatureValue(multiArray: self.x)
        default: nil
        }
    }

    public init(x: MLMultiArray) {
        self.x = x
    }

    public convenience init(x: MLShapedArray<Float>) {
        self.init(x: MLMultiArray(x))
    }
}

/// What Counter predicted.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
public class CounterOutput: MLFeatureProvider, @unchecked Sendable {
    private let provider: any MLFeatureProvider

    /// An array of Float, 2.
    public var y: MLMultiArray { self.provider.featureValue(for: "y")!.multiArrayValue! }

    /// An array of Float, 2.
    public var yShapedArray: MLShapedArray<Float> { MLShapedArray<Float>(self.y) }

    public var featureNames: Set<String> { self.provider.featureNames }

    public func featureValue(for featureName: String) -> MLFeatureValue? {
        self.provider.featureValue(for: featureName)
    }

    public init(y: MLMultiArray) {
        self.provider = try! MLDictionaryFeatureProvider(dictionary: ["y": MLFeatureValue(multiArray: y)])
    }

    public init(features: any MLFeatureProvider) {
        self.provider = features
    }
}

/// What Counter keeps from one prediction to the next.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
public final class CounterState: @unchecked Sendable {
    /// The names of the states.
    public enum Name: String, CaseIterable {
        /// What was added.
        case sum = "sum"
    }

    public let handle: MLState

    public init(handle: MLState) {
        self.handle = handle
    }

    /// Calls `body` with a state's array, whose elements it may change.
    public func withMultiArray<R>(for stateName: Name, _ body: (MLMultiArray) throws -> R) rethrows -> R {
        try handle.withMultiArray(for: stateName.rawValue, body)
    }
}

/// The model Counter.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
public class Counter: @unchecked Sendable {
    public let model: MLModel

    /// Where the compiled model lies in the bundle that holds this class.
    public class var urlOfModelInThisBundle: URL {
        Bundle(for: self).url(forResource: "Counter", withExtension: "mlmodelc")!
    }

    /// Takes a model that was loaded otherwise.
    public init(model: MLModel) {
        self.model = model
    }

    /// Loads the model from the bundle.
    public convenience init(configuration: MLModelConfiguration = MLModelConfiguration()) throws {
        try self.init(contentsOf: type(of: self).urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    public convenience init(contentsOf modelURL: URL) throws {
        try self.init(model: MLModel(contentsOf: modelURL))
    }

    /// Loads the model that lies at `modelURL`.
    public convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws {
        try self.init(model: MLModel(contentsOf: modelURL, configuration: configuration))
    }

    /// Loads the model from the bundle.
    public class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Counter, any Error>) -> Void
    ) {
        load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
    }

    /// Loads the model from the bundle.
    public class func load(configuration: MLModelConfiguration = MLModelConfiguration()) async throws -> Counter {
        try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)
    }

    /// Loads the model that lies at `modelURL`.
    public class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<Counter, any Error>) -> Void
    ) {
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
            handler(result.map { Counter(model: $0) })
        }
    }

    /// Loads the model that lies at `modelURL`.
    public class func load(
        contentsOf modelURL: URL,
        configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> Counter {
        Counter(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
    }

    /// A new state, as predictions begin with.
    public func makeState() -> CounterState {
        CounterState(handle: self.model.makeState())
    }

    public func prediction(input: CounterInput, using state: CounterState) throws -> CounterOutput {
        try self.prediction(input: input, using: state, options: MLPredictionOptions())
    }

    public func prediction(
        input: CounterInput,
        using state: CounterState,
        options: MLPredictionOptions
    ) throws -> CounterOutput {
        CounterOutput(features: try self.model.prediction(from: input, using: state.handle, options: options))
    }

    public func prediction(
        input: CounterInput,
        using state: CounterState,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> CounterOutput {
        CounterOutput(features: try await self.model.prediction(from: input, using: state.handle, options: options))
    }

    public func prediction(x: MLMultiArray, using state: CounterState) throws -> CounterOutput {
        try self.prediction(input: CounterInput(x: x), using: state)
    }

    public func prediction(x: MLShapedArray<Float>, using state: CounterState) throws -> CounterOutput {
        try self.prediction(input: CounterInput(x: MLMultiArray(x)), using: state)
    }
}
