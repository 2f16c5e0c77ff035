import CoreML
import CreateML
import Foundation
import TabularData

/// Training of classifiers of hand poses, hand actions and actions, from key points.
enum KeypointTasks {
    /// The columns of a table of key points, with a row for each pose.
    private struct Columns {
        let session: String
        let label: String
        let keypoints: String

        init(_ options: Options) throws {
            session = try options.text("sessionId") ?? "session_id"
            label = try options.text("label") ?? "label"
            keypoints = try options.text("keypoints") ?? "keypoints"
        }
    }

    /// Where key points come from: a table, or a folder with a folder of tables for each label.
    private static func source<Source>(
        _ frame: DataFrame?,
        _ options: Options,
        _ use: String,
        folder: (URL) -> Source,
        table: (DataFrame) -> Source
    ) throws -> Source {
        if let path = try options.text("folder") { return folder(URL(fileURLWithPath: path)) }
        return table(try frame.required(use))
    }

    /// The set of options that a list of names stands for.
    private static func augmentations<Set: OptionSet>(
        _ options: Options,
        _ known: [(name: String, option: Set)]
    ) throws -> Set? where Set.Element == Set {
        guard let names = try options.texts("augmentations") else { return nil }
        var result: Set = []
        for name in names {
            guard let found = known.first(where: { $0.name == name }) else {
                let all = known.map(\.name).joined(separator: ", ")
                throw TrainingError("'\(name)' is not an augmentation; the augmentations are \(all)")
            }
            result.insert(found.option)
        }
        return result
    }

