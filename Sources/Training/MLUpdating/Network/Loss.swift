/// The loss function of an updatable network, as the file names it.
enum Loss: Hashable, Sendable {
    /// The cross-entropy of a softmax with target classes.
    case categoricalCrossEntropy
    /// The mean squared error over all elements.
    case meanSquaredError
}
