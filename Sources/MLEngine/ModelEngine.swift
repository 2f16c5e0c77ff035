package import MLFiles
package import MLLowering
package import MLNumerics
package import MLSpecification

/// A loaded model: features in, features out.  Immutable; any number of threads may predict at once.
package protocol ModelEngine: Sendable {
    /// The model's interface as its file states it.
    var interface: SpecModelDescription { get }

    /// Predicts.
    /// - Parameters:
    ///   - inputs: a value for every input that is not optional.
    ///   - backings: tensors that outputs of the same type and shape are written to.
    ///   - state: what the model keeps from call to call; needed by models that have states.
    /// - Returns: every output by name.
    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData]
}

extension ModelEngine {
    package func prediction(from inputs: [String: FeatureData]) throws(ModelError) -> [String: FeatureData] {
        try prediction(from: inputs, backings: [:], state: nil)
    }
}

/// Makes the engine for a model file: the only place that knows every kind of model.
package enum EngineLoader {
    /// - Parameter functionName: the function of an ML program to run; `nil` for its default.
    package static func load(_ file: ModelFile, functionName: String? = nil) throws(ModelError) -> any ModelEngine {
        try trailing(file.path) { () throws(ModelError) in
            try GraphEngine(lower(file, functionName: functionName), interface: file.specification.description_p)
        }
    }

    /// The model as a graph, as the reader gives it.
    package static func lower(_ file: ModelFile, functionName: String? = nil) throws(ModelError) -> LoweredModel {
        switch file.specification.type {
        case .mlProgram?: return try ProgramReader.read(file, functionName: functionName)
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            return try NeuralNetworkReader.read(file.specification)
        case let other?:
            let kind = Mirror(reflecting: other).children.first?.label ?? "unknown"
            throw ModelError(
                .unsupported,
                "models of type '\(kind)' cannot predict yet; neural networks and ML programs can"
            )
        case nil: throw ModelError(.malformed, "the file says no model type; it is empty or damaged")
        }
    }
}
