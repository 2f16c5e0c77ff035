import CoreML
import Foundation
package import MLFeatures
import MLModels
import MLNumerics
package import MLSpecification
package import TabularData

/// A trained tabular model with its metrics on the training and validation rows.
package struct TrainedTable: Sendable {
    let layout: FeatureLayout
    let target: String
    let labels: LabelList?
    /// The model for the caller, loaded on first use.
    var task: TaskModel
    private let engine: Pipeline
    let trainingMetrics: TabularMetrics
    let validationMetrics: TabularMetrics
    /// The algorithms that were compared; `nil` if the caller named the algorithm.
    package let choice: AlgorithmChoice?
    /// Some rows for measuring importance: of the validation rows, or of the training rows if there are none.
    private let sample: (rows: EncodedTable, targets: TargetContent)
    /// Whether these are rows that the model was trained on.
    package let samplesTraining: Bool

    /// Makes the model of a trained predictor and evaluates it.
    /// - Parameters:
    ///   - table: The data that were trained on.
    ///   - predictor: The last model of the pipeline.
    ///   - crossValidated: Targets and predictions of held-out rows, in place of validation rows.
    ///   - choice: The algorithms that were compared.
    /// - Throws: `MLCreateError` if the model cannot be loaded or evaluated.
    init(
        _ table: PreparedTable,
        _ predictor: SpecModel.OneOf_Type,
        crossValidated: (truth: [Double], predictions: [Double])? = nil,
        choice: AlgorithmChoice? = nil
    ) throws {
        self.choice = choice
        (layout, target, labels) = (table.layout, table.target, table.labels)
        let pipeline = TabularPipeline(layout: layout, target: target, labels: labels)
        let model = pipeline.model(predictor).marked
        let engine = try MLCreateError.translating { try TabularPipeline.engine(model) }
        (task, self.engine) = (try TaskModel(model, isLoaded: false), engine)
        samplesTraining = table.validation == nil
        sample = Self.sample(table.validation ?? table.training, table.validationTargets ?? table.trainingTargets)
        trainingMetrics = try Self.metrics(
            engine,
            table.layout,
            table.labels,
            target,
            table.training,
            table.trainingTargets
        )
        if let (truth, predictions) = crossValidated {
            validationMetrics = Self.metrics(labels, truth, predictions)
        } else if let validation = table.validation, let targets = table.validationTargets {
            validationMetrics = try Self.metrics(engine, layout, labels, target, validation, targets)
        } else {
            validationMetrics = .failure(
                MLCreateError.generic(reason: "no rows were set aside for validation")
            )
        }
    }

    /// Loads a model that a task wrote; it has no metrics.
    /// - Parameter model: The specification of a model of `TabularPipeline`.
    /// - Throws: `MLCreateError.type` for other models, and the errors of loading.
    package init(loading model: SpecModel) throws {
        let parts = try LoadedPipeline(model)
        (layout, target, labels, choice) = (parts.layout, parts.target, parts.labels, nil)
        task = try TaskModel(model, isLoaded: false)
        engine = try MLCreateError.translating { try TabularPipeline.engine(model) }
        let failure = MLCreateError.generic(reason: "the model was loaded from a file, which has no metrics")
        (trainingMetrics, validationMetrics) = (.failure(failure), .failure(failure))
        let features = layout.features.map { feature -> EncodedFeature in
            switch feature.kind {
            case .number: .numbers(NumberColumn([]))
            case .categories(let list): .categories([], count: list.count)
            case .keys, .integerKeys:
                .sparse(EncodedFeature.Sparse(starts: [0], columns: [], values: [], width: feature.kind.width))
            case .array: .dense([], width: feature.kind.width)
            }
        }
        sample = (EncodedTable(rowCount: 0, features: features), .numbers([]))
        samplesTraining = false
    }

    package var features: [String] { layout.features.map(\.name) }

    /// The name of the column that the model predicts.
    package var targetColumn: String { target }

    /// The predicted target of every row.
    package func predicted(from frame: DataFrame) throws -> AnyColumn { try predictions(from: frame) }

    /// The performance of a classifier on rows with known targets.
    package func classifierMetrics(on frame: DataFrame) -> MLClassifierMetrics { evaluation(on: frame).classifier }

    /// The performance of a regressor on rows with known targets.
    package func regressorMetrics(on frame: DataFrame) -> MLRegressorMetrics { evaluation(on: frame).regressor }

    /// Writes the model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    package func write(to url: URL, metadata: MLModelMetadata?) throws { try task.write(to: url, metadata) }

    /// The classes of a classifier, in the order of its probabilities; `nil` for a regressor.
    package var classes: LabelList? { labels }

    // MARK: Importance

    private static func sample(_ rows: EncodedTable, _ targets: TargetContent) -> (EncodedTable, TargetContent) {
        // The memory of the caller's frame is not kept with the model.
        guard rows.rowCount > PermutationImportance.Extent.maximumRowCount else { return (rows.owned, targets) }
        var generator = SplitMix64(seed: 0)
        let kept = (0..<rows.rowCount).shuffled(using: &generator).prefix(PermutationImportance.Extent.maximumRowCount)
            .sorted()
        return (rows.rows(kept), targets.rows(kept))
    }

    /// The permutation importance of each feature, measured on validation rows, or on training rows if there are none.
    /// - Parameter seed: The seed of the shuffling.
    /// - Returns: `nil` for a single feature, and for more features than can be measured in reasonable time.
    /// - Throws: `MLCreateError` if the model cannot predict.
    package func importance(seed: Int) throws -> PermutationImportance? {
        let extent = PermutationImportance.Extent(
            rows: sample.rows.rowCount,
            features: features.count,
            width: layout.width
        )
        guard let extent else { return nil }
        let kept = extent.sample(of: sample.rows.rowCount, seed: seed)
        let (table, targets) = (sample.rows.rows(kept), sample.targets.rows(kept))
        let measure: PermutationImportance.Measure = labels == nil ? .rootMeanSquaredError : .classificationError
        return try PermutationImportance(measure, features: features, extent: extent, seed: seed) { shuffled in
            var table = table
            if let (feature, order) = shuffled { table.features[feature] = table.features[feature].rows(order) }
            switch try Self.metrics(engine, layout, labels, target, table, targets) {
            case .regressor(let metrics): return metrics.rootMeanSquaredError
            case .classifier(let counts): return 1 - counts.accuracy
            case .failure(let error): throw error
            }
        }
    }

    // MARK: Predictions

    private enum Output {
        case numbers([Double])
        case labels([FeatureData])
    }

    /// The number of rows that are predicted at a time: a model's inputs in double precision take memory, too.
    private static let rowsAtATime = 1 << 14

    /// An output of the model for every row.
    private static func run(
        _ engine: Pipeline,
        _ layout: FeatureLayout,
        _ table: EncodedTable,
        _ output: String
    ) throws -> FeatureColumn {
        guard table.rowCount > 0 else { return .doubles([]) }
        guard table.rowCount > rowsAtATime else { return try run(engine, table.batch(layout), output) }
        var result: FeatureColumn?
        for start in stride(from: 0, to: table.rowCount, by: rowsAtATime) {
            let rows = Array(start..<min(start + rowsAtATime, table.rowCount))
            let part = try run(engine, table.rows(rows).batch(layout), output)
            result = try result?.appending(part) ?? part
        }
        return result ?? .doubles([])
    }

    private static func run(_ engine: Pipeline, _ batch: FeatureBatch, _ output: String) throws -> FeatureColumn {
        try MLCreateError.translating {
            let outputs = try engine.predictions(from: batch)
            guard let column = outputs.columns[output] else {
                throw MLCreateError.generic(reason: "the model has no output '\(output)'")
            }
            return column
        }
    }

    /// Predictions of the current model for rows of the layout.
    private func predict(_ table: EncodedTable) throws -> FeatureColumn {
        guard let replacement = task.replacement else { return try Self.run(engine, layout, table, target) }
        let batch = table.batch(layout)
        let examples = try (0..<batch.count).map { row in
            try MLDictionaryFeatureProvider(
                dictionary: batch.features(at: row).mapValues { try Self.featureValue($0) }
            )
        }
        let results = try replacement.predictions(fromBatch: MLArrayBatchProvider(array: examples))
        return FeatureColumn(
            try (0..<results.count).map { row in
                guard let value = results.features(at: row).featureValue(for: target) else {
                    throw MLCreateError.generic(reason: "the assigned model has no output '\(target)'")
                }
                switch value.type {
                case .string: return .string(value.stringValue)
                case .int64: return .int64(value.int64Value)
                default: return .double(value.doubleValue)
                }
            }
        )
    }

    private static func featureValue(_ data: FeatureData) throws -> MLFeatureValue {
        switch data {
        case .double(let value): MLFeatureValue(double: value)
        case .int64(let value): MLFeatureValue(int64: value)
        case .string(let value): MLFeatureValue(string: value)
        case .tensor(let tensor): MLFeatureValue(multiArray: MLMultiArray(tensor))
        case .dictionary(.strings(let values)):
            try MLFeatureValue(dictionary: values.reduce(into: [:]) { $0[$1.key] = NSNumber(value: $1.value) })
        case .dictionary(.integers(let values)):
            try MLFeatureValue(dictionary: values.reduce(into: [:]) { $0[$1.key] = NSNumber(value: $1.value) })
        case .image, .sequence:
            throw MLCreateError.type(reason: "tables have no \(data.kind)")
        }
    }

    func predictions(from frame: DataFrame) throws -> AnyColumn {
        let column = try predict(try layout.encode(frame))
        func integers() -> [Int] {
            if case .integers(let values) = column { values.map { Int($0) } } else { [] }
        }
        func texts() -> [String] { if case .strings(let values) = column { values } else { [] } }
        func numbers() -> [Double] { if case .doubles(let values) = column { values } else { [] } }
        return switch labels {
        case nil: Column<Double>(name: target, contents: numbers()).eraseToAnyColumn()
        case .strings?: Column<String>(name: target, contents: texts()).eraseToAnyColumn()
        case .integers?: Column<Int>(name: target, contents: integers()).eraseToAnyColumn()
        }
    }

    /// The probability of each class for every row.
    /// - Parameter frame: Rows with the feature columns.
    /// - Returns: The classes, and their probabilities row by row: [rows × classes].
    /// - Throws: `MLCreateError` for columns that are missing or of another type, for a regressor, and for a model that
    ///   was set.
    package func probabilities(from frame: DataFrame) throws -> (labels: LabelList, values: [Double]) {
        guard let labels else {
            throw MLCreateError.type(reason: "a regressor of '\(target)' predicts numbers, which have no probabilities")
        }
        try task.checkNotReplaced("its probabilities are not known: ask the model itself")
        let table = try layout.encode(frame)
        guard table.rowCount > 0 else { return (labels, []) }
        switch try Self.run(engine, layout, table, target + "Probability") {
        case .scores(let labels, let values): return (labels, values)
        case .values(let rows):
            var values: [Double] = []
            values.reserveCapacity(rows.count * labels.count)
            for row in rows {
                guard case .dictionary(let dictionary) = row else { break }
                values += (0..<labels.count).map { labels.value($0, in: dictionary) }
            }
            if values.count == rows.count * labels.count { return (labels, values) }
        default: break
        }
        throw MLCreateError.generic(reason: "the model outputs no probabilities of '\(target)'")
    }

    func evaluation(on frame: DataFrame) -> TabularMetrics {
        do {
            let column = try frame.column(named: target, for: "target")
            let truth = try labels == nil ? TargetContent.numbers(column) : TargetContent.labels(column)
            return try Self.metrics(labels, truth, try predict(try layout.encode(frame)))
        } catch { return .failure(error) }
    }

    private static func metrics(
        _ engine: Pipeline,
        _ layout: FeatureLayout,
        _ labels: LabelList?,
        _ target: String,
        _ table: EncodedTable,
        _ truth: TargetContent
    ) throws -> TabularMetrics {
        try metrics(labels, truth, try run(engine, layout, table, target))
    }

    private static func metrics(
        _ labels: LabelList?,
        _ truth: TargetContent,
        _ predictions: FeatureColumn
    ) throws -> TabularMetrics {
        switch (labels, predictions) {
        case (nil, .doubles(let values)):
            guard case .numbers(let truth) = truth else { break }
            return .regressor(MLRegressorMetrics(truth: truth, predictions: values))
        case (let labels?, .strings(let values)):
            let all = TargetContent.union(labels, truth.labels)
            return .classifier(try counts(all, truth, .texts(values)))
        case (let labels?, .integers(let values)):
            let all = TargetContent.union(labels, truth.labels)
            return .classifier(try counts(all, truth, .integers(values)))
        case (let labels?, _) where truth.count == 0: return .classifier(ConfusionCounts(labels))
        default: break
        }
        throw MLCreateError.type(reason: "the predictions are of another type than the targets")
    }

    /// Metrics of targets as learners take them: numbers, or the indices of classes.
    private static func metrics(_ labels: LabelList?, _ truth: [Double], _ predictions: [Double]) -> TabularMetrics {
        guard let labels else { return .regressor(MLRegressorMetrics(truth: truth, predictions: predictions)) }
        return .classifier(
            ConfusionCounts(labels, truth: truth.map { Int($0) }, predictions: predictions.map { Int($0) })
        )
    }

    private static func counts(
        _ labels: LabelList,
        _ truth: TargetContent,
        _ predictions: TargetContent
    ) throws -> ConfusionCounts {
        ConfusionCounts(
            labels,
            truth: try truth.values(labels).map { Int($0) },
            predictions: try predictions.values(labels).map { Int($0) }
        )
    }
}

