import CoreML
import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf

/// Builds a pipeline: a sequence of models, each of which takes the pipeline's inputs and earlier outputs by name.
///
/// ```swift
/// var builder = PipelineBuilder()
/// try builder.append(extractor, named: "extractor")
/// try builder.append(classifier, named: "classifier")   // updatable: so is the pipeline
/// try builder.finished().write(to: url)
/// ```
///
/// Inputs that no earlier model computes are the pipeline's inputs; its outputs are those of the last model, unless
/// others are named. A pipeline whose last model predicts a class or a number is a classifier or regressor. A pipeline
/// with an ML program that keeps weights in a file of its own can be written as a `.mlpackage`.
public struct PipelineBuilder: Sendable {
    /// The kind of model that the pipeline declares itself to be.
    public enum Kind: Hashable, Sendable {
        /// The kind of the last model.
        case automatic
        /// A plain pipeline, a classifier or a regressor; the last two need a last model with a predicted
        /// feature.
        case plain, classifier, regressor
    }

    /// The kind of model that the pipeline declares itself to be; `automatic` by default.
    public var kind = Kind.automatic
    /// The metadata of the pipeline.
    public var metadata = ModelMetadata()
    /// The names of the pipeline's outputs; nil, the default, for those of the last model.
    public var outputs: [String]?

    private var files: [ModelFile] = []
    private var names: [String] = []

    /// Creates a builder of a pipeline without models.
    public init() {}

    /// Appends a model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - name: Its name in the pipeline, which scopes its parameters; unique and not empty.
    /// - Throws: `MLModelError` when the name does not fit.
    public mutating func append(_ model: ModelSpecification, named name: String) throws {
        guard !name.isEmpty, !names.contains(name) else {
            throw MLModelError(
                ModelError(.invalidInput, "each model of a pipeline needs a unique name", at: "model '\(name)'")
            )
        }
        files.append(model.file)
        names.append(name)
    }

    /// Appends a link to a compiled model in a file of its own, which several pipelines can share.
    ///
    /// - Parameters:
    ///   - compiledName: The name of the compiled directory, such as `Extractor.mlmodelc`.
    ///   - searchPath: Directories relative to the pipeline's file, separated by ":"; its own directory by default.
    ///   - model: The linked model, for its inputs and outputs.
    ///   - name: Its name in the pipeline, unique and not empty.
    /// - Throws: `MLModelError` when the name does not fit.
    public mutating func appendLink(
        to compiledName: String,
        searchPath: String = "",
        like model: ModelSpecification,
        named name: String
    ) throws {
        var link = SpecModel()
        link.description_p = model.file.specification.description_p
        link.linkedModel.linkedModelFile.linkedModelFileName.defaultValue = compiledName
        link.linkedModel.linkedModelFile.linkedModelSearchPath.defaultValue = searchPath
        try append(ModelSpecification(link), named: name)
    }

    /// Returns the pipeline as a model.
    ///
    /// - Returns: The pipeline.
    /// - Throws: `MLModelError` when there are no models, or an input or output is not computed or is of another
    ///   type.
    public func finished() throws -> ModelSpecification {
        do throws(ModelError) {
            let (models, weights) = try ModelFile.stages(of: files)
            let model = try specification(models)
            try UpdatableModel.validate(model)
            return ModelSpecification(
                ModelFile(specification: SpecificationVersion.lowered(model), weights: weights)
            )
        } catch { throw MLModelError(error) }
    }

