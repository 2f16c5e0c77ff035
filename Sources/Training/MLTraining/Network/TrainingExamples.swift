import MLNumerics

/// Examples made ready for steps: targets as tensors, and what the network computes of each input in front of its
/// first updatable layer, which no step changes.
///
/// Made by `NetworkTrainer.examples`, for that trainer and copies of it.
package struct TrainingExamples: Sendable {
    /// By example, then by feature of the split network.
    let features: [[Tensor]]
    /// By example, in the form that the loss takes: probabilities of classes, or values of the prediction's shape.
    let targets: [Tensor]

    /// How many examples there are.
    package var count: Int { features.count }
}
