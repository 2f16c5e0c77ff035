import MLSeriesTraining

/// What a classifier of key points is trained by, whatever its parameters are called.
struct KeypointProblem {
    /// What validates.
    enum Validation {
        case none
        case sessions([KeypointTable.Session])
        case split(MLSplitStrategy)
    }

    let skeleton: Skeleton
    /// Frames of a window; `nil` for poses one by one.
    let frames: Int?
    let batchSize: Int
    let iterations: Int
    let augmentations: [PoseAugmentation]

    /// - Parameters:
    ///   - frameRate: what the model's parameters say besides, as `augmentation`.
    /// - Throws: for parameters out of range, and labels that only the validation data have.
    func run<Product>(
        _ sessions: [KeypointTable.Session],
        _ validation: Validation,
        frameRate: Double? = nil,
        augmentation: Int
    ) throws -> SeriesRun<Product> {
        if let frames, frames < MiniRocket.leastLength {
            throw MLCreateError.generic(
                reason: "predictionWindowSize is \(frames); it must be \(MiniRocket.leastLength) frames or more"
            )
        }
        guard batchSize > 0, iterations > 0 else {
            throw MLCreateError.generic(
                reason: "batchSize is \(batchSize) and maximumIterations \(iterations); both must be 1 or more"
            )
        }
        var (own, others) = (sessions, [KeypointTable.Session]())
        switch validation {
        case .none: break
        case .sessions(let sessions): others = sessions
        case .split(let strategy):
            let parts = try strategy.split(count: sessions.count)
            (own, others) = (parts.training.map { sessions[$0] }, parts.validation.map { sessions[$0] })
        }
        let numbers = LabelNumbers(own.map(\.label))
        let windows = ActionWindows(skeleton: skeleton, frames: frames ?? 1)
        var settings = SequenceTrainingSettings()
        settings.batchSize = batchSize
        settings.iterations = iterations
        let training = try windows.examples(own, numbers, augmentations, seed: settings.seed)
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
                augmentation: augmentation
            )
        )
    }
}
