package import MLFeatures
import MLModels
package import MLNumerics
package import MLSpecification

/// The validated examples of an update, as inputs of the trainable part of the model.
package struct UpdateExamples: Sendable {
    package let count: Int
    /// The training inputs of the trainable part, by name, with a value for each example.
    package let columns: [String: FeatureColumn]

    /// Takes examples that already are inputs of the trainable part.
    package init(count: Int, columns: [String: FeatureColumn]) {
        self.count = count
        self.columns = columns
    }

    /// The number of examples that go through the frozen part of a pipeline at a time.
    private static let chunk = 64

    /// Checks examples and runs them, once, through the part of a pipeline that is not trained.
    ///
    /// - Parameters:
    ///   - examples: Their features by name; features other than the model's training inputs are ignored.
    ///   - model: The whole model.
    ///   - engine: Returns the engine of the whole model; called when the model is a pipeline.
    /// - Throws: `.update` when there are no examples or one does not fit the training inputs, and errors of `engine`.
    package init(
        _ examples: [[String: FeatureData]],
        for model: SpecModel,
        engine: () throws(ModelError) -> any ModelEngine
    ) throws(ModelError) {
        guard !examples.isEmpty else {
            throw ModelError(.update, "there is no training data; give at least one example")
        }
        for (index, example) in examples.enumerated() { try Self.check(example, at: index, for: model) }
        let target = try UpdateTarget(of: model)
        var needed = Set(model.trainingFeatures.map(\.name))
        var pipeline: Pipeline?
        if model.innerPipeline != nil {
            guard let engine = try engine() as? Pipeline else {
                throw ModelError(.update, "the pipeline was loaded as another kind of model")
            }
            pipeline = engine
            needed = Set(target.model.trainingFeatures.map(\.name))
            needed.formUnion(target.model.description_p.input.map(\.name))
        }
        var values: [String: [FeatureData]] = [:]
        for start in stride(from: 0, to: examples.count, by: Self.chunk) {
            let range = start..<min(start + Self.chunk, examples.count)
            guard let provided = FeatureBatch(Self.selected(examples[range], model.trainingFeatures)) else {
                throw ModelError(
                    .invalidInput,
                    "optional training inputs are given for some examples and missing in others; give them for all"
                )
            }
            var batch = provided
            if let pipeline { batch = try Self.features(of: provided, from: pipeline, model) }
            for name in needed {
                guard let column = batch.columns[name] else { continue }
                values[name, default: []] += (0..<range.count).map { column.value(at: $0) }
            }
        }
        count = examples.count
        columns = values.mapValues { FeatureColumn($0) }
    }

    private static func selected(
        _ examples: ArraySlice<[String: FeatureData]>,
        _ features: [SpecFeatureDescription]
    ) -> [[String: FeatureData]] {
        let names = Set(features.map(\.name))
        return examples.map { $0.filter { names.contains($0.key) } }
    }

    /// The outputs of the models before the last, at any depth; labels bypass them.
    private static func features(
        of batch: FeatureBatch,
        from pipeline: Pipeline,
        _ model: SpecModel
    ) throws(ModelError) -> FeatureBatch {
        let inputs = Set(model.description_p.input.map(\.name))
        let labels = batch.columns.filter { !inputs.contains($0.key) }
        var known = FeatureBatch(count: batch.count, columns: batch.columns.filter { inputs.contains($0.key) })
        known = try pipeline.features(from: known, before: pipeline.stages.count - 1)
        // A label may have the same name as an input.
        for feature in model.trainingFeatures where known.columns[feature.name] == nil || labels[feature.name] != nil {
            known.columns[feature.name] = batch.columns[feature.name]
        }
        guard let last = model.innerPipeline?.models.last, last.innerPipeline != nil,
            let inner = pipeline.stages.last?.engine as? Pipeline
        else { return known }
        return try features(of: known, from: inner, last)
    }

    // MARK: - Checks

    /// Throws when an example lacks a training input of the model, or has one of another kind; names both.
    package static func check(
        _ example: [String: FeatureData],
        at index: Int,
        for model: SpecModel
    ) throws(ModelError) {
        for feature in model.trainingFeatures {
            guard let value = example[feature.name] else {
                if feature.type.isOptional { continue }
                throw ModelError(
                    .invalidInput,
                    "example \(index) of the training data has no '\(feature.name)'; each example needs "
                        + model.trainingFeatures.map { "'\($0.name)'" }.joined(separator: ", ")
                )
            }
            if let requested = mismatch(value, feature) {
                throw ModelError(
                    .invalidInput,
                    "example \(index) of the training data has \(value.kind) for '\(feature.name)', which takes \(requested)"
                )
            }
        }
    }

    /// The type that the feature expects, when `value` has another one.
    private static func mismatch(_ value: FeatureData, _ feature: SpecFeatureDescription) -> String? {
        switch (feature.type.type, value) {
        case (.int64Type?, .int64), (.doubleType?, .double), (.doubleType?, .int64), (.stringType?, .string),
            (.dictionaryType?, .dictionary), (.sequenceType?, .sequence), (.imageType?, .image):
            return nil
        case (.multiArrayType(let array)?, .tensor(let tensor)):
            guard array.shapeFlexibility == nil, !array.shape.isEmpty else { return nil }
            let (count, overflow) = array.shape.reduce((Int64(1), false)) { total, extent in
                let (product, overflow) = total.0.multipliedReportingOverflow(by: extent)
                return (product, total.1 || overflow)
            }
            return overflow || count != Int64(tensor.count) ? "a multi-array of shape \(array.shape)" : nil
        case (.multiArrayType(let array)?, .double), (.multiArrayType(let array)?, .int64):
            return array.shape.allSatisfy { $0 == 1 } ? nil : "a multi-array of shape \(array.shape)"
        case (.int64Type?, _): return "an integer"
        case (.doubleType?, _): return "a number"
        case (.stringType?, _): return "a string"
        case (.dictionaryType?, _): return "a dictionary"
        case (.sequenceType?, _): return "a sequence"
        case (.imageType?, _): return "an image"
        case (.multiArrayType?, _): return "a multi-array"
        case (.stateType?, _), (nil, _): return "a kind of value that no example can have"
        }
    }

    package func features(at index: Int) -> [String: FeatureData] { columns.mapValues { $0.value(at: index) } }
}
