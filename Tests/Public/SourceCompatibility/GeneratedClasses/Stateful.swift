// Source in the form of the class that Xcode generates for a model with a state.

import CoreML

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
public final class StatefulState: @unchecked Sendable {
    public enum Name: String, CaseIterable {
        case keyCache = "keyCache"
        case valueCache = "valueCache"
    }

    public let handle: MLState

    public func withMultiArray<R>(for stateName: Name, _ body: (MLMultiArray) throws -> R) rethrows -> R {
        try handle.withMultiArray(for: stateName.rawValue, body)
    }

    public init(handle: MLState) {
        self.handle = handle
    }
}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
public class Stateful: @unchecked Sendable {
    public let model: MLModel

    public init(model: MLModel) {
        self.model = model
    }

    public func makeState() -> StatefulState {
        StatefulState(handle: model.makeState())
    }

    public func prediction(input: MLDictionaryFeatureProvider, using state: StatefulState) throws
        -> MLFeatureProvider
    {
        try model.prediction(from: input, using: state.handle, options: MLPredictionOptions())
    }

    public func prediction(
        input: MLDictionaryFeatureProvider,
        using state: StatefulState,
        options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> MLFeatureProvider {
        try await model.prediction(from: input, using: state.handle, options: options)
    }
}
