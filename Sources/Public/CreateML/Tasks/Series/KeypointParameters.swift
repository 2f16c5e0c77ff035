import MLSeriesTraining

/// The parameters of a classifier of key points, independent of the task.
protocol KeypointParameters {
    associatedtype Source: KeypointDataSource
    associatedtype Augmentations: KeypointAugmentations

    var batchSize: Int { get }
    var maximumIterations: Int { get }
    var augmentationOptions: Augmentations { get }
    /// The number of frames in a window; `nil` for single poses.
    var frames: Int? { get }
    /// The frame rate that the parameters record, if they have one.
    var frameRate: Double? { get }
    var validating: KeypointValidation<Source> { get }
}

/// The parameters of a classifier of actions.
protocol ActionParameters: KeypointParameters {
    var predictionWindowSize: Int { get }
    var targetFrameRate: Double { get }
}

extension ActionParameters {
    var frames: Int? { predictionWindowSize }
    var frameRate: Double? { targetFrameRate }
}

/// Options that stand for augmentations of poses.
protocol KeypointAugmentations: OptionSet where RawValue == Int {
    var augmentations: [PoseAugmentation] { get }
}

/// The choice of validation data.
enum KeypointValidation<Source: KeypointDataSource> {
    case none
    case source(Source)
    case split(MLSplitStrategy)
}

extension KeypointTask {
    /// The training of a task.
    /// - Throws: `MLCreateError` for data that cannot be read, parameters out of range, and labels that only validation
    ///   data have.
    static func run<Parameters: KeypointParameters>(
        _ source: Parameters.Source,
        _ parameters: Parameters
    ) throws -> SeriesRun<Self> where Parameters.Source.Classifier == Self {
        let (batchSize, iterations) = (parameters.batchSize, parameters.maximumIterations)
        if let frames = parameters.frames, frames < MiniRocket.leastLength {
            throw MLCreateError.generic(
                reason: "predictionWindowSize is \(frames); it must be \(MiniRocket.leastLength) frames or more"
            )
        }
        guard batchSize > 0, iterations > 0 else {
            throw MLCreateError.generic(
                reason: "batchSize is \(batchSize) and maximumIterations \(iterations); both must be 1 or more"
            )
        }
        var (own, others) = (try source.sessions(frameRate: parameters.frameRate), [KeypointTable.Session]())
        switch parameters.validating {
        case .none: break
        case .source(let other): others = try other.sessions(frameRate: parameters.frameRate)
        case .split(let strategy):
            let sessions = own
            let parts = try strategy.split(count: sessions.count)
            (own, others) = (parts.training.map { sessions[$0] }, parts.validation.map { sessions[$0] })
        }
        let numbers = LabelNumbers(own.map(\.label))
        let windows = ActionWindows(skeleton: skeleton, frames: parameters.frames ?? 1)
        var settings = SequenceTrainingSettings()
        settings.batchSize = batchSize
        settings.iterations = iterations
        let augmentations = parameters.augmentationOptions
        let training = try windows.examples(own, numbers, augmentations.augmentations, seed: settings.seed)
        let held = others.isEmpty ? nil : try windows.examples(others, numbers, [], seed: 0)
        let kind: SeriesProblem.Kind =
            if let frames = parameters.frames {
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
                window: parameters.frames,
                frameRate: parameters.frameRate,
                augmentation: augmentations.rawValue
            )
        )
    }
}
