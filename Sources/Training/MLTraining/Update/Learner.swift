import MLNumerics
import MLSpecification

/// The part of a model that learns, as the epoch loop drives it.  Used by one thread at a time.
protocol Learner: AnyObject {
    /// Whether the examples are gone through in epochs and mini-batches; else all are taken at once.
    var learnsInEpochs: Bool { get }

    /// Takes the examples that `learn` names; called once, before it.
    func prepare(_ examples: UpdateExamples) throws(ModelError)

    /// Learns from some of the examples.
    /// - Returns: the mean loss over them before the step; 0 where no loss is defined.
    func learn(_ indices: ArraySlice<Int>) throws(ModelError) -> Double

    /// Takes over what the parameters say, from the next step on.
    func apply(_ parameters: UpdateParameters) throws(ModelError)

    /// Replaces weights or biases of a layer.
    func replace(_ parameter: UpdateParameter, of layer: String, with tensor: Tensor) throws(ModelError)

    /// The part with what it has learnt so far.
    func specification() throws(ModelError) -> SpecModel

    /// Everything that a later `restore` needs to go on as if nothing had happened.
    func state() throws(ModelError) -> [UInt8]

    func restore(_ state: [UInt8]) throws(ModelError)
}
