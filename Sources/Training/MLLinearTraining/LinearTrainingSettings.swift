package import MLNumerics
package import MLTrainingCore

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
        guard Ranges.penalty.contains(penalty) else {
            throw ModelError(.invalidInput, "penalty is \(penalty); it must be \(Ranges.penalty)")
        }
        var settings = LinearTrainingSettings()
        settings.maxIterations = 11
        settings.l2Penalty = 0.5 / penalty
        return settings
    }

    /// The ranges of the hyperparameters.
    package enum Ranges {
        package static let maxIterations = ParameterRange.atLeast(1)
        package static let penalty = ParameterRange.finite(above: 0)
        package static let l1Penalty = ParameterRange.finite(atLeast: 0)
        package static let l2Penalty = ParameterRange.finite(atLeast: 0)
        package static let stepSize = ParameterRange.finite(above: 0)
        package static let convergenceThreshold = ParameterRange.atLeast(0)
    }

    func validate() throws(ModelError) {
        func require(_ range: ParameterRange, _ name: String, _ value: Double, _ text: String) throws(ModelError) {
            guard range.contains(value) else {
                throw ModelError(.invalidInput, "\(name) is \(text); it must be \(range)")
            }
        }
        try require(Ranges.maxIterations, "maxIterations", Double(maxIterations), "\(maxIterations)")
        try require(Ranges.l1Penalty, "l1Penalty", l1Penalty, "\(l1Penalty)")
        try require(Ranges.l2Penalty, "l2Penalty", l2Penalty, "\(l2Penalty)")
        try require(Ranges.stepSize, "stepSize", stepSize, "\(stepSize)")
        try require(
            Ranges.convergenceThreshold,
            "convergenceThreshold",
            convergenceThreshold,
            "\(convergenceThreshold)"
        )
    }
}
