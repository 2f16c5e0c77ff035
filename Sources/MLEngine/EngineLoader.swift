package import MLFeatures
package import MLFiles
package import MLLowering
import MLModels
package import MLNumerics
package import MLOperators
import MLSpecification

/// Makes the engine for a model file: the only place that knows every kind of model.
package enum EngineLoader {
    /// - Parameters:
    ///   - functionName: the function of an ML program to run; `nil` for its default.
    ///   - catalogue: the operators, with what the app adds to them.
    package static func load(
        _ file: ModelFile,
        functionName: String? = nil,
        catalogue: Catalogue = .standard
    ) throws(ModelError) -> any ModelEngine {
        try trailing(file.path) { () throws(ModelError) in try engine(file, functionName: functionName, catalogue) }
    }

    private static func engine(
        _ file: ModelFile,
        functionName: String?,
        _ catalogue: Catalogue
    ) throws(ModelError) -> any ModelEngine {
        switch file.specification.type {
        case .mlProgram?:
            do throws(ModelError) {
                return try programEngine(file, functionName: functionName)
            } catch {
                guard error.code == .unknownRank else { throw error }
                return ShapedEngine(file, functionName: functionName)
            }
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            try refuse(functionName, of: file)
            return try GraphEngine.network(file.specification, catalogue: catalogue)
        case .pipeline(let pipeline)?: return try self.pipeline(pipeline, file, catalogue)
        case .pipelineClassifier(let classifier)?: return try pipeline(classifier.pipeline, file, catalogue)
        case .pipelineRegressor(let regressor)?: return try pipeline(regressor.pipeline, file, catalogue)
        default:
            guard let engine = try ClassicModels.engine(for: file.specification) else {
                throw unsupported(file.specification)
            }
            return engine
        }
    }

    /// The engine of an ML program.
    static func programEngine(_ file: ModelFile, functionName: String?) throws(ModelError) -> GraphEngine {
        try GraphEngine(
            lower(file, functionName: functionName),
            interface: file.specification.description_p.interface(of: functionName)
        )
    }

    private static func refuse(_ functionName: String?, of file: ModelFile) throws(ModelError) {
        guard let functionName else { return }
        throw ModelError(.invalidInput, "only ML programs have functions to choose; leave out '\(functionName)'")
    }

    private static func pipeline(
        _ pipeline: SpecPipeline,
        _ file: ModelFile,
        _ catalogue: Catalogue
    ) throws(ModelError) -> any ModelEngine {
        guard pipeline.names.isEmpty || pipeline.names.count == pipeline.models.count else {
            throw ModelError(
                .invalidModel,
                "the pipeline has \(pipeline.models.count) models, but \(pipeline.names.count) names"
            )
        }
        var stages: [Pipeline.Stage] = []
        for (index, model) in pipeline.models.enumerated() {
            let name = index < pipeline.names.count ? "'\(pipeline.names[index])'" : "model \(index)"
            let engine = try trailing(name) { () throws(ModelError) in
                try self.engine(file.stage(model, named: name), functionName: nil, catalogue)
            }
            stages.append(Pipeline.Stage(name: name, engine: engine))
        }
        return try Pipeline(stages, file.specification.description_p)
    }

    /// The model as a graph, as the reader gives it.
    package static func lower(_ file: ModelFile, functionName: String? = nil) throws(ModelError) -> LoweredModel {
        switch file.specification.type {
        case .mlProgram?: return try ProgramReader.read(file, functionName: functionName)
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            return try NetworkVariants.first(file.specification, .standard).lowered
        case let other?:
            throw ModelError(
                .unsupported,
                "a model of type '\(ClassicModels.kind(of: other))' is no graph; neural networks and ML programs are"
            )
        case nil: throw ModelError(.malformed, "the file says no model type; it is empty or damaged")
        }
    }

    private static func unsupported(_ model: SpecModel) -> ModelError {
        guard let type = model.type else {
            return ModelError(.malformed, "the file says no model type; it is empty or damaged")
        }
        return ModelError(.unsupported, "models of type '\(ClassicModels.kind(of: type))' cannot predict yet")
    }
}
