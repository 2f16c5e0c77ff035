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
    struct Work: Sendable {
        var trainer: any SeriesTrainer
        let model: Model
        /// The examples that metrics are computed on, in the trainer's form: not always those that it trains on.
        let training: SequenceExamples
        let validation: SequenceExamples?
    }

    enum Model: Sendable {
        case activityNetwork(ActivityNetwork)
        case activityFeatures(DenseNetwork, ActivityFeatures)
        case poses(PoseNetwork)
        case dense(DenseNetwork, RocketFeatures?)
        case embeddings(DenseNetwork, FeatureStandardization)
    }

    /// - Throws: `.invalidInput` for examples that cannot be learned from.
    package init(_ problem: SeriesProblem) throws(ModelError) {
        self.problem = problem
        try problem.checkLabels()
        switch problem.kind {
        case .activity(let training, let validation, _):
            work =
                try ActivityFeatures.areSuitable(for: training)
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
            let own = try Self.relativeToSilence(training)
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
                validation: validation.map { other throws(ModelError) in try Self.relativeToSilence(other) }
            )
        case .features(let layerSizes, let training, let validation):
            let width = training.count > 0 ? training.values.count / training.count : 0
            work = try Self.dense(
                problem,
                layerSizes: layerSizes,
                training: training.checked(width: width),
                validation: validation.map { other throws(ModelError) in try other.checked(width: width) }
            )
        case .embeddings(let layerSizes, let groups, let training, let validation):
            let width = training.count > 0 ? training.values.count / training.count : 0
            work = try Self.embeddings(
                problem,
                layerSizes: layerSizes,
                groups: groups,
                training: training.checked(width: width),
                validation: validation.map { other throws(ModelError) in try other.checked(width: width) }
            )
        }
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
            case .sounds: examples = try Self.relativeToSilence(examples)
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
        case (.embeddings(let network, let features), _):
            let checked = try examples.checked(width: network.inputCount)
            return try predictions(
                SequenceExamples(features: features.standardized(checked.values), labels: checked.labels)
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
        case (.embeddings(let network, let features), .embeddings):
            return network.specification(
                parameters: parameters,
                (features, order: nil),
                input: "features",
                labels: labels,
                names: names
            )
        default:
            throw ModelError(.invalidModel, "the learner was made for another kind of problem")
        }
    }
}

/// A trainer of any kind of network.
protocol SeriesTrainer: IterativeTraining, Sendable where Report == TrainingReport {
    var parameters: [Tensor] { get }
    var normalizations: [(mean: [Float], variance: [Float])] { get }

    mutating func limit(iterations: Int?)
    func logits(of examples: SequenceExamples) throws(ModelError) -> [[Float]]
}

extension SequenceNetworkTrainer: SeriesTrainer {}
