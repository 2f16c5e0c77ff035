package import MLFeatures
package import MLFiles
import MLKernels
package import MLLowering
import MLModels
package import MLNumerics
import MLOperators
import MLSpecification

/// Makes the engine for a model file; the only place that knows every kind of model.
package enum EngineLoader {
    /// Makes the engine for a model file.
    ///
    /// - Parameters:
    ///   - file: The model.
    ///   - functionName: The function of an ML program to run; `nil` for its default.
    ///   - loadingOptions: The app's additions to the file.
    /// - Returns: The engine.
    /// - Throws: `ModelError` when the model is invalid or not supported, or a file cannot be read.
    package static func load(
        _ file: ModelFile,
        functionName: String? = nil,
        loadingOptions: LoadingOptions = LoadingOptions()
    ) throws(ModelError) -> any ModelEngine {
        let previous = loadingOptions.kernels.enter()
        defer { KernelTable.leave(to: previous) }
        return try withErrorContext(file.path) { () throws(ModelError) in
            let engine = try EngineBuilder(file, functionName: functionName, loadingOptions: loadingOptions).load(file)
            try ModelSources(file).checkWhole()
            return engine
        }
    }

    /// Makes the engine of an ML program.
    static func programEngine(_ file: ModelFile, functionName: String?) throws(ModelError) -> GraphEngine {
        try GraphEngine(
            lower(file, functionName: functionName),
            interface: file.specification.description_p.interface(of: functionName),
            variants: nil,
            sources: ModelSources(file)
        )
    }

    /// Lowers the model to a graph, without any passes.
    package static func lower(_ file: ModelFile, functionName: String? = nil) throws(ModelError) -> LoweredModel {
        switch file.specification.type {
        case .mlProgram?: return try ProgramReader.read(file, functionName: functionName)
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            return try NetworkVariants.first(file.specification, .standard).lowered
        case let other?:
            throw ModelError(
                .unsupported,
                "a model of type '\(ClassicModels.kind(of: other))' is not a graph; neural networks and ML programs are"
            )
        case nil: throw ModelError(.malformed, "the file states no model type; it is empty or damaged")
        }
    }
}
