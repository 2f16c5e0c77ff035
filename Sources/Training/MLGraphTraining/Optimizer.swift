/// An optimiser with its hyperparameters; see `OptimizerRule` for the formulas.
package enum Optimizer: Hashable, Sendable {
    case sgd(momentum: Double)
    case adam(beta1: Double, beta2: Double, eps: Double)
}
