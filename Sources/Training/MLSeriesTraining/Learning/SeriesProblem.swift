package import MLNumerics

/// The definition of a time series classifier's training: examples, optional validation examples, and hyperparameters.
package struct SeriesProblem: Sendable {
    /// The examples and the kind of model.
    package enum Kind: Sendable {
        /// Sensor recordings, for the recurrent network.
        case activity(training: ActivityData, validation: ActivityData?, sensors: [String])
        /// One pose per example, [3, joints] each, for the graph network.
        case poses(Skeleton, training: LabeledExamples, validation: LabeledExamples?)
        /// Windows of poses, [frames, 3, joints] each, for MiniRocket features and a linear classifier.
        case actions(Skeleton, frames: Int, training: LabeledExamples, validation: LabeledExamples?)
        /// Spectrograms, [64, 96] each, for MiniRocket features and dense layers; no layers mean a linear classifier.
        case sounds(layerSizes: [Int], training: LabeledExamples, validation: LabeledExamples?)
        /// Feature vectors, used unchanged, for dense layers.
        case features(layerSizes: [Int], training: LabeledExamples, validation: LabeledExamples?)
        /// Feature vectors, which are standardised, for dense layers; no layers mean a linear classifier, whose penalty
        /// is chosen by predicting each group of training examples from the others.
        case embeddings(layerSizes: [Int], groups: [Int], training: LabeledExamples, validation: LabeledExamples?)

        /// The number of recordings, in training and validation data, that are shorter than a window.
        package var shortRecordings: Int {
            guard case .activity(let training, let validation, _) = self else { return 0 }
            return training.shortCount + (validation?.shortCount ?? 0)
        }
    }

    package var kind: Kind
    package var labels: [String]
    package var names: ClassifierNames
    package var settings: SequenceTrainingSettings

    package init(_ kind: Kind, labels: [String], names: ClassifierNames, settings: SequenceTrainingSettings) {
        self.kind = kind
        self.labels = labels
        self.names = names
        self.settings = settings
    }

    /// - Throws: `.invalidInput` when there are fewer than two classes.
    package func checkLabels() throws(ModelError) {
        guard labels.count > 1 else {
            throw ModelError(
                .invalidInput,
                "the training data has \(labels.isEmpty ? "no class" : "one class, '\(labels[0])'"); "
                    + "a classifier needs at least two"
            )
        }
    }
}

/// Examples: their numbers and their classes.
package struct LabeledExamples: Sendable {
    /// [examples, width].
    package var values: [Float]
    package var labels: [Int]

    package init(values: [Float] = [], labels: [Int] = []) {
        self.values = values
        self.labels = labels
    }

    package var count: Int { labels.count }

    package mutating func append(_ values: [Float], _ label: Int) {
        self.values += values
        labels.append(label)
    }

    func checked(width: Int) throws(ModelError) -> LabeledExamples {
        guard !labels.isEmpty, values.count == labels.count * width else {
            throw ModelError(
                .invalidInput,
                labels.isEmpty
                    ? "there are no examples to train with; add some"
                    : "\(values.count) numbers are not \(labels.count) examples of \(width)"
            )
        }
        if let position = values.firstIndex(where: { !$0.isFinite }) {
            throw ModelError(
                .invalidInput,
                "example \(position / width) holds \(values[position]); fill or remove missing values"
            )
        }
        return self
    }
}
