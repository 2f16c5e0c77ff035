import Foundation
import MLSeriesTraining

/// A classifier of key points.
protocol KeypointTask: SeriesClassifier, MLKeypointTask
where DataSource: KeypointDataSource, AugmentationOptions: KeypointAugmentations {}

/// Options that stand for augmentations of poses.
protocol KeypointAugmentations: OptionSet where RawValue == Int {
    /// The changes of poses that the options stand for, in the order in which they are made.
    static var changes: [(option: Element, change: PoseAugmentation)] { get }
}

extension KeypointTask {
    /// The training of a task.
    /// - Throws: `MLCreateError` for data that cannot be read, parameters out of range, and labels that only validation
    ///   data have.
    static func run(_ source: DataSource, _ parameters: ModelParameters) throws -> SeriesRun<Self> {
        let (batchSize, iterations) = (parameters.batchSize, parameters.maximumIterations)
        let (frames, frameRate) = (parameters.window?.frames, parameters.window?.frameRate)
        if let frames, frames < MiniRocket.minimumLength {
            throw MLCreateError.generic(
                reason: "predictionWindowSize is \(frames); it must be \(MiniRocket.minimumLength) frames or more"
            )
        }
        guard batchSize > 0, iterations > 0 else {
            throw MLCreateError.generic(
                reason: "batchSize is \(batchSize) and maximumIterations \(iterations); both must be 1 or more"
            )
        }
        let extracted = try source.sessions(frameRate: frameRate)
        var (own, others) = (extracted.sessions, [KeypointTable.Session]())
        var skipped = extracted.skipped
        switch parameters.validation {
        case .none: break
        case .dataSource(let other):
            let extracted = try other.sessions(frameRate: frameRate)
            others = extracted.sessions
            skipped += extracted.skipped
        case .split(let strategy):
            let sessions = own
            let parts = try strategy.split(count: sessions.count)
            (own, others) = (parts.training.map { sessions[$0] }, parts.validation.map { sessions[$0] })
        }
        let numbers = LabelNumbers(own.map(\.label))
        let skeleton = try Skeleton(jointCount: jointCount)
        let windows = ActionWindows(skeleton: skeleton, frames: frames ?? 1)
        var settings = SequenceTrainingSettings()
        settings.batchSize = batchSize
        settings.iterations = iterations
        let augmentations = parameters.augmentationOptions
        let changes = AugmentationOptions.changes.filter { augmentations.contains($0.option) }.map(\.change)
        let training = try windows.examples(own, numbers, changes, seed: settings.seed)
        let held = others.isEmpty ? nil : try windows.examples(others, numbers, [], seed: 0)
        let kind: SeriesProblem.Kind =
            if let frames {
                .actions(skeleton, frames: frames, training: training, validation: held)
            } else {
                .poses(skeleton, training: training, validation: held)
            }
        let problem = SeriesProblem(
            kind,
            labels: numbers.labels,
            names: ClassifierNames(label: "label", probabilities: "labelProbabilities"),
            settings: settings
        )
        return try SeriesRun(
            problem,
            SeriesOptions(
                batchSize: batchSize,
                iterations: iterations,
                window: frames,
                frameRate: frameRate,
                augmentation: augmentations.rawValue,
                skippedFiles: skipped.isEmpty ? nil : skipped
            )
        )
    }

    /// The task of a session, whose options are its parameters.
    init(_ outcome: SeriesOutcome) {
        let options = outcome.options
        var parameters = ModelParameters()
        if let size = options.batchSize { parameters.batchSize = size }
        if let count = options.iterations { parameters.maximumIterations = count }
        parameters.augmentationOptions = AugmentationOptions(rawValue: options.augmentation ?? 0)
        if let frames = options.window { parameters.window?.frames = frames }
        if let rate = options.frameRate { parameters.window?.frameRate = rate }
        self.init(outcome, parameters)
    }

    /// The windows of the model; those of single poses have one frame.
    func windows() throws -> ActionWindows {
        ActionWindows(
            skeleton: try Skeleton(jointCount: Self.jointCount),
            frames: Self.standardWindowSize.map { outcome.options.window ?? $0 } ?? 1
        )
    }

    /// The poses in a file.
    /// - Throws: `MLCreateError` for a file that cannot be used, and for one in which no hand or body is found.
    func poses(at file: URL) throws -> PoseSequence {
        try DataSource.reader(frameRate: outcome.options.frameRate).foundPoses(at: file)
    }

    /// Evaluates the model on labelled data, window by window or pose by pose.
    public func evaluation(on labeledData: DataSource) throws -> MLClassifierMetrics {
        try windows().metrics(labeledData.sessions(frameRate: outcome.options.frameRate).sessions, model, outcome)
    }
}

/// A classifier of actions.
protocol ActionTask: KeypointTask, MLActionTask {}

extension ActionTask {
    /// Predicts the actions in a video, window by window.
    public func prediction(from video: URL) throws -> [MLActionPrediction<Self>] {
        try windows().results(of: model, poses(at: video)).map {
            MLActionPrediction(frameRange: $0.frames, results: $0.results)
        }
    }
}