/// Metrics of either kind of task.
package enum TabularMetrics: Sendable {
    case regressor(MLRegressorMetrics)
    case classifier(ConfusionCounts)
    case failure(any Error)

    var regressor: MLRegressorMetrics {
        switch self {
        case .regressor(let metrics): metrics
        case .failure(let error): MLRegressorMetrics(error)
        case .classifier: MLRegressorMetrics(MLCreateError.generic(reason: "these are metrics of a classifier"))
        }
    }

    var classifier: MLClassifierMetrics {
        switch self {
        case .classifier(let counts): MLClassifierMetrics(counts)
        case .failure(let error): MLClassifierMetrics(error)
        case .regressor: MLClassifierMetrics(MLCreateError.generic(reason: "these are metrics of a regressor"))
        }
    }
}

extension FeatureColumn {
    /// The values of both, for columns of one kind.
    ///
    /// - Throws: `MLCreateError` for columns of different kinds, and of arrays, which no target is.
    fileprivate consuming func appending(_ other: FeatureColumn) throws -> FeatureColumn {
        switch (consume self, other) {
        case (.doubles(var values), .doubles(let more)):
            values += more
            return .doubles(values)
        case (.integers(var values), .integers(let more)):
            values += more
            return .integers(values)
        case (.strings(var values), .strings(let more)):
            values += more
            return .strings(values)
        case (.scores(let labels, var values), .scores(let same, let more)) where labels == same:
            values += more
            return .scores(labels: labels, values: values)
        case (.values(var values), .values(let more)):
            values += more
            return .values(values)
        default: throw MLCreateError.generic(reason: "the model's output has different types in different rows")
        }
    }
}

extension LabelList {
    /// The value of a label in a dictionary; 0 if it has none.
    fileprivate func value(_ index: Int, in dictionary: FeatureDictionary) -> Double {
        switch (self, dictionary) {
        case (.strings(let labels), .strings(let values)): values[labels[index]] ?? 0
        case (.integers(let labels), .integers(let values)): values[labels[index]] ?? 0
        default: 0
        }
    }
}
