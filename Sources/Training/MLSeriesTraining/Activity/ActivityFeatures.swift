import Glibc
import MLNumerics

/// MiniRocket features of sensor windows, and the transition probabilities between successive windows' classes.
///
/// A classifier of single windows becomes one of streams by the forward filter of a hidden Markov model: the class
/// probabilities after the previous windows, multiplied by the transition probabilities, are the prior of the next
/// window. The transition probabilities are counted in the training recordings, so that a model trained on recordings
/// with one activity each tends to keep a class, and windows that are whole recordings are independent of each other.
struct ActivityFeatures: Sendable {
    let rocket: RocketFeatures
    /// The probability that a window has the same class as the previous one.
    let stayProbability: Double
    /// The probability that it has any particular other class.
    let switchProbability: Double

    /// The maximum number of training windows, as memory and time grow with their square and cube.
    ///
    /// With more, the recurrent network has enough data.
    static let windowLimit = 3000

    /// Whether the features are suitable for the data: windows are long enough and not too many.
    static func areSuitable(for data: ActivityData) -> Bool {
        data.window >= MiniRocket.minimumLength && data.windowCount <= windowLimit
    }

    init(_ data: ActivityData, _ windows: LabeledExamples, classCount: Int, seed: UInt64) throws(ModelError) {
        rocket = try RocketFeatures(
            SeriesSet(values: windows.values, channelCount: data.offsets.count, length: data.window),
            labels: windows.labels,
            classCount: classCount,
            groups: data.windowRecordings,
            seed: seed,
            solves: true
        )
        var (same, pairs) = (0, 0)
        for labels in data.sequences().labels {
            for (label, next) in zip(labels, labels.dropFirst()) {
                pairs += 1
                if label == next { same += 1 }
            }
        }
        // Laplace's rule of succession.
        stayProbability = Double(same + 1) / Double(pairs + classCount)
        switchProbability = (1 - stayProbability) / Double(max(1, classCount - 1))
    }

    /// The features of each window of recordings.
    func features(of windows: LabeledExamples) throws(ModelError) -> LabeledExamples {
        let set = try SeriesSet(
            values: windows.values,
            channelCount: rocket.rocket.channelCount,
            length: rocket.rocket.length
        )
        return LabeledExamples(values: try rocket.features(of: set), labels: windows.labels)
    }

    /// The same of windows that follow one another.
    func features(of sequences: SequenceExamples) throws(ModelError) -> SequenceExamples {
        var result = SequenceExamples(inputCount: rocket.rocket.featureCount)
        for (values, labels) in zip(sequences.features, sequences.labels) {
            let features = try features(of: LabeledExamples(values: values, labels: labels))
            result.append(features: features.values, labels: labels)
        }
        return result
    }

    /// The logits of a recording's windows, each with the logarithm of its prior added.
    ///
    /// - Parameters:
    ///   - logits: [windows, classes].
    ///   - classCount: The number of classes.
    /// - Returns: The filtered logits, of the same size.
    func filtered(_ logits: [Float], classCount: Int) -> [Float] {
        var result = logits
        // As in the model file, a stream starts with a state of zeros: all classes are equally likely.
        var past = [Double](repeating: 0, count: classCount)
        for start in stride(from: 0, to: logits.count, by: classCount) {
            for label in 0..<classCount {
                result[start + label] += Float(
                    log(past[label] * (stayProbability - switchProbability) + switchProbability)
                )
            }
            let row = result[start..<start + classCount]
            let maximum = Double(row.reduce(-Float.infinity, max))
            past = row.map { exp(Double($0) - maximum) }
            let sum = past.reduce(0, +)
            for label in 0..<classCount { past[label] /= sum }
        }
        return result
    }
}
