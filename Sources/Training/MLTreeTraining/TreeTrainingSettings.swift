import MLNumerics
package import MLTrainingCore

/// The hyperparameters of tree training, named like Create ML's, with the defaults of its boosted trees.
package struct TreeTrainingSettings: Hashable, Sendable {
    /// The algorithm that finds thresholds.
    package enum Method: Hashable, Sendable {
        /// Exact up to 20,000 examples, refined up to 250,000, histograms above.
        case automatic
        /// Tries every boundary between two values that occur.
        case exact
        /// Tries the same boundaries, but skips those that histograms with at most `bins` (2…255) bins rule out.
        ///
        /// The trees are those of `exact`, except where rounding decides between equal gains.
        case refined(bins: Int)
        /// Tries boundaries between at most `bins` (2…255) bins of about equally many examples.
        case histogram(bins: Int)
    }

    /// The method that combines trees.
    package enum Ensemble: Hashable, Sendable {
        /// Every round fits the gradient of the loss of the rounds before it.
        case boosted
        /// Every tree fits the targets themselves, on a sample of its own.
        case forest
    }

    package var ensemble = Ensemble.boosted
    /// The maximum number of rounds of boosting, or of a forest's trees for each output.
    package var maxIterations = 10
    /// The maximum depth of a tree.
    package var maxDepth = 6
    /// The minimum loss reduction of a split (gamma); splits with less are pruned.
    package var minLossReduction = 0.0
    /// The minimum child weight: the least sum of second derivatives on either side of a split.
    package var minChildWeight = 0.1
    /// The learning rate, which scales a tree's leaves.
    package var stepSize = 0.3
    /// The fraction of the examples that a tree is grown on, drawn without replacement.
    package var rowSubsample = 1.0
    /// The fraction of the columns that a tree may split on, drawn without replacement.
    package var columnSubsample = 1.0
    /// The L2 regularisation of the leaf values.
    package var lambda = 1.0
    package var randomSeed: UInt64 = 42
    package var method = Method.automatic

    package init() {}

    /// The ranges of the hyperparameters.
    package enum Ranges {
        package static let maxIterations = ParameterRange.atLeast(1)
        package static let maxDepth = ParameterRange.between(1...24)
        package static let minLossReduction = ParameterRange.atLeast(0)
        package static let minChildWeight = ParameterRange.atLeast(0)
        package static let stepSize = ParameterRange.fraction
        package static let rowSubsample = ParameterRange.fraction
        package static let columnSubsample = ParameterRange.fraction
        static let lambda = ParameterRange.finite(atLeast: 0)
        static let bins = ParameterRange.between(2...255)
    }

    func validate() throws(ModelError) {
        func require(_ range: ParameterRange, _ name: String, _ value: Double, _ text: String) throws(ModelError) {
            guard range.contains(value) else {
                throw ModelError(.invalidInput, "\(name) is \(text); it must be \(range)")
            }
        }
        func require(_ range: ParameterRange, _ name: String, _ value: Int) throws(ModelError) {
            try require(range, name, Double(value), "\(value)")
        }
        func require(_ range: ParameterRange, _ name: String, _ value: Double) throws(ModelError) {
            try require(range, name, value, "\(value)")
        }
        try require(Ranges.maxIterations, "maxIterations", maxIterations)
        try require(Ranges.maxDepth, "maxDepth", maxDepth)
        try require(Ranges.minLossReduction, "minLossReduction", minLossReduction)
        try require(Ranges.minChildWeight, "minChildWeight", minChildWeight)
        try require(Ranges.stepSize, "stepSize", stepSize)
        try require(Ranges.rowSubsample, "rowSubsample", rowSubsample)
        try require(Ranges.columnSubsample, "columnSubsample", columnSubsample)
        try require(Ranges.lambda, "lambda", lambda)
        switch method {
        case .histogram(let bins), .refined(let bins):
            try require(Ranges.bins, "the number of bins", bins)
        case .automatic, .exact: break
        }
    }
}
