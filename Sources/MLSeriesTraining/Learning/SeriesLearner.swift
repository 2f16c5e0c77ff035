package import MLNumerics
package import MLSpecification

/// Learns a problem iteration by iteration.
///
/// Everything that is not learned step by step (features, the linear classifier to start from) is made when the learner is,
/// from the seed; a learner that was made of the same problem and restored goes on as the first would have.
package struct SeriesLearner: Sendable {
    package private(set) var problem: SeriesProblem
    private var work: Work

    private enum Work: Sendable {
        case activity(SequenceTrainer<ActivityNetwork>, training: SequenceExamples, validation: SequenceExamples?)
        case poses(SequenceTrainer<PoseNetwork>, training: SequenceExamples, validation: SequenceExamples?)
        case dense(
            SequenceTrainer<DenseNetwork>,
            RocketFeatures?,
            training: SequenceExamples,
            validation: SequenceExamples?
        )
    }

    /// - Throws: `.invalidInput` for examples that cannot be learned from.
    package init(_ problem: SeriesProblem) throws(ModelError) {
        self.problem = problem
        try problem.checkLabels()
        let classCount = problem.labels.count
        switch problem.kind {
        case .activity(let training, let validation, _):
            let network = ActivityNetwork(
                sensorCount: training.offsets.count,
                window: training.window,
                classCount: classCount
            )
            let seed = problem.settings.seed
            let trainer = try SequenceTrainer(
                network,
                settings: problem.settings,
                steps: training.sequenceLength,
                validation: validation?.sequences()
            ) { training.chunks(pass: $0, seed: seed) }
            work = .activity(trainer, training: training.sequences(), validation: validation?.sequences())
        case .poses(let skeleton, let training, let validation):
            let own = try Self.poses(training, skeleton)
            let others = try validation.map { other throws(ModelError) in try Self.poses(other, skeleton) }
            let network = PoseNetwork(
                jointCount: skeleton.jointCount,
                bones: skeleton.bones,
                classCount: classCount
            )
            let trainer = try SequenceTrainer(network, settings: problem.settings, steps: 1, validation: others) { _ in
                own
            }
            work = .poses(trainer, training: own, validation: others)
        case .actions(let skeleton, let frames, let training, let validation):
            work = try Self.rocket(
                problem,
                layerSizes: [],
                channels: 3 * skeleton.jointCount,
                length: frames,
                training: Self.normalized(training, skeleton, frames),
                validation: validation.map { other throws(ModelError) in try Self.normalized(other, skeleton, frames) }
            )
        case .sounds(let layerSizes, let training, let validation):
            let size = SoundWindows.bands * SoundWindows.frames
            work = try Self.rocket(
                problem,
                layerSizes: layerSizes,
                channels: SoundWindows.bands,
                length: SoundWindows.frames,
                training: training.checked(width: size),
                validation: validation.map { other throws(ModelError) in try other.checked(width: size) }
            )
        case .features(let layerSizes, let training, let validation):
            let width = training.count > 0 ? training.values.count / training.count : 0
            work = try Self.dense(
                problem,
                layerSizes: layerSizes,
                rocket: nil,
                training: training.checked(width: width),
                validation: validation.map { other throws(ModelError) in try other.checked(width: width) }
            )
        }
    }

    /// Poses as the network takes them: joint by joint.
    private static func poses(
        _ examples: LabeledExamples,
        _ skeleton: Skeleton
    ) throws(ModelError) -> SequenceExamples {
        let joints = skeleton.jointCount
        let checked = try examples.checked(width: 3 * joints)
        var result = SequenceExamples(inputCount: 3 * joints)
        for (index, label) in checked.labels.enumerated() {
            let pose = Array(checked.values[index * 3 * joints..<(index + 1) * 3 * joints])
            let normal = PoseNormalization.normalized(pose, skeleton)
            let turned = (0..<joints).flatMap { joint in (0..<3).map { normal[$0 * joints + joint] } }
            result.append(features: turned, labels: [label])
        }
        return result
    }

    /// Windows of poses as series: [3 · joints, frames] each.
    private static func normalized(
        _ examples: LabeledExamples,
        _ skeleton: Skeleton,
        _ frames: Int
    ) throws(ModelError) -> LabeledExamples {
        let channels = 3 * skeleton.jointCount
        let checked = try examples.checked(width: frames * channels)
        var result = LabeledExamples()
        result.values.reserveCapacity(checked.values.count)
        for (index, label) in checked.labels.enumerated() {
            let window = Array(checked.values[index * frames * channels..<(index + 1) * frames * channels])
            let normal = PoseNormalization.normalized(window, skeleton)
            var turned = [Float](repeating: 0, count: normal.count)
            for frame in 0..<frames {
                for channel in 0..<channels { turned[channel * frames + frame] = normal[frame * channels + channel] }
            }
            result.append(turned, label)
        }
        return result
    }

    private static func rocket(
        _ problem: SeriesProblem,
        layerSizes: [Int],
        channels: Int,
        length: Int,
        training: LabeledExamples,
        validation: LabeledExamples?
    ) throws(ModelError) -> Work {
        let series = try SeriesSet(values: training.values, channelCount: channels, length: length)
        let rocket = try RocketFeatures(
            series,
            labels: training.labels,
            classCount: problem.labels.count,
            seed: problem.settings.seed,
            solves: layerSizes.isEmpty
        )
        var others: LabeledExamples?
        if let validation, validation.count > 0 {
            let set = try SeriesSet(values: validation.values, channelCount: channels, length: length)
            others = LabeledExamples(values: try rocket.features(of: set), labels: validation.labels)
        }
        return try dense(
            problem,
            layerSizes: layerSizes,
            rocket: rocket,
            training: LabeledExamples(values: rocket.training, labels: training.labels),
            validation: others
        )
    }

    private static func dense(
        _ problem: SeriesProblem,
        layerSizes: [Int],
        rocket: RocketFeatures?,
        training: LabeledExamples,
        validation: LabeledExamples?
    ) throws(ModelError) -> Work {
        if let size = layerSizes.first(where: { $0 < 1 }) {
            throw ModelError(.invalidInput, "a layer of \(size) units; every layer has at least one")
        }
        let own = SequenceExamples(features: training.values, labels: training.labels)
        let others = validation.map { SequenceExamples(features: $0.values, labels: $0.labels) }
        let network = DenseNetwork(
            inputCount: own.inputCount,
            layerSizes: layerSizes,
            classCount: problem.labels.count
        )
        var settings = problem.settings
        // Thousands of features that say the same move the result by as much as one that is moved thousandfold.  What
        // starts from the solution of least squares is only refined: its gradients are small, but Adam's steps are not,
        // and greater ones would lead to a solution that knows the training examples by heart.
        let step = layerSizes.isEmpty ? (rocket?.start == nil ? 0.1 : 0.001) : 3
        settings.learningRate = Swift.min(settings.learningRate, step / Double(own.inputCount))
        let trainer = try SequenceTrainer(
            network,
            settings: settings,
            steps: 1,
            parameters: rocket?.start,
            validation: others
        ) { _ in own }
        return .dense(trainer, rocket, training: own, validation: others)
    }

    package mutating func iterate() throws(ModelError) -> TrainingReport {
        switch work {
        case .activity(var trainer, let training, let validation):
            defer { work = .activity(trainer, training: training, validation: validation) }
            return try trainer.iterate()
        case .poses(var trainer, let training, let validation):
            defer { work = .poses(trainer, training: training, validation: validation) }
            return try trainer.iterate()
        case .dense(var trainer, let rocket, let training, let validation):
            defer { work = .dense(trainer, rocket, training: training, validation: validation) }
            return try trainer.iterate()
        }
    }

    /// Asks for another number of iterations than the problem did; `nil`: until the validation loss stops becoming less.
    package mutating func limit(iterations: Int?) {
        problem.settings.iterations = iterations
        switch work {
        case .activity(var trainer, let training, let validation):
            trainer.limit(iterations: iterations)
            work = .activity(trainer, training: training, validation: validation)
        case .poses(var trainer, let training, let validation):
            trainer.limit(iterations: iterations)
            work = .poses(trainer, training: training, validation: validation)
        case .dense(var trainer, let rocket, let training, let validation):
            trainer.limit(iterations: iterations)
            work = .dense(trainer, rocket, training: training, validation: validation)
        }
    }

    package var iteration: Int {
        switch work {
        case .activity(let trainer, _, _): trainer.iteration
        case .poses(let trainer, _, _): trainer.iteration
        case .dense(let trainer, _, _, _): trainer.iteration
        }
    }

    /// Whether further iterations are of no use.
    package var isDone: Bool {
        switch work {
        case .activity(let trainer, _, _): trainer.isDone
        case .poses(let trainer, _, _): trainer.isDone
        case .dense(let trainer, _, _, _): trainer.isDone
        }
    }

    package var checkpoint: [UInt8] {
        switch work {
        case .activity(let trainer, _, _): trainer.checkpoint
        case .poses(let trainer, _, _): trainer.checkpoint
        case .dense(let trainer, _, _, _): trainer.checkpoint
        }
    }

    package mutating func restore(_ checkpoint: [UInt8]) throws(ModelError) {
        switch work {
        case .activity(var trainer, let training, let validation):
            try trainer.restore(checkpoint)
            work = .activity(trainer, training: training, validation: validation)
        case .poses(var trainer, let training, let validation):
            try trainer.restore(checkpoint)
            work = .poses(trainer, training: training, validation: validation)
        case .dense(var trainer, let rocket, let training, let validation):
            try trainer.restore(checkpoint)
            work = .dense(trainer, rocket, training: training, validation: validation)
        }
    }

    /// The class of each training example and what the model says it is.
    package func trainingPredictions() throws(ModelError) -> (truth: [Int], predictions: [Int]) {
        switch work {
        case .activity(let trainer, let training, _): try Self.predictions(trainer, training)
        case .poses(let trainer, let training, _): try Self.predictions(trainer, training)
        case .dense(let trainer, _, let training, _): try Self.predictions(trainer, training)
        }
    }

    /// As `trainingPredictions`; `nil` without validation data.
    package func validationPredictions() throws(ModelError) -> (truth: [Int], predictions: [Int])? {
        switch work {
        case .activity(let trainer, _, let data?): try Self.predictions(trainer, data)
        case .poses(let trainer, _, let data?): try Self.predictions(trainer, data)
        case .dense(let trainer, _, _, let data?): try Self.predictions(trainer, data)
        default: nil
        }
    }

    /// The class of each of other examples and what the model says it is.
    /// - Throws: `.unsupported` for recordings of activities, which are validation data or go through the file.
    package func predictions(
        of examples: LabeledExamples
    ) throws(ModelError) -> (truth: [Int], predictions: [Int]) {
        switch (work, problem.kind) {
        case (.poses(let trainer, _, _), .poses(let skeleton, _, _)):
            return try Self.predictions(trainer, Self.poses(examples, skeleton))
        case (.dense(let trainer, let rocket, _, _), let kind):
            var examples = examples
            if case .actions(let skeleton, let frames, _, _) = kind {
                examples = try Self.normalized(examples, skeleton, frames)
            }
            if let rocket {
                let set = try SeriesSet(
                    values: examples.values,
                    channelCount: rocket.rocket.channelCount,
                    length: rocket.rocket.length
                )
                examples.values = try rocket.features(of: set)
            }
            return try Self.predictions(
                trainer,
                SequenceExamples(
                    features: examples.checked(width: trainer.network.inputCount).values,
                    labels: examples.labels
                )
            )
        default:
            throw ModelError(.unsupported, "recordings of activities are predicted by the model's file")
        }
    }

    private static func predictions<Network>(
        _ trainer: SequenceTrainer<Network>,
        _ examples: SequenceExamples
    ) throws(ModelError) -> (truth: [Int], predictions: [Int]) {
        var result: (truth: [Int], predictions: [Int]) = ([], [])
        let classes = trainer.network.classCount
        for (logits, labels) in zip(try trainer.logits(of: examples), examples.labels) {
            for (step, label) in labels.enumerated() where label >= 0 {
                let row = Array(logits[step * classes..<(step + 1) * classes])
                result.truth.append(label)
                result.predictions.append(row.indices.max { row[$0] < row[$1] } ?? 0)
            }
        }
        return result
    }

    /// The logits of each training sequence, step by step: what the softmax of the file is taken of, too.
    package func trainingLogits() throws(ModelError) -> [[Float]] {
        switch work {
        case .activity(let trainer, let training, _): try trainer.logits(of: training)
        case .poses(let trainer, let training, _): try trainer.logits(of: training)
        case .dense(let trainer, _, let training, _): try trainer.logits(of: training)
        }
    }

    /// The model so far as a file states it.
    package func specification() throws(ModelError) -> SpecModel {
        let (labels, names) = (problem.labels, problem.names)
        switch (work, problem.kind) {
        case (.activity(let trainer, _, _), .activity(let data, _, let sensors)):
            return trainer.network.specification(
                parameters: trainer.parameters,
                normalization: trainer.normalizations[0],
                data: data,
                sensors: sensors,
                labels: labels,
                names: names
            )
        case (.poses(let trainer, _, _), .poses(let skeleton, _, _)):
            return trainer.network.specification(
                parameters: trainer.parameters,
                skeleton: skeleton,
                labels: labels,
                names: names
            )
        case (.dense(let trainer, let rocket?, _, _), .actions(let skeleton, let frames, _, _)):
            return trainer.network.actionSpecification(
                parameters: trainer.parameters,
                rocket,
                skeleton,
                frames: frames,
                labels: labels,
                names: names
            )
        case (.dense(let trainer, let rocket?, _, _), .sounds):
            return trainer.network.soundSpecification(
                parameters: trainer.parameters,
                rocket,
                labels: labels,
                names: names
            )
        case (.dense(let trainer, nil, _, _), .features):
            return trainer.network.specification(
                parameters: trainer.parameters,
                input: "features",
                labels: labels,
                names: names
            )
        default:
            throw ModelError(.invalidModel, "the learner was made of another kind of problem")
        }
    }
}
