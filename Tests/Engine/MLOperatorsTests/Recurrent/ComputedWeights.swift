import TestSupport

extension OperatorProblem {
    /// The same with weights that are known while running: what training asks.
    var computingWeights: OperatorProblem {
        var copy = self
        copy.name += ", computed weights"
        copy.constants = []
        return copy
    }
}