    private static func trained(
        _ task: String,
        _ columns: Columns,
        _ description: String,
        _ metrics: (training: MLClassifierMetrics, validation: MLClassifierMetrics),
        _ model: MLModel,
        evaluate: @escaping (TrainedModel.Input) throws -> MLClassifierMetrics,
        write: @escaping (URL, MLModelMetadata?) throws -> Void
    ) -> TrainedModel {
        var facts = ModelFacts(
            task: task,
            features: [columns.keypoints],
            target: columns.label,
            description: description
        )
        facts.training = MetricsFacts(metrics.training)
        facts.validation = MetricsFacts(metrics.validation)
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                let metrics = try evaluate(input)
                try input.options.finish()
                return MetricsFacts(metrics)
            },
            predict: { try predictions($0, model, columns) },
            write: write
        )
    }

    /// A row for each session: its label by the mean of its windows, or with the option `perWindow` one for each window.
    private static func predictions(
        _ input: TrainedModel.Input,
        _ model: MLModel,
        _ columns: Columns
    ) throws -> DataFrame {
        let frame = try input.frame.required("prediction")
        let perWindow = try input.options.flag("perWindow") ?? false
        try input.options.finish()
        let sessions = try KeypointPredictions.predictions(
            of: model,
            from: frame,
            sessionColumn: columns.session,
            featureColumn: columns.keypoints
        )
        var (names, starts, labels, confidences): ([String], [Int], [String], [Double]) = ([], [], [], [])
        for (session, windows) in sessions {
            let rows =
                perWindow
                ? windows.map { (start: $0.range.lowerBound, best: $0.results.first) }
                : [(start: 0, best: WindowPrediction.mean(of: windows).first)]
            for row in rows {
                guard let best = row.best else { continue }
                names.append(session)
                starts.append(row.start)
                labels.append(best.label)
                confidences.append(best.confidence)
            }
        }
        var result = DataFrame(columns: [
            Column<String>(name: columns.session, contents: names).eraseToAnyColumn(),
            Column<String>(name: columns.label, contents: labels).eraseToAnyColumn(),
            Column<Double>(name: "confidence", contents: confidences).eraseToAnyColumn(),
        ])
        if perWindow { result.append(column: Column<Int>(name: "frame", contents: starts)) }
        return result
    }

    // MARK: Hand poses

    private static func handPoses(
        _ frame: DataFrame?,
        _ options: Options,
        _ columns: Columns,
        _ use: String
    ) throws -> MLHandPoseClassifier.DataSource {
        try source(frame, options, use, folder: { .labeledDirectories(at: $0) }) {
            .labeledKeypointsDataFrame(
                $0,
                sessionIdColumn: columns.session,
                labelColumn: columns.label,
                featureColumn: columns.keypoints
            )
        }
    }

    static func handPose(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let columns = try Columns(request.options)
        let data = try handPoses(request.frame, request.options, columns, request.task)
        var parameters = MLHandPoseClassifier.ModelParameters()
        if let given = try request.options.options("parameters") {
            if let size = try given.integer("batchSize") { parameters.batchSize = size }
            if let count = try given.integer("maximumIterations") { parameters.maximumIterations = count }
            let known: [(String, MLHandPoseClassifier.ImageAugmentationOptions)] = [
                ("horizontallyFlip", .horizontallyFlip), ("rotate", .rotate), ("scale", .scale),
                ("translate", .translate),
            ]
            if let chosen = try augmentations(given, known) { parameters.augmentationOptions = chosen }
            try given.finish()
        }
        parameters.validation = try request.validation(
            none: .none,
            split: { .split(strategy: $0) },
            data: { .dataSource(try handPoses($0, $1, columns, "validation")) }
        )
        try request.options.finish()
        return handPose(
            try training.result {
                try MLHandPoseClassifier.train(
                    trainingData: data,
                    parameters: parameters,
                    sessionParameters: request.session
                )
            },
            request.task,
            columns
        )
    }

    static func resumeHandPose(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let columns = try Columns(request.options)
        try request.options.finish()
        let model = try training.result {
            try MLHandPoseClassifier.resume(
                try MLHandPoseClassifier.restoreTrainingSession(sessionParameters: request.session)
            )
        }
        return handPose(model, request.task, columns)
    }

    private static func handPose(_ model: MLHandPoseClassifier, _ task: String, _ columns: Columns) -> TrainedModel {
        trained(
            task,
            columns,
            "\(model)",
            (model.trainingMetrics, model.validationMetrics),
            model.model,
            evaluate: { try model.evaluation(on: handPoses($0.frame, $0.options, columns, "evaluation")) },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    // MARK: Hand actions

    private static func handActions(
        _ frame: DataFrame?,
        _ options: Options,
        _ columns: Columns,
        _ use: String
    ) throws -> MLHandActionClassifier.DataSource {
        try source(frame, options, use, folder: { .labeledDirectories(at: $0) }) {
            .labeledKeypointsDataFrame(
                $0,
                sessionIdColumn: columns.session,
                labelColumn: columns.label,
                featureColumn: columns.keypoints
            )
        }
    }

    static func handAction(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let columns = try Columns(request.options)
        let data = try handActions(request.frame, request.options, columns, request.task)
        var parameters = MLHandActionClassifier.ModelParameters()
        if let given = try request.options.options("parameters") {
            if let size = try given.integer("batchSize") { parameters.batchSize = size }
            if let count = try given.integer("maximumIterations") { parameters.maximumIterations = count }
            if let size = try given.integer("predictionWindowSize") { parameters.predictionWindowSize = size }
            if let rate = try given.number("targetFrameRate") { parameters.targetFrameRate = rate }
            let known: [(String, MLHandActionClassifier.VideoAugmentationOptions)] = [
                ("dropFrames", .dropFrames), ("horizontallyFlip", .horizontallyFlip),
                ("interpolateFrames", .interpolateFrames), ("rotate", .rotate), ("scale", .scale),
                ("translate", .translate),
            ]
            if let chosen = try augmentations(given, known) { parameters.augmentationOptions = chosen }
            try given.finish()
        }
        parameters.validation = try request.validation(
            none: .none,
            split: { .split(strategy: $0) },
            data: { .dataSource(try handActions($0, $1, columns, "validation")) }
        )
        try request.options.finish()
        return handAction(
            try training.result {
                try MLHandActionClassifier.train(
                    trainingData: data,
                    parameters: parameters,
                    sessionParameters: request.session
                )
            },
            request.task,
            columns
        )
    }

    static func resumeHandAction(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let columns = try Columns(request.options)
        try request.options.finish()
        let model = try training.result {
            try MLHandActionClassifier.resume(
                try MLHandActionClassifier.restoreTrainingSession(sessionParameters: request.session)
            )
        }
        return handAction(model, request.task, columns)
    }

    private static func handAction(_ model: MLHandActionClassifier, _ task: String, _ columns: Columns) -> TrainedModel
    {
        trained(
            task,
            columns,
            "\(model)",
            (model.trainingMetrics, model.validationMetrics),
            model.model,
            evaluate: { try model.evaluation(on: handActions($0.frame, $0.options, columns, "evaluation")) },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    // MARK: Actions

    private static func actions(
        _ frame: DataFrame?,
        _ options: Options,
        _ columns: Columns,
        _ use: String
    ) throws -> MLActionClassifier.DataSource {
        try source(frame, options, use, folder: { .labeledDirectories(at: $0) }) {
            .labeledKeypointsDataFrame(
                $0,
                sessionIdColumn: columns.session,
                labelColumn: columns.label,
                featureColumn: columns.keypoints
            )
        }
    }

    static func action(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let columns = try Columns(request.options)
        let data = try actions(request.frame, request.options, columns, request.task)
        var parameters = MLActionClassifier.ModelParameters()
        if let given = try request.options.options("parameters") {
            if let size = try given.integer("batchSize") { parameters.batchSize = size }
            if let count = try given.integer("maximumIterations") { parameters.maximumIterations = count }
            if let size = try given.integer("predictionWindowSize") { parameters.predictionWindowSize = size }
            if let rate = try given.number("targetFrameRate") { parameters.targetFrameRate = rate }
            let known: [(String, MLActionClassifier.VideoAugmentationOptions)] = [("horizontalFlip", .horizontalFlip)]
            if let chosen = try augmentations(given, known) { parameters.augmentationOptions = chosen }
            try given.finish()
        }
        parameters.validation = try request.validation(
            none: .none,
            split: { .split(strategy: $0) },
            data: { .dataSource(try actions($0, $1, columns, "validation")) }
        )
        try request.options.finish()
        return action(
            try training.result {
                try MLActionClassifier.train(
                    trainingData: data,
                    parameters: parameters,
                    sessionParameters: request.session
                )
            },
            request.task,
            columns
        )
    }

    static func resumeAction(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let columns = try Columns(request.options)
        try request.options.finish()
        let model = try training.result {
            try MLActionClassifier.resume(
                try MLActionClassifier.restoreTrainingSession(sessionParameters: request.session)
            )
        }
        return action(model, request.task, columns)
    }

    private static func action(_ model: MLActionClassifier, _ task: String, _ columns: Columns) -> TrainedModel {
        trained(
            task,
            columns,
            "\(model)",
            (model.trainingMetrics, model.validationMetrics),
            model.model,
            evaluate: { try model.evaluation(on: actions($0.frame, $0.options, columns, "evaluation")) },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }
}
