import MLNumerics
import MLSpecification

extension NeuralNetworkBuilder {
    /// Makes the network updatable on the device.
    ///
    /// - Parameters:
    ///   - layers: The `convolution` and `innerProduct` layers of full precision whose weights and biases change.
    ///   - loss: The loss to minimize. A classifier that is trained on its probabilities has its predicted feature as
    ///     the target.
    ///   - optimizer: The optimiser; stochastic gradient descent by default.
    ///   - epochs: The number of passes over the examples; 1 by default.
    ///   - shuffle: Whether examples are shuffled before each epoch; true by default.
    ///   - seed: The seed of the shuffling; nil, the default, states none.
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
