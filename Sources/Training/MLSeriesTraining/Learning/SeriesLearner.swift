package import MLNumerics
package import MLSpecification
import MLTrainingCore

/// Trains a classifier of time series, iteration by iteration.
///
/// Everything that is not trained iteratively (features, the initial linear classifier) is computed from the seed when
/// the learner is created; a learner that was created for the same problem and restored continues exactly as the first
/// one would have.
package struct SeriesLearner: IterativeTraining, Sendable {
    package private(set) var problem: SeriesProblem
    private var work: Work

    /// The model that is trained, its trainer, and the training data.
    private struct Work: Sendable {
        var trainer: any SeriesTrainer
        let model: Model
        /// The examples that metrics are computed on, in the trainer's form: not always those that it trains on.
        let training: SequenceExamples
        let validation: SequenceExamples?
    }

    private enum Model: Sendable {
        case activityNetwork(ActivityNetwork)
        case activityFeatures(DenseNetwork, ActivityFeatures)
        case poses(PoseNetwork)
        case dense(DenseNetwork, RocketFeatures?)
    }

    /// - Throws: `.invalidInput` for examples that cannot be learned from.
    package init(_ problem: SeriesProblem) throws(ModelError) {
        self.problem = problem
        try problem.checkLabels()
        switch problem.kind {
        case .activity(let training, let validation, _):
            work =
                try ActivityFeatures.serve(training)
                ? Self.activityFeatures(problem, training, validation)
                : Self.activityNetwork(problem, training, validation)
        case .poses(let skeleton, let training, let validation):
            work = try Self.poses(problem, skeleton, training, validation)
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
            let own = try Self.louder(training)
            work = try Self.rocket(
                problem,
                layerSizes: layerSizes,
                channels: SoundWindows.bands,
                length: SoundWindows.frames,
                groups: SpectrumGroups.groups(
                    own,
                    classCount: problem.labels.count,
                    bands: SoundWindows.bands,
                    frames: SoundWindows.frames,
                    seed: problem.settings.seed
                ),
                training: own,
                validation: validation.map { other throws(ModelError) in try Self.louder(other) }
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

    private static func activityNetwork(
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

    private static func activityFeatures(
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

    private static func poses(
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
            classCount: problem.labels.count
        )
        let trainer = try SequenceNetworkTrainer(network, settings: problem.settings, steps: 1, validation: others) {
            _ in own
        }
        return Work(trainer: trainer, model: .poses(network), training: own, validation: others)
    }

    /// Poses in the network's form: joint by joint.
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

    /// Spectrograms relative to silence, because MiniRocket pads with zeros at both ends.
    private static func louder(_ examples: LabeledExamples) throws(ModelError) -> LabeledExamples {
        var result = try examples.checked(width: SoundWindows.bands * SoundWindows.frames)
        for place in result.values.indices { result.values[place] -= SoundWindows.silence }
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
        // Thousands of correlated features change the logits as much as one feature multiplied by a thousand, so the
        // rate is divided by their number. A network that starts from the least-squares solution is only refined: its
        // gradients are small, but Adam's steps are not, and larger ones would overfit.
        let step = layerSizes.isEmpty ? (rocket?.start == nil ? 0.1 : 0.0003) : 3
        settings.learningRate = Swift.min(settings.learningRate, step / Double(own.inputCount))
        let trainer = try SequenceNetworkTrainer(
            network,
            settings: settings,
            steps: 1,
            parameters: rocket?.start,
            validation: others
        ) { _ in own }
        return Work(trainer: trainer, model: .dense(network, rocket), training: own, validation: others)
    }

    @discardableResult
    package mutating func step() throws(ModelError) -> TrainingReport { try work.trainer.step() }

    /// Changes the maximum number of iterations; `nil` means until the validation loss stops decreasing.
    package mutating func limit(iterations: Int?) {
        problem.settings.iterations = iterations
        work.trainer.limit(iterations: iterations)
    }

    package var iteration: Int { work.trainer.iteration }

    /// Whether training is finished.
    package var isFinished: Bool { work.trainer.isFinished }

    package var state: [UInt8] { get throws(ModelError) { try work.trainer.state } }

    package mutating func restore(_ state: [UInt8]) throws(ModelError) { try work.trainer.restore(state) }

    /// The true and the predicted class of each training example, or of each row of a recording.
    package func trainingPredictions() throws(ModelError) -> (truth: [Int], predictions: [Int]) {
        guard case .activity(let training, _, _) = problem.kind else { return try predictions(work.training) }
        return try predictions(work.training, rowsOf: training)
    }

    /// As `trainingPredictions`; `nil` without validation data.
    package func validationPredictions() throws(ModelError) -> (truth: [Int], predictions: [Int])? {
        guard let examples = work.validation else { return nil }
        guard case .activity(_, let validation?, _) = problem.kind else { return try predictions(examples) }
        return try predictions(examples, rowsOf: validation)
    }

    /// The true and the predicted class of each of some other examples.
    ///
    /// - Throws: `.unsupported` for activity recordings, which are validation data or go through the model file.
    package func predictions(
        of examples: LabeledExamples
    ) throws(ModelError) -> (truth: [Int], predictions: [Int]) {
        switch (work.model, problem.kind) {
        case (.poses, .poses(let skeleton, _, _)): return try predictions(Self.poses(examples, skeleton))
        case (.dense(let network, let rocket), let kind):
            var examples = examples
            switch kind {
            case .actions(let skeleton, let frames, _, _):
                examples = try Self.normalized(examples, skeleton, frames)
            case .sounds: examples = try Self.louder(examples)
            default: break
            }
            if let rocket {
                let set = try SeriesSet(
                    values: examples.values,
                    channelCount: rocket.rocket.channelCount,
                    length: rocket.rocket.length
                )
                examples.values = try rocket.features(of: set)
            }
            return try predictions(
                SequenceExamples(
                    features: examples.checked(width: network.inputCount).values,
                    labels: examples.labels
                )
            )
        default:
            throw ModelError(.unsupported, "recordings of activities are predicted by the model's file")
        }
    }

    private func predictions(_ examples: SequenceExamples) throws(ModelError) -> (truth: [Int], predictions: [Int]) {
        var result: (truth: [Int], predictions: [Int]) = ([], [])
        for (classes, labels) in zip(try classes(of: examples), examples.labels) {
            for (predicted, label) in zip(classes, labels) where label >= 0 {
                result.truth.append(label)
                result.predictions.append(predicted)
            }
        }
        return result
    }

    /// The class of each labelled row, and the predicted class of its window.
    ///
    /// - Parameters:
    ///   - examples: The windows of the recordings, one sequence for each recording.
    ///   - data: The recordings with the labels of their rows.
    /// - Returns: The true and the predicted class of each row.
    /// - Throws: An error when the prediction fails.
    private func predictions(
        _ examples: SequenceExamples,
        rowsOf data: ActivityData
    ) throws(ModelError) -> (truth: [Int], predictions: [Int]) {
        var result: (truth: [Int], predictions: [Int]) = ([], [])
        for (classes, recording) in zip(try classes(of: examples), data.recordings) {
            guard let labels = recording.labels else { continue }
            result.truth += labels
            result.predictions += data.windows.byRow(classes, rows: labels.count)
        }
        return result
    }

    /// The most probable class of each step of sequences.
    private func classes(of examples: SequenceExamples) throws(ModelError) -> [[Int]] {
        let count = problem.labels.count
        return try logits(of: examples).map { logits in
            stride(from: 0, to: logits.count, by: count).map { start in
                (0..<count).max { logits[start + $0] < logits[start + $1] } ?? 0
            }
        }
    }

    /// The logits of each training sequence, step by step; the model file applies its softmax to the same.
    package func trainingLogits() throws(ModelError) -> [[Float]] { try logits(of: work.training) }

    private func logits(of examples: SequenceExamples) throws(ModelError) -> [[Float]] {
        let logits = try work.trainer.logits(of: examples)
        guard case .activityFeatures(let network, let features) = work.model else { return logits }
        return logits.map { features.filtered($0, classCount: network.classCount) }
    }

    /// The model at this point in a model file's form.
    package func specification() throws(ModelError) -> SpecModel {
        let (labels, names, parameters) = (problem.labels, problem.names, work.trainer.parameters)
        switch (work.model, problem.kind) {
        case (.activityNetwork(let network), .activity(let data, _, let sensors)):
            return network.specification(
                parameters: parameters,
                normalization: work.trainer.normalizations[0],
                data: data,
                sensors: sensors,
                labels: labels,
                names: names
            )
        case (.activityFeatures(let network, let features), .activity(let data, _, let sensors)):
            return network.activitySpecification(
                parameters: parameters,
                features,
                data: data,
                sensors: sensors,
                labels: labels,
                names: names
            )
        case (.poses(let network), .poses(let skeleton, _, _)):
            return network.specification(parameters: parameters, skeleton: skeleton, labels: labels, names: names)
        case (.dense(let network, let rocket?), .actions(let skeleton, let frames, _, _)):
            return network.actionSpecification(
                parameters: parameters,
                rocket,
                skeleton,
                frames: frames,
                labels: labels,
                names: names
            )
        case (.dense(let network, let rocket?), .sounds):
            return network.soundSpecification(parameters: parameters, rocket, labels: labels, names: names)
        case (.dense(let network, nil), .features):
            return network.specification(parameters: parameters, input: "features", labels: labels, names: names)
        default:
            throw ModelError(.invalidModel, "the learner was made of another kind of problem")
        }
    }
}

/// A trainer of any kind of network.
private protocol SeriesTrainer: IterativeTraining, Sendable where Report == TrainingReport {
    var parameters: [Tensor] { get }
    var normalizations: [(mean: [Float], variance: [Float])] { get }

    mutating func limit(iterations: Int?)
    func logits(of examples: SequenceExamples) throws(ModelError) -> [[Float]]
}

extension SequenceNetworkTrainer: SeriesTrainer {}