    private func specification(_ models: [SpecModel]) throws(ModelError) -> SpecModel {
        guard let last = models.last else { throw ModelError(.invalidModel, "a pipeline needs models") }
        var model = SpecModel()
        var known: [String: (feature: SpecFeatureDescription, giver: String)] = [:]
        for (name, stage) in zip(names, models) {
            for feature in stage.description_p.input {
                guard let provided = known[feature.name] else {
                    model.description_p.input.append(feature)
                    known[feature.name] = (feature, "the pipeline")
                    continue
                }
                guard provided.feature.type.fits(feature.type) else {
                    throw ModelError(
                        .invalidModel,
                        "its input '\(feature.name)' is of another type than the output of \(provided.giver)",
                        at: "model '\(name)'"
                    )
                }
            }
            for feature in stage.description_p.output { known[feature.name] = (feature, "model '\(name)'") }
        }
        for name in outputs ?? last.description_p.output.map(\.name) {
            guard let provided = known[name] else {
                throw ModelError(.invalidModel, "no model gives the output '\(name)'")
            }
            model.description_p.output.append(provided.feature)
        }
        let chosen = kind == .automatic ? last.pipelineKind : kind
        if chosen == .classifier || chosen == .regressor {
            guard !last.description_p.predictedFeatureName.isEmpty else {
                throw ModelError(.invalidModel, "the last model predicts no feature", at: "model '\(names.last ?? "")'")
            }
            model.description_p.predictedFeatureName = last.description_p.predictedFeatureName
            model.description_p.predictedProbabilitiesName = last.description_p.predictedProbabilitiesName
        }
        model.isUpdatable = last.isUpdatable
        if last.isUpdatable { model.description_p.trainingInput = trainingInputs(models, model.description_p.input) }
        metadata.write(to: &model.description_p.metadata)
        let pipeline = SpecPipeline.with {
            $0.models = models
            $0.names = names
        }
        switch chosen {
        case .classifier: model.pipelineClassifier.pipeline = pipeline
        case .regressor: model.pipelineRegressor.pipeline = pipeline
        case .plain, .automatic: model.pipeline = pipeline
        }
        return model
    }

    /// Returns the last model's training inputs, with the pipeline's inputs for those that other models compute.
    private func trainingInputs(
        _ models: [SpecModel],
        _ inputs: [SpecFeatureDescription]
    ) -> [SpecFeatureDescription] {
        let computed = Set(models.dropLast().flatMap { $0.description_p.output.map(\.name) })
        let own = (models.last?.description_p.trainingInput ?? []).filter { !computed.contains($0.name) }
        return inputs + own.filter { feature in !inputs.contains { $0.name == feature.name } }
    }
}

extension SpecModel {
    fileprivate var pipelineKind: PipelineBuilder.Kind {
        switch type {
        case .glmClassifier?, .supportVectorClassifier?, .treeEnsembleClassifier?, .neuralNetworkClassifier?,
            .kNearestNeighborsClassifier?, .pipelineClassifier?:
            .classifier
        case .glmRegressor?, .supportVectorRegressor?, .treeEnsembleRegressor?, .neuralNetworkRegressor?,
            .bayesianProbitRegressor?, .pipelineRegressor?:
            .regressor
        default: .plain
        }
    }
}

extension SpecFeatureType {
    /// Whether a feature of this type can be an input of type `other`.
    ///
    /// Kinds must be equal, except that integers and numbers may replace each other; fixed arrays must have equally
    /// many elements.
    fileprivate func fits(_ other: SpecFeatureType) -> Bool {
        switch (type, other.type) {
        case (.int64Type?, .doubleType?), (.doubleType?, .int64Type?): return true
        case (.int64Type?, .int64Type?), (.doubleType?, .doubleType?), (.stringType?, .stringType?): return true
        case (.imageType(let own)?, .imageType(let requested)?):
            if own.sizeFlexibility != nil || requested.sizeFlexibility != nil { return true }
            return own.width == requested.width && own.height == requested.height
        case (.multiArrayType(let own)?, .multiArrayType(let requested)?):
            if own.shapeFlexibility != nil || requested.shapeFlexibility != nil { return true }
            func count(_ shape: [Int64]) -> Double { shape.reduce(1) { $0 * Double($1) } }
            return own.shape.isEmpty || requested.shape.isEmpty || count(own.shape) == count(requested.shape)
        case (.dictionaryType(let own)?, .dictionaryType(let requested)?): return own.keyType == requested.keyType
        case (.sequenceType?, .sequenceType?): return true
        default: return false
        }
    }
}
