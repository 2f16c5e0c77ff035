import MLNumerics

/// Prepared examples: targets as tensors, and the features before the first updatable layer, which no step changes.
///
/// Created by `NetworkTrainer.examples`, for that trainer and its copies.
package struct TrainingExamples: Sendable {
    /// For each example the features of the split network.
    let features: [[Tensor]]
    /// For each example the target in the loss's form: class probabilities, or values of the prediction's shape.
    let targets: [Tensor]

    /// The number of examples.
    package var count: Int { features.count }
}
