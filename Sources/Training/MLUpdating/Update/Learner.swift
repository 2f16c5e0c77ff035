import MLNumerics
import MLSpecification
import MLTrainingCore

/// The trainable part of a model, as the epoch loop drives it.
///
/// Used by one thread at a time.
protocol Learner: AnyObject, ResumableTraining {
    /// Whether training runs in epochs and mini-batches; otherwise all examples are taken at once.
    var learnsInEpochs: Bool { get }

    /// Prepares the examples that `learn` refers to; called once, before it.
    func prepare(_ examples: UpdateExamples) throws(ModelError)

    /// Trains on some of the examples.
    ///
    /// - Returns: The mean loss over them before the step; 0 where no loss is defined.
    func learn(_ indices: ArraySlice<Int>) throws(ModelError) -> Double

    /// Applies the parameters from the next step on.
    func apply(_ parameters: UpdateParameters) throws(ModelError)

    /// Replaces a layer's weights or biases.
    func replace(_ parameter: UpdateParameter, of layer: String, with tensor: Tensor) throws(ModelError)

    /// The part with its current weights.
    func specification() throws(ModelError) -> SpecModel
}
