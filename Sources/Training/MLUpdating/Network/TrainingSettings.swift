package import MLGraphTraining
package import MLNumerics

/// The hyperparameters of an update, from the file or the caller.
package struct TrainingSettings: Hashable, Sendable {
    package var optimizer: Optimizer
    package var learningRate: Double
    package var miniBatchSize: Int
    package var epochs: Int
    /// Whether every epoch uses a new order of the examples.
    package var shuffles: Bool
    /// The seed of the examples' order; `nil` when the file states none.
    package var seed: UInt64?

    package init(
        optimizer: Optimizer = .sgd(momentum: 0),
        learningRate: Double = 0.01,
        miniBatchSize: Int = 10,
        epochs: Int = 1,
        shuffles: Bool = true,
        seed: UInt64? = nil
    ) {
        self.optimizer = optimizer
        self.learningRate = learningRate
        self.miniBatchSize = miniBatchSize
        self.epochs = epochs
        self.shuffles = shuffles
        self.seed = seed
    }

    /// Throws unless every number is valid by itself; the caller checks the ranges that a file allows.
    package func check() throws(ModelError) {
        func require(_ holds: Bool, _ message: @autoclosure () -> String) throws(ModelError) {
            guard holds else { throw ModelError(.invalidInput, message()) }
        }
        try require(learningRate.isFinite && learningRate >= 0, "learning rate \(learningRate); use 0 or more")
        try require(miniBatchSize > 0, "a mini-batch of \(miniBatchSize) examples; use 1 or more")
        try require(epochs > 0, "\(epochs) epochs; use 1 or more")
        switch optimizer {
        case .sgd(let momentum):
            try require(momentum.isFinite && momentum >= 0, "momentum \(momentum); use 0 or more")
        case .adam(let beta1, let beta2, let eps):
            try require((0..<1).contains(beta1), "beta1 \(beta1); use 0 or more and less than 1")
            try require((0..<1).contains(beta2), "beta2 \(beta2); use 0 or more and less than 1")
            try require(eps.isFinite && eps >= 0, "eps \(eps); use 0 or more")
        }
    }
}
