import CoreML
import CreateML
import Foundation
import TabularData

/// Training of classifiers of hand poses, hand actions and actions, from key points.
enum KeypointTasks {
    /// The columns of a table of key points, with a row for each pose, or of one of pictures or videos.
    struct Columns: Sendable {
        let session: String
        let label: String
        let keypoints: String
        /// The column of pictures or videos, and where a video's part begins and ends in seconds.
        let media: String
        let start: String?
        let end: String?

        init(_ options: Options, media standard: String) throws {
            session = try options.text("sessionId") ?? "session_id"
            label = try options.text("label") ?? "label"
            keypoints = try options.text("keypoints") ?? "keypoints"
            media = try options.text("media") ?? standard
            start = try options.text("startTime")
            end = try options.text("endTime")
        }

        /// Whether a table has pictures or videos in place of key points.
        func areMedia(_ frame: DataFrame) -> Bool { frame.containsColumn(media) && !frame.containsColumn(keypoints) }
    }

    static let handPose = entry(
        MLHandPoseClassifier.self,
        media: MLHandPoseClassifier.__Defaults.imageColumnName,
        { .labeledImageDataFrame($0, imageColumn: $1.media, labelColumn: $1.label) }
    ) { parameters, given in
        let known: [(String, MLHandPoseClassifier.ImageAugmentationOptions)] = [
            ("horizontallyFlip", .horizontallyFlip), ("rotate", .rotate), ("scale", .scale),
            ("translate", .translate),
        ]
        if let chosen = try given.augmentations(known) { parameters.augmentationOptions = chosen }
    }

    static let handAction = entry(
        MLHandActionClassifier.self,
        media: MLActionDefaults.videoColumnName,
        { videos($0, $1) }
    ) { parameters, given in
        try setWindow(&parameters, given)
        let known: [(String, MLHandActionClassifier.VideoAugmentationOptions)] = [
            ("dropFrames", .dropFrames), ("horizontallyFlip", .horizontallyFlip),
            ("interpolateFrames", .interpolateFrames), ("rotate", .rotate), ("scale", .scale),
            ("translate", .translate),
        ]
        if let chosen = try given.augmentations(known) { parameters.augmentationOptions = chosen }
    }

    static let action = entry(
        MLActionClassifier.self,
        media: MLActionDefaults.videoColumnName,
        { videos($0, $1) }
    ) { parameters, given in
        try setWindow(&parameters, given)
        let known: [(String, MLActionClassifier.VideoAugmentationOptions)] = [("horizontalFlip", .horizontalFlip)]
        if let chosen = try given.augmentations(known) { parameters.augmentationOptions = chosen }
    }

    private static func setWindow<Task: MLActionTask>(
        _ parameters: inout MLKeypointParameters<Task>,
        _ given: Options
    ) throws {
        if let size = try given.integer("predictionWindowSize") { parameters.predictionWindowSize = size }
        if let rate = try given.number("targetFrameRate") { parameters.targetFrameRate = rate }
    }

    private static func videos<Task>(_ frame: DataFrame, _ columns: Columns) -> MLActionDataSource<Task> {
        .labeledVideoDataFrame(
            frame,
            videoColumn: columns.media,
            labelColumn: columns.label,
            startTimeColumn: columns.start,
            endTimeColumn: columns.end
        )
    }

    // MARK: Training

    private static func entry<Task: MLKeypointTask & SendableMetatype>(
        _: Task.Type,
        media: String,
        _ files: @escaping @Sendable (DataFrame, Columns) -> Task.DataSource,
        _ set: @escaping @Sendable (inout Task.ModelParameters, Options) throws -> Void
    ) -> Tasks.Entry where Task.DataSource: SendableMetatype {
        let source: Source<Task> = { try self.source($0, $1, $2, $3, files) }
        return Tasks.Entry(
            train: { request, training in
                let columns = try Columns(request.options, media: media)
                let data = try source(request.frame, request.options, columns, request.task)
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
                return trained(model, request.task, columns, source)
            },
            resume: { request, training in
                let columns = try Columns(request.options, media: media)
                return trained(try training.resumed(Task.self, request), request.task, columns, source)
            }
        )
    }

    /// The labelled data of a task: of a table or of what the options name, for a use.
    private typealias Source<Task: MLKeypointTask> =
        @Sendable (DataFrame?, Options, Columns, String) throws -> Task.DataSource

    /// The source of key points: a table of them or of files, or a folder of files.
    private static func source<Source: MLKeypointDataSource>(
        _ frame: DataFrame?,
        _ options: Options,
        _ columns: Columns,
        _ use: String,
        _ files: (DataFrame, Columns) -> Source
    ) throws -> Source {
        if let path = try options.text("folder") {
            let url = URL(fileURLWithPath: path)
            return try FolderForm.hasLabels(url) ? .labeledDirectories(at: url) : .labeledFiles(at: url)
        }
        let folder = try options.text("relativeTo")
        let frame = try frame.required(use)
        if columns.areMedia(frame) { return files(try frame.resolving(columns.media, in: folder), columns) }
        return .labeledKeypointsDataFrame(
            frame,
            sessionIdColumn: columns.session,
            labelColumn: columns.label,
            featureColumn: columns.keypoints
        )
    }

    private static func trained<Task: MLKeypointTask>(
        _ model: Task,
        _ task: String,
        _ columns: Columns,
        _ source: @escaping Source<Task>
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
                let data = try source(input.frame, input.options, columns, "evaluation")
                let metrics = try model.evaluation(on: data)
                try input.options.finish()
                return MetricsFacts(metrics)
            },
            predict: { try predictions($0, model, columns) },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    /// A row for each session: its label by the mean of its windows, or with the option `perWindow` one for each window.
    private static func predictions<Task: MLKeypointTask>(
        _ input: TrainedModel.Input,
        _ model: Task,
        _ columns: Columns
    ) throws -> DataFrame {
        let frame = try input.frame.required("prediction")
        let perWindow = try input.options.flag("perWindow") ?? false
        let folder = try input.options.text("relativeTo")
        try input.options.finish()
        let sessions: [(session: String, windows: [WindowPrediction])]
        if columns.areMedia(frame) {
            let files = try frame.texts(columns.media)
            let paths = try frame.resolving(columns.media, in: folder).texts(columns.media)
            sessions = try zip(files, paths).map { file, path in
                let windows = try KeypointPredictions.predictions(
                    of: model.model,
                    from: URL(fileURLWithPath: path),
                    frameRate: model.modelParameters.window?.frameRate
                )
                return (file, windows)
            }
        } else {
            sessions = try KeypointPredictions.predictions(
                of: model.model,
                from: frame,
                sessionColumn: columns.session,
                featureColumn: columns.keypoints
            )
        }
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
