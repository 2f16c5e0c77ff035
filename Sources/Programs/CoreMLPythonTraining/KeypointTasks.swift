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

    static let handPose = entry(MLHandPoseClassifier.self) { parameters, given in
        let known: [(String, MLHandPoseClassifier.ImageAugmentationOptions)] = [
            ("horizontallyFlip", .horizontallyFlip), ("rotate", .rotate), ("scale", .scale),
            ("translate", .translate),
        ]
        if let chosen = try augmentations(given, known) { parameters.augmentationOptions = chosen }
    }

    static let handAction = entry(MLHandActionClassifier.self) { parameters, given in
        try setWindow(&parameters, given)
        let known: [(String, MLHandActionClassifier.VideoAugmentationOptions)] = [
            ("dropFrames", .dropFrames), ("horizontallyFlip", .horizontallyFlip),
            ("interpolateFrames", .interpolateFrames), ("rotate", .rotate), ("scale", .scale),
            ("translate", .translate),
        ]
        if let chosen = try augmentations(given, known) { parameters.augmentationOptions = chosen }
    }

    static let action = entry(MLActionClassifier.self) { parameters, given in
        try setWindow(&parameters, given)
        let known: [(String, MLActionClassifier.VideoAugmentationOptions)] = [("horizontalFlip", .horizontalFlip)]
        if let chosen = try augmentations(given, known) { parameters.augmentationOptions = chosen }
    }

    private static func setWindow<Task: MLActionTask>(
        _ parameters: inout MLKeypointParameters<Task>,
        _ given: Options
    ) throws {
        if let size = try given.integer("predictionWindowSize") { parameters.predictionWindowSize = size }
        if let rate = try given.number("targetFrameRate") { parameters.targetFrameRate = rate }
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

    // MARK: Training

    private static func entry<Task: MLKeypointTask & SendableMetatype>(
        _: Task.Type,
        _ set: @escaping @Sendable (inout Task.ModelParameters, Options) throws -> Void
    ) -> Tasks.Entry where Task.DataSource: SendableMetatype {
        Tasks.Entry(
            train: { request, training in
                let columns = try Columns(request.options)
                let data: Task.DataSource = try source(request.frame, request.options, columns, request.task)
                var parameters = Task.ModelParameters()
                if let given = try request.options.options("parameters") {
                    if let size = try given.integer("batchSize") { parameters.batchSize = size }
                    if let count = try given.integer("maximumIterations") { parameters.maximumIterations = count }
                    try set(&parameters, given)
                    try given.finish()
                }
                parameters.validation = try request.validation(
                    none: .none,
                    split: { .split(strategy: $0) },
                    data: { .dataSource(try source($0, $1, columns, "validation")) }
                )
                try request.options.finish()
                let model = try training.result {
                    try Task.train(trainingData: data, parameters: parameters, sessionParameters: request.session)
                }
                return trained(model, request.task, columns)
            },
            resume: { request, training in
                let columns = try Columns(request.options)
                return trained(try training.resumed(Task.self, request), request.task, columns)
            }
        )
    }

    /// The source of key points: a table, or a folder with a folder of tables for each label.
    private static func source<Source: MLKeypointDataSource>(
        _ frame: DataFrame?,
        _ options: Options,
        _ columns: Columns,
        _ use: String
    ) throws -> Source {
        if let path = try options.text("folder") { return .labeledDirectories(at: URL(fileURLWithPath: path)) }
        return .labeledKeypointsDataFrame(
            try frame.required(use),
            sessionIdColumn: columns.session,
            labelColumn: columns.label,
            featureColumn: columns.keypoints
        )
    }

    private static func trained<Task: MLKeypointTask>(
        _ model: Task,
        _ task: String,
        _ columns: Columns
    ) -> TrainedModel {
        var facts = ModelFacts(
            task: task,
            features: [columns.keypoints],
            target: columns.label,
            description: "\(model)"
        )
        facts.training = MetricsFacts(model.trainingMetrics)
        facts.validation = MetricsFacts(model.validationMetrics)
        return TrainedModel(
            facts: facts,
            evaluate: { input in
                let source: Task.DataSource = try source(input.frame, input.options, columns, "evaluation")
                let metrics = try model.evaluation(on: source)
                try input.options.finish()
                return MetricsFacts(metrics)
            },
            predict: { try predictions($0, model.model, columns) },
            write: { try model.write(to: $0, metadata: $1) }
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
}
