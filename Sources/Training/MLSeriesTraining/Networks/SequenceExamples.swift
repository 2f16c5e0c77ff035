/// Sequences of steps with the class of each step.
package struct SequenceExamples: Sendable {
    package let inputCount: Int
    /// By sequence: [steps, inputs].
    package private(set) var features: [[Float]] = []
    /// By sequence and step; −1 where a step is not counted.
    package private(set) var labels: [[Int]] = []

    package init(inputCount: Int) { self.inputCount = inputCount }

    /// Sequences of one step each.
    ///
    /// - Parameters:
    ///   - features: The features of all examples [examples, inputs].
    ///   - labels: For each example the index of its class.
    package init(features: [Float], labels: [Int]) {
        let width = labels.isEmpty ? 0 : features.count / labels.count
        inputCount = width
        self.features = labels.indices.map { Array(features[$0 * width..<($0 + 1) * width]) }
        self.labels = labels.map { [$0] }
    }

    package mutating func append(features: [Float], labels: [Int]) {
        precondition(features.count == labels.count * inputCount)
        self.features.append(features)
        self.labels.append(labels)
    }

    package var count: Int { features.count }

    /// The number of steps that are counted.
    package var stepCount: Int { labels.reduce(0) { $0 + $1.count { $0 >= 0 } } }
}

/// The metrics of a training iteration.
package struct TrainingReport: Sendable, Hashable {
    /// The number of the iteration, from 1.
    package var iteration: Int
    /// The mean cross-entropy of the iteration's steps, each computed before the step updated the network.
    package var loss: Double
    /// The share of the examples whose class was the most probable, computed like the loss.
    package var accuracy: Double
    package var validationLoss: Double?
    package var validationAccuracy: Double?
}
