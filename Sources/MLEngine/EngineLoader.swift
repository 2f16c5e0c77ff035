package import MLFeatures
package import MLFiles
package import MLLowering
import MLModels
package import MLNumerics
import MLSpecification

/// Makes the engine for a model file: the only place that knows every kind of model.
package enum EngineLoader {
    /// - Parameter functionName: the function of an ML program to run; `nil` for its default.
    package static func load(_ file: ModelFile, functionName: String? = nil) throws(ModelError) -> any ModelEngine {
        try trailing(file.path) { () throws(ModelError) in try engine(file, functionName: functionName) }
    }

    private static func engine(_ file: ModelFile, functionName: String?) throws(ModelError) -> any ModelEngine {
        switch file.specification.type {
        case .mlProgram?, .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            return try GraphEngine(lower(file, functionName: functionName), interface: file.specification.description_p)
        case .pipeline(let pipeline)?: return try self.pipeline(pipeline, file)
        case .pipelineClassifier(let classifier)?: return try pipeline(classifier.pipeline, file)
        case .pipelineRegressor(let regressor)?: return try pipeline(regressor.pipeline, file)
        default:
            guard let engine = try ClassicModels.engine(for: file.specification) else {
                throw unsupported(file.specification)
            }
            return engine
        }
    }

    private static func pipeline(_ pipeline: SpecPipeline, _ file: ModelFile) throws(ModelError) -> any ModelEngine {
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
                try self.engine(file.stage(model, named: name), functionName: nil)
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
            return try NeuralNetworkReader.read(file.specification)
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
