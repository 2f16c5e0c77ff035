import CreateML
import TabularData

/// The training of a classifier of key points on the command line.
struct PoseTraining<Task: MLKeypointTask> {
    /// The kind of model in reports.
    let kind: String
    /// The subject of the pictures: "hand" or "body".
    let part: String
    let columns: PoseColumnOptions
    let held: SplitOptions
    let training: TrainingOptions
    /// The facts of a report about the kind of task.
    var facts: [(name: String, value: String)] = []
    /// The data source of files and labels, in the columns `file` and `label`.
    let table: (DataFrame) -> Task.DataSource
    /// Extracts the key points of a data source.
    let extract: (Task.DataSource) throws -> DataFrame

    /// Trains on the data at a path, and writes the model and the report.
    ///
    /// - Parameters:
    ///   - data: A folder, or a table.
    ///   - parameters: The parameters of the task, but for the choice of validation data.
    /// - Throws: `Failure` and `MLCreateError` for data that cannot be used, `ExitCode` after a signal.
    func run(on data: String, _ parameters: Task.ModelParameters) throws {
        let flow = TrainingFlow(training)
        flow.announce("looking at \(data)")
        let found = try extracted(data)
        var parameters = parameters
        parameters.validation = try held.choice(none: .none, split: { .split(strategy: $0) }) {
            .dataSource(source(try extracted($0).frame, labelColumn: "label"))
        }
        let (model, curves) = try flow.train(iterations: parameters.maximumIterations) { session in
            try Task.train(
                trainingData: source(found.frame, labelColumn: "label"),
                parameters: parameters,
                sessionParameters: session
            )
        }
        try flow.finish(
            TrainingFlow.outcome(
                of: kind,
                (model.trainingMetrics, model.validationMetrics),
                curves: curves,
                facts: [("data", data)] + found.facts + facts,
                json: ["files": found.files, "leftOut": found.leftOut],
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
        )
    }

    private func extracted(_ path: String) throws -> PoseData.Extracted {
        let source: Task.DataSource =
            switch try PoseData(path, columns, readsVideos: Task.standardWindowSize != nil) {
            case .directories(let url): .labeledDirectories(at: url)
            case .files(let url): .labeledFiles(at: url)
            case .table(let frame): table(frame)
            case .keypoints(let frame): source(frame, labelColumn: columns.label)
            }
        return try PoseData.extracted(part) { (try extract(source), try source.gatherAnnotatedFileNames()) }
    }

    private func source(_ keypoints: DataFrame, labelColumn: String) -> Task.DataSource {
        .labeledKeypointsDataFrame(
            keypoints,
            sessionIdColumn: "session_id",
            labelColumn: labelColumn,
            featureColumn: "keypoints"
        )
    }
}

extension PoseTraining where Task: MLActionTask {
    init(
        kind: String,
        part: String,
        columns: PoseColumnOptions,
        held: SplitOptions,
        training: TrainingOptions,
        actions: ActionOptions
    ) {
        self.init(
            kind: kind,
            part: part,
            columns: columns,
            held: held,
            training: training,
            facts: actions.facts,
            table: { .labeledVideoDataFrame($0, videoColumn: "file", labelColumn: "label") },
            extract: { try $0.extractKeypoints(targetFrameRate: actions.frameRate) }
        )
    }
}
