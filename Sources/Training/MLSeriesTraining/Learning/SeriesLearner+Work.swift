import MLNumerics
import MLSpecification
import MLTrainingCore

/// The models that are trained for each kind of problem.
extension SeriesLearner {
    static func activityNetwork(
        _ problem: SeriesProblem,
        _ training: ActivityData,
        _ validation: ActivityData?
    ) throws(ModelError) -> Work {
        let network = ActivityNetwork(
            sensorCount: training.offsets.count,
            window: training.window,
            classCount: problem.labels.count
        )
        let seed = problem.settings.seed
        let others = validation?.sequences()
        let trainer = try SequenceNetworkTrainer(
            network,
            settings: problem.settings,
            steps: training.sequenceLength,
            validation: others
        ) { training.chunks(pass: $0, seed: seed) }
        return Work(
            trainer: trainer,
            model: .activityNetwork(network),
            training: training.sequences(),
            validation: others
        )
    }

    static func activityFeatures(
        _ problem: SeriesProblem,
        _ training: ActivityData,
        _ validation: ActivityData?
    ) throws(ModelError) -> Work {
        let windows = training.examples()
        let features = try ActivityFeatures(
            training,
            windows,
            classCount: problem.labels.count,
            seed: problem.settings.seed
        )
        let others = try validation.map { data throws(ModelError) in try features.features(of: data.examples()) }
        let work = try dense(
            problem,
            layerSizes: [],
            rocket: features.rocket,
            training: LabeledExamples(values: features.rocket.training, labels: windows.labels),
            validation: others
        )
        guard case .dense(let network, _) = work.model else { return work }
        return Work(
            trainer: work.trainer,
            model: .activityFeatures(network, features),
            training: try features.features(of: training.sequences()),
            validation: try validation.map { data throws(ModelError) in try features.features(of: data.sequences()) }
        )
    }

    static func poses(
        _ problem: SeriesProblem,
        _ skeleton: Skeleton,
        _ training: LabeledExamples,
        _ validation: LabeledExamples?
    ) throws(ModelError) -> Work {
        let own = try poses(training, skeleton)
        let others = try validation.map { other throws(ModelError) in try poses(other, skeleton) }
        let network = PoseNetwork(
            jointCount: skeleton.jointCount,
            bones: skeleton.bones,
            classCount: problem.labels.count,
            exampleCount: own.count
        )
        let trainer = try SequenceNetworkTrainer(network, settings: problem.settings, steps: 1, validation: others) {
            _ in own
        }
        return Work(trainer: trainer, model: .poses(network), training: own, validation: others)
    }

    /// Poses in the network's form: the relations of their joints.
    static func poses(
        _ examples: LabeledExamples,
        _ skeleton: Skeleton
    ) throws(ModelError) -> SequenceExamples {
        let joints = skeleton.jointCount
        let checked = try examples.checked(width: 3 * joints)
        var result = SequenceExamples(inputCount: PoseRelations.count(joints: joints))
        for (index, label) in checked.labels.enumerated() {
            let pose = Array(checked.values[index * 3 * joints..<(index + 1) * 3 * joints])
            let normal = PoseNormalization.normalized(pose, skeleton)
            result.append(features: PoseRelations.relations(normal, skeleton), labels: [label])
        }
        return result
    }

    /// Spectrograms relative to silence, because MiniRocket pads with zeros at both ends.
    static func relativeToSilence(_ examples: LabeledExamples) throws(ModelError) -> LabeledExamples {
        var result = try examples.checked(width: SoundWindows.bands * SoundWindows.frames)
        for position in result.values.indices { result.values[position] -= SoundWindows.silence }
        return result
    }

    /// Windows of poses as series: [3 · joints, frames] each.
    static func normalized(
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
            var transposed = [Float](repeating: 0, count: normal.count)
            for frame in 0..<frames {
                for channel in 0..<channels {
                    transposed[channel * frames + frame] = normal[frame * channels + channel]
                }
            }
            result.append(transposed, label)
        }
        return result
    }

    static func rocket(
        _ problem: SeriesProblem,
        layerSizes: [Int],
        channels: Int,
        length: Int,
        groups: [Int]? = nil,
        training: LabeledExamples,
        validation: LabeledExamples?
    ) throws(ModelError) -> Work {
        let series = try SeriesSet(values: training.values, channelCount: channels, length: length)
        let rocket = try RocketFeatures(
            series,
            labels: training.labels,
            classCount: problem.labels.count,
            groups: groups,
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

    static func embeddings(
        _ problem: SeriesProblem,
        layerSizes: [Int],
        groups: [Int],
        training: LabeledExamples,
        validation: LabeledExamples?
    ) throws(ModelError) -> Work {
        let features = try FeatureStandardization(
            training.values,
            labels: training.labels,
            classCount: problem.labels.count,
            groups: groups,
            solves: layerSizes.isEmpty
        )
        let work = try dense(
            problem,
            layerSizes: layerSizes,
            start: features.start,
            training: LabeledExamples(values: features.training, labels: training.labels),
            validation: validation.map { LabeledExamples(values: features.standardized($0.values), labels: $0.labels) }
        )
        guard case .dense(let network, _) = work.model else { return work }
        return Work(
            trainer: work.trainer,
            model: .embeddings(network, features),
            training: work.training,
            validation: work.validation
        )
    }

    static func dense(
        _ problem: SeriesProblem,
        layerSizes: [Int],
        rocket: RocketFeatures? = nil,
        start: [Tensor]? = nil,
        training: LabeledExamples,
        validation: LabeledExamples?
    ) throws(ModelError) -> Work {
        let start = start ?? rocket?.standardization.start
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
        // Thousands of correlated features change the logits as much as one feature multiplied by a thousand, so the
        // rate is divided by their number. A network that starts from the least-squares solution is only refined: its
        // gradients are small, but Adam's steps are not, and larger ones would overfit.
        let step = layerSizes.isEmpty ? (start == nil ? 0.1 : 0.0003) : 3
        settings.learningRate = Swift.min(settings.learningRate, step / Double(own.inputCount))
        // Passes over the data beyond one change no prediction.
        if start != nil { settings.minimumStepCount = 1 }
        let trainer = try SequenceNetworkTrainer(
            network,
            settings: settings,
            steps: 1,
            parameters: start,
            validation: others
        ) { _ in own }
        return Work(trainer: trainer, model: .dense(network, rocket), training: own, validation: others)
    }
}
