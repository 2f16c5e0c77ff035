import CreateML
import Foundation
import TabularData

/// Training of classifiers of sensor recordings and of sounds.
enum SeriesTasks {
    // MARK: Activity

    static func activity(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        guard let features = try options.texts("features") else {
            throw TrainingError("\(request.task) needs the names of the sensors' columns: pass features")
        }
        let label = try options.text("label") ?? "label"
        let recording = try options.text("recording") ?? "recording"
        let source = try activities(request.frame, options, request.task)
        var parameters = MLActivityClassifier.ModelParameters()
        if let provided = try options.options("parameters") {
            if let size = try provided.integer("batchSize") { parameters.batchSize = size }
            if let count = try provided.integer("maximumIterations") { parameters.maximumIterations = count }
            if let size = try provided.integer("predictionWindowSize") { parameters.predictionWindowSize = size }
            try provided.finish()
        }
        parameters.validation = try request.validation(
            none: .none,
            split: { .split(strategy: $0) },
            data: { .dataSource(try activities($0, $1, "validation")) }
        )
        try options.finish()
        let model = try training.result {
            try MLActivityClassifier.train(
                trainingData: source,
                featureColumns: features,
                labelColumn: label,
                recordingFileColumn: recording,
                parameters: parameters,
                sessionParameters: request.session
            )
        }
        return trained(model, request.task)
    }

    static func resumeActivity(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        trained(try training.resumed(MLActivityClassifier.self, request), request.task)
    }

    private static func activities(
        _ frame: DataFrame?,
        _ options: Options,
        _ use: String
    ) throws -> MLActivityClassifier.DataSource {
        if let folder = try options.text("folder") { return .labeledDirectories(at: URL(fileURLWithPath: folder)) }
        return .dataFrame(try frame.required(use))
    }

    private static func trained(_ model: MLActivityClassifier, _ task: String) -> TrainedModel {
        let (features, label) = (model.featureColumns, model.labelColumn)
        var facts = ModelFacts(task: task, features: features, target: label, description: "\(model)")
        facts.training = MetricsFacts(model.trainingMetrics)
        facts.validation = MetricsFacts(model.validationMetrics)
        facts.counts = ["shortRecordings": model.shortRecordings, "emptyRecordings": model.emptyRecordings]
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                let source = try activities(input.frame, input.options, "evaluation")
                try input.options.finish()
                return MetricsFacts(model.evaluation(on: source, featureColumns: features))
            },
            predict: { input in
                let frame = try input.frame.required("prediction")
                let perWindow = try input.options.flag("perWindow") ?? false
                try input.options.finish()
                let labels = try model.predictions(from: frame, perWindowPrediction: perWindow)
                return DataFrame(Column<String>(name: label, contents: labels).eraseToAnyColumn())
            },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    // MARK: Sound

    static func sound(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let columns = (file: try options.text("file") ?? "file", label: try options.text("label") ?? "label")
        let source = try sounds(request.frame, options, columns, request.task)
        var parameters = MLSoundClassifier.ModelParameters(
            validation: try request.validation(
                none: .none,
                split: { .split(strategy: $0) },
                data: { .dataSource(try sounds($0, $1, columns, "validation")) }
            )
        )
        if let provided = try options.options("parameters") {
            if let count = try provided.integer("maxIterations") { parameters.maxIterations = count }
            if let overlap = try provided.number("overlapFactor") { parameters.overlapFactor = overlap }
            if let layers = try provided.integers("layerSizes") {
                parameters.algorithm = .transferLearning(
                    featureExtractor: .vggish(),
                    classifier: .multilayerPerceptron(layerSizes: layers)
                )
            }
            try provided.finish()
        }
        try options.finish()
        let chosen = parameters
        let model = try training.result {
            try MLSoundClassifier.train(trainingData: source, parameters: chosen, sessionParameters: request.session)
        }
        return trained(model, request.task, columns)
    }

    static func resumeSound(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let columns = (file: try options.text("file") ?? "file", label: try options.text("label") ?? "label")
        return trained(try training.resumed(MLSoundClassifier.self, request), request.task, columns)
    }

    private static func trained(
        _ model: MLSoundClassifier,
        _ task: String,
        _ columns: (file: String, label: String)
    ) -> TrainedModel {
        var facts = ModelFacts(task: task, features: [columns.file], target: columns.label, description: "\(model)")
        facts.training = MetricsFacts(model.trainingMetrics)
        facts.validation = MetricsFacts(model.validationMetrics)
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                let source = try sounds(input.frame, input.options, columns, "evaluation")
                try input.options.finish()
                return MetricsFacts(model.evaluation(on: source))
            },
            predict: { input in
                let files = try input.frame.required("prediction").texts(columns.file).map { URL(fileURLWithPath: $0) }
                let wantsProbabilities = try input.options.flag("probabilities") ?? false
                try input.options.finish()
                if wantsProbabilities {
                    let overlap = model.modelParameters.overlapFactor
                    return DataFrame(
                        probabilities: try files.map { file in
                            let windows = try MLSoundClassifier.predictions(
                                of: model.model,
                                from: file,
                                overlapFactor: overlap
                            )
                            return Dictionary(
                                uniqueKeysWithValues: WindowPrediction.mean(of: windows).map {
                                    ($0.label, $0.confidence)
                                }
                            )
                        }
                    )
                }
                let labels = try model.predictions(from: files)
                return DataFrame(Column<String>(name: columns.label, contents: labels).eraseToAnyColumn())
            },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    /// The files of a table, or of a folder with a folder for each label.
    private static func sounds(
        _ frame: DataFrame?,
        _ options: Options,
        _ columns: (file: String, label: String),
        _ use: String
    ) throws -> MLSoundClassifier.DataSource {
        if let folder = try options.text("folder") { return .labeledDirectories(at: URL(fileURLWithPath: folder)) }
        let frame = try frame.required(use)
        var files: [String: [URL]] = [:]
        for (file, label) in zip(try frame.texts(columns.file), try frame.texts(columns.label)) {
            files[label, default: []].append(URL(fileURLWithPath: file))
        }
        return .filesByLabel(files)
    }
}
