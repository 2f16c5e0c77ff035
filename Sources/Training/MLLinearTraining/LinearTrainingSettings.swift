package import MLNumerics

/// The hyperparameters of a linear model's training; names and defaults are those of Create ML's linear and logistic
/// regression.
package struct LinearTrainingSettings: Hashable, Sendable {
    package var maxIterations = 10
    /// The L1 regularisation: the weight of the sum of the coefficients' magnitudes.
    package var l1Penalty = 0.0
    /// The L2 regularisation: the weight of the sum of the squared coefficients.
    package var l2Penalty = 0.01
    /// The initial step length of every line search.
    package var stepSize = 1.0
    /// Training ends when an iteration reduces the objective by no more than this.
    package var convergenceThreshold = 0.01
    /// Whether penalties apply to the coefficients of columns divided by their root mean square.
    ///
    /// The fit itself always works on such columns, so this changes the optimum, not the accuracy with which it is
    /// found.
    package var featureRescaling = true

    package init() {}

    /// The settings of Create ML's support vector classifier: ½ / `penalty` is the L2 regularisation; 11 iterations.
    package static func supportVector(penalty: Double = 1) throws(ModelError) -> LinearTrainingSettings {
        guard penalty > 0, penalty.isFinite else {
            throw ModelError(.invalidInput, "penalty is \(penalty); it must be above 0")
        }
        var settings = LinearTrainingSettings()
        settings.maxIterations = 11
        settings.l2Penalty = 0.5 / penalty
        return settings
    }

    func validate() throws(ModelError) {
        func require(_ holds: Bool, _ name: String, _ value: Any, _ range: String) throws(ModelError) {
            guard holds else { throw ModelError(.invalidInput, "\(name) is \(value); it must be \(range)") }
        }
        try require(maxIterations > 0, "maxIterations", maxIterations, "1 or more")
        try require(l1Penalty >= 0 && l1Penalty.isFinite, "l1Penalty", l1Penalty, "0 or more")
        try require(l2Penalty >= 0 && l2Penalty.isFinite, "l2Penalty", l2Penalty, "0 or more")
        try require(stepSize > 0 && stepSize.isFinite, "stepSize", stepSize, "above 0")
        try require(convergenceThreshold >= 0, "convergenceThreshold", convergenceThreshold, "0 or more")
    }
}
