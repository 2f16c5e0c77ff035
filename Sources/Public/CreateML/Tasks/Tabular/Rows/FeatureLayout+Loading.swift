import MLFeatures
import MLSpecification

/// The parts of a tabular model that a task wrote.
struct LoadedPipeline {
    let layout: FeatureLayout
    let target: String
    /// `nil` for a regressor.
    let labels: LabelList?

    /// Reads the parts of a model of `TabularPipeline`.
    /// - Throws: `MLCreateError.type` for other models, naming what is missing.
    init(_ model: SpecModel) throws {
        func other(_ detail: String) -> MLCreateError {
            .type(reason: "the model was not written by a task on tables: \(detail)")
        }
        let stages: [SpecModel]
        switch model.type {
        case .pipelineRegressor(let whole)?: stages = whole.pipeline.models
        case .pipelineClassifier(let whole)?: stages = whole.pipeline.models
        default: throw other("it is not a pipeline")
        }
        guard let last = stages.last, stages.contains(where: { $0.featureVectorizer.inputList.count > 0 }) else {
            throw other("no stage makes one vector of its features")
        }
        target = model.description_p.predictedFeatureName
        guard !target.isEmpty else { throw other("it does not state its prediction") }
        labels = Self.labels(last)
        var isClassifier = false
        if case .pipelineClassifier? = model.type { isClassifier = true }
        guard (labels != nil) == isClassifier else { throw other("its last stage does not fit it") }
        layout = FeatureLayout(
            features: try model.description_p.input.map { input in
                let stage = stages.first {
                    $0.description_p.input.count == 1 && $0.description_p.input[0].name == input.name
                }
                guard let kind = Self.kind(input, stage) else {
                    throw other("the feature '\(input.name)' is of an unknown form")
                }
                return FeatureLayout.Feature(name: input.name, kind: kind)
            }
        )
    }

    private static func labels(_ classifier: SpecModel) -> LabelList? {
        switch classifier.type {
        case .treeEnsembleClassifier(let trees)?:
            let texts = trees.stringClassLabels.vector
            return texts.isEmpty ? .integers(trees.int64ClassLabels.vector) : .strings(texts)
        case .glmClassifier(let linear)?:
            let texts = linear.stringClassLabels.vector
            return texts.isEmpty ? .integers(linear.int64ClassLabels.vector) : .strings(texts)
        default: return nil
        }
    }

    private static func kind(_ input: SpecFeatureDescription, _ stage: SpecModel?) -> FeatureLayout.Kind? {
        switch input.type.type {
        case .doubleType?: return .number
        case .stringType?:
            guard case .oneHotEncoder(let encoder)? = stage?.type else { return nil }
            return .categories(encoder.stringCategories.vector)
        case .dictionaryType?:
            guard case .dictVectorizer(let vectorizer)? = stage?.type else { return nil }
            let texts = vectorizer.stringToIndex.vector
            return texts.isEmpty ? .integerKeys(vectorizer.int64ToIndex.vector) : .keys(texts)
        case .multiArrayType(let array)?:
            let shape = array.shape.map { Int(clamping: $0) }
            return shape.isEmpty || shape.contains { $0 < 1 } ? nil : .array(shape: shape)
        default: return nil
        }
    }
}
