import MLFeatures
import MLFiles
import MLModels
import MLNumerics
import MLRuntime
import MLSpecification

/// One pass over a model, the models inside it and those that it links to.
struct EngineBuilder {
    let functionName: String?
    let loadingOptions: LoadingOptions
    /// The folder that linked models are searched from; `nil` for models in memory.
    let folder: String?
    /// The linked files that lead here, to detect cycles.
    let chain: [String]
    /// The graphs of a compiled model.
    private let compiled: CompiledLoading?

    init(
        _ file: ModelFile,
        functionName: String?,
        loadingOptions: LoadingOptions,
        chain: [String] = []
    ) throws(ModelError) {
        if let compiled = file.compiled {
            self.compiled = try withErrorContext(CompiledModel.fileName) { () throws(ModelError) in
                try CompiledLoading(file, compiled)
            }
        } else {
            compiled = nil
        }
        self.functionName = functionName
        self.loadingOptions = loadingOptions
        self.chain = chain
        let path = FileAccess.withoutTrailingSlash(file.path)
        folder = file.form == .memory ? nil : FileAccess.folder(of: path)
    }

    /// Makes the engine of the whole model.
    func load(_ file: ModelFile) throws(ModelError) -> any ModelEngine {
        if compiled == nil, file.compiled != nil { return try engine(file.whole()) }
        do throws(ModelError) {
            let engine = try engine(file)
            compiled?.finish()
            return engine
        } catch {
            // A kernel needs weights in another form than the compiled file holds.
            guard compiled != nil, error.code == .absentConstant else { throw error }
        }
        let whole = try file.whole()
        let loading = try EngineBuilder(whole, functionName: functionName, loadingOptions: loadingOptions, chain: chain)
        return try loading.load(whole)
    }

    /// Makes the engine of a model; `name` is its name in the pipeline around it, `nil` for the model of the file.
    private func engine(_ file: ModelFile, named name: String? = nil) throws(ModelError) -> any ModelEngine {
        let model = file.specification
        switch model.type {
        case .mlProgram?:
            let function = name == nil ? functionName : nil
            if let compiled { return try compiled.engine(file, functionName: function) }
            do throws(ModelError) {
                return try EngineLoader.programEngine(file, functionName: function)
            } catch {
                guard error.code == .unknownRank else { throw error }
                return PerShapeEngine(file, functionName: function)
            }
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            if let functionName, name == nil {
                throw ModelError(
                    .invalidInput,
                    "only ML programs have functions to choose; leave out '\(functionName)'"
                )
            }
            if let compiled { return try compiled.engine(file, functionName: nil) }
            return try GraphEngine.network(file, catalogue: loadingOptions.catalogue)
        case .pipeline(let pipeline)?: return try self.pipeline(pipeline, file)
        case .pipelineClassifier(let classifier)?: return try pipeline(classifier.pipeline, file)
        case .pipelineRegressor(let regressor)?: return try pipeline(regressor.pipeline, file)
        case .linkedModel(let link)?: return try linked(link, name)
        case .visionFeaturePrint?, .audioFeaturePrint?: return try FeatureExtractors.engine(for: model)
        case .kNearestNeighborsClassifier(let parameters)?:
            var neighbors: Int64?
            for case .numberOfNeighbors(let value) in loadingOptions.values(for: name) { neighbors = value }
            return try NearestNeighborsClassifier(parameters, model.description_p, numberOfNeighbors: neighbors)
        case .customModel(let custom)?:
            guard let source = loadingOptions.customModels else {
                throw ModelError(
                    .unsupported,
                    "the model's computation is the class '\(custom.className)' of an app; load it with MLModel in that app"
                )
            }
            return try source.engine(for: model)
        case .serializedModel(let serialized)?:
            throw ModelError(
                .unsupported,
                "the model is a block of '\(serialized.identifier)', which only its maker can read"
            )
        case let type:
            guard let type else {
                throw ModelError(.malformed, "the file states no model type; it is empty or damaged")
            }
            guard let engine = try ClassicModels.engine(for: model) else {
                throw ModelError(.unsupported, "models of type '\(ClassicModels.kind(of: type))' cannot predict yet")
            }
            return engine
        }
    }

    private func pipeline(_ pipeline: SpecPipeline, _ file: ModelFile) throws(ModelError) -> any ModelEngine {
        guard pipeline.names.isEmpty || pipeline.names.count == pipeline.models.count else {
            throw ModelError(
                .invalidModel,
                "the pipeline has \(pipeline.models.count) models, but \(pipeline.names.count) names"
            )
        }
        guard Set(pipeline.names).count == pipeline.names.count else {
            throw ModelError(.invalidModel, "the names of the pipeline's models are not all different")
        }
        var stages: [Pipeline.Stage] = []
        for (index, model) in pipeline.models.enumerated() {
            let name = index < pipeline.names.count ? pipeline.names[index] : "model \(index)"
            let engine = try withErrorContext(name) { () throws(ModelError) in
                try self.engine(file.stage(model, named: name, index: index), named: name)
            }
            stages.append(Pipeline.Stage(name: name, engine: engine))
        }
        return try Pipeline(stages, file.specification.description_p)
    }

    private func linked(_ link: SpecLinkedModel, _ name: String?) throws(ModelError) -> any ModelEngine {
        guard case .linkedModelFile(let target)? = link.linkType else {
            throw ModelError(.invalidModel, "the linked model states no file")
        }
        var file = target.linkedModelFileName.defaultValue
        var searchPath = target.linkedModelSearchPath.defaultValue
        for value in loadingOptions.values(for: name) {
            switch value {
            case .linkedModelFileName(let provided): file = provided
            case .linkedModelSearchPath(let provided): searchPath = provided
            case .numberOfNeighbors: break
            }
        }
        guard !file.isEmpty else { throw ModelError(.invalidModel, "the linked model has no file name") }
        let path = try LinkedModels.find(file, searchPath: searchPath, from: folder)
        let location = LinkedModels.resolvedPath(path)
        guard !chain.contains(location) else {
            throw ModelError(.invalidModel, "the linked model '\(file)' leads back to itself")
        }
        return try LinkedModels.engine(at: path) { () throws(ModelError) in
            let opened = try ModelFile.open(path: path, for: .prediction)
            let inner = try EngineBuilder(
                opened,
                functionName: nil,
                loadingOptions: loadingOptions,
                chain: chain + [location]
            )
            return try withErrorContext(path) { () throws(ModelError) in try inner.load(opened) }
        }
    }
}
