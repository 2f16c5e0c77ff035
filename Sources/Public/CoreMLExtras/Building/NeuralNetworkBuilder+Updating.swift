import MLNumerics
import MLSpecification

extension NeuralNetworkBuilder {
    /// Lets the network learn on the device.
    /// - Parameters:
    ///   - layers: `convolution` and `innerProduct` layers in full precision, whose weights and biases change.
    ///   - loss: what becomes small.  A classifier that is trained on its probabilities takes its predicted feature
    ///     as the target.
    ///   - epochs: how often every example is seen.
    ///   - seed: of the order of examples, when they are shuffled.
    public mutating func makeUpdatable(
        layers: [String],
        loss: UpdateLoss,
        optimizer: UpdateOptimizer = .sgd(),
        epochs: IntegerParameter = 1,
        shuffle: Bool = true,
        seed: IntegerParameter? = nil
    ) {
        update = NetworkUpdate(
            layers: layers,
            loss: loss,
            optimizer: optimizer,
            epochs: epochs,
            shuffle: shuffle,
            seed: seed
        )
    }
}
