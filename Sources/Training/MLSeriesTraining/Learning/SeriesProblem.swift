package import MLNumerics

/// What a classifier of time series is made of: examples, some of them set aside for validation, and how to learn.
package struct SeriesProblem: Sendable {
    /// The examples, by kind of model.
    package enum Kind: Sendable {
        /// Recordings of sensors: the network with memory.
        case activity(training: ActivityData, validation: ActivityData?, sensors: [String])
        /// Poses, one an example, [3, joints] each: the graph network.
        case poses(Skeleton, training: LabeledExamples, validation: LabeledExamples?)
        /// Windows of poses, [frames, 3, joints] each: features of MiniRocket and a linear classifier.
        case actions(Skeleton, frames: Int, training: LabeledExamples, validation: LabeledExamples?)
        /// Spectrograms, [64, 96] each: features of MiniRocket and dense layers; none for a linear classifier.
        case sounds(layerSizes: [Int], training: LabeledExamples, validation: LabeledExamples?)
        /// Features as they are, and dense layers.
        case features(layerSizes: [Int], training: LabeledExamples, validation: LabeledExamples?)

        /// Recordings, of training and validation, that are shorter than a window.
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

    /// - Throws: `.invalidInput` when there is only one class to tell, or none.
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

/// Numbers and the class of each example.
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
        if let place = values.firstIndex(where: { !$0.isFinite }) {
            throw ModelError(
                .invalidInput,
                "example \(place / width) holds \(values[place]); fill or remove what is missing"
            )
        }
        return self
    }
}
