import MLFeatures
import MLModels
import MLNumerics
import MLSpecification

/// The model of a tabular task in the form of Create ML and Turi Create.
///
/// It has an encoder for every column of strings, a vectoriser for every column of dictionaries, one for all features,
/// and the regressor or classifier, which reads `__vectorized_features__`.
struct TabularPipeline {
    static let vectorName = "__vectorized_features__"

    var layout: FeatureLayout
    var target: String
    /// `nil` for a regressor.
    var labels: LabelList?

    private var probabilityName: String { target + "Probability" }

    /// The complete model.
    /// - Parameter predictor: The last model of the pipeline, whose interface is filled in here.
    /// - Returns: The pipeline's specification.
    func model(_ predictor: SpecModel.OneOf_Type) -> SpecModel {
        var stages: [SpecModel] = []
        var names: [String] = []
        var vectorizer = SpecFeatureVectorizer()
        var vectorInputs: [SpecFeatureDescription] = []
        var taken = Set(layout.features.map(\.name) + [target, probabilityName, Self.vectorName])
        for feature in layout.features {
            var input = Self.input(feature)
            if let stage = stage(feature, &taken) {
                stages.append(stage.model)
                names.append(stage.name)
                input = stage.model.description_p.output[0]
            }
            var column = SpecFeatureVectorizer.InputColumn()
            column.inputColumn = input.name
            column.inputDimensions = UInt64(feature.kind.width)
            vectorizer.inputList.append(column)
            vectorInputs.append(input)
        }
        var vector = SpecModel()
        vector.specificationVersion = 1
        vector.description_p.input = vectorInputs
        vector.description_p.output = [Self.array(Self.vectorName, [layout.width])]
        vector.featureVectorizer = vectorizer
        stages.append(vector)
        names.append("FeatureVectorizer")

        var last = SpecModel()
        last.specificationVersion = 1
        last.description_p.input = [Self.array(Self.vectorName, [layout.width])]
        describe(&last.description_p)
        last.type = predictor
        stages.append(last)
        names.append(labels == nil ? "Regressor" : "Classifier")

        var result = SpecModel()
        result.specificationVersion = 1
        result.description_p.input = layout.features.map(Self.input)
        describe(&result.description_p)
        var pipeline = SpecPipeline()
        pipeline.models = stages
        pipeline.names = names
        if labels == nil {
            result.pipelineRegressor.pipeline = pipeline
        } else {
            result.pipelineClassifier.pipeline = pipeline
        }
        return result
    }

    /// The model that turns a feature into a dictionary from place to value, if the feature needs one.
    private func stage(
        _ feature: FeatureLayout.Feature,
        _ taken: inout Set<String>
    ) -> (model: SpecModel, name: String)? {
        var model = SpecModel()
        let name: String
        switch feature.kind {
        case .number, .array: return nil
        case .categories(let list):
            model.oneHotEncoder.stringCategories.vector = list
            model.oneHotEncoder.outputSparse = true
            model.oneHotEncoder.handleUnknown = .ignoreUnknown
            name = "OneHotEncoder"
        case .keys(let list):
            model.dictVectorizer.stringToIndex.vector = list
            name = "DictVectorizer"
        case .integerKeys(let list):
            model.dictVectorizer.int64ToIndex.vector = list
            name = "DictVectorizer"
        }
        model.specificationVersion = 1
        model.description_p.input = [Self.input(feature)]
        var output = SpecFeatureDescription()
        output.name = "__\(feature.name)_encoded__"
        while !taken.insert(output.name).inserted { output.name += "_" }
        output.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        model.description_p.output = [output]
        return (model, "\(name): \(feature.name)")
    }

    private func describe(_ description: inout SpecModelDescription) {
        var output = SpecFeatureDescription()
        output.name = target
        description.predictedFeatureName = target
        guard let labels else {
            output.type.doubleType = SpecDoubleFeatureType()
            output.shortDescription = "The predicted value of \(target)"
            description.output = [output]
            return
        }
        var probability = SpecFeatureDescription()
        probability.name = probabilityName
        probability.shortDescription = "The probability of each \(target)"
        switch labels {
        case .strings:
            output.type.stringType = SpecStringFeatureType()
            probability.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        case .integers:
            output.type.int64Type = SpecInt64FeatureType()
            probability.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        }
        output.shortDescription = "The most likely \(target)"
        description.output = [output, probability]
        description.predictedProbabilitiesName = probabilityName
    }

    private static func input(_ feature: FeatureLayout.Feature) -> SpecFeatureDescription {
        var result = SpecFeatureDescription()
        result.name = feature.name
        switch feature.kind {
        case .number: result.type.doubleType = SpecDoubleFeatureType()
        case .categories: result.type.stringType = SpecStringFeatureType()
        case .keys: result.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        case .integerKeys: result.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        case .array(let shape): result.type = array(feature.name, shape).type
        }
        return result
    }

    private static func array(_ name: String, _ shape: [Int]) -> SpecFeatureDescription {
        var result = SpecFeatureDescription()
        result.name = name
        result.type.multiArrayType.shape = shape.map(Int64.init)
        result.type.multiArrayType.dataType = .double
        return result
    }

    /// The engine of a model that `model(_:)` made.
    static func engine(_ model: SpecModel) throws(ModelError) -> Pipeline {
        let parts =
            if case .pipelineRegressor(let whole)? = model.type { whole.pipeline } else {
                model.pipelineClassifier.pipeline
            }
        var stages: [Pipeline.Stage] = []
        for (name, stage) in zip(parts.names, parts.models) {
            guard let engine = try ClassicModels.engine(for: stage) else {
                throw ModelError(.unsupported, "the pipeline holds a model of another kind", at: name)
            }
            stages.append(Pipeline.Stage(name: name, engine: engine))
        }
        return try Pipeline(stages, model.description_p)
    }
}
