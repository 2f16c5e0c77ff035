import MLNumerics

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

    /// How trees are added to each other.
    package enum Ensemble: Hashable, Sendable {
        /// Every round fits the gradient of the loss of the rounds before it.
        case boosted
        /// Every tree fits the targets themselves, on a sample of its own.
        case forest
    }

    package var ensemble = Ensemble.boosted
    /// The maximum number of rounds of boosting, or of a forest's trees for each output.
    package var maxIterations = 10
    /// The maximum depth of a tree, 1…24.
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

    func validate() throws(ModelError) {
        func require(_ holds: Bool, _ name: String, _ value: Any, _ range: String) throws(ModelError) {
            guard holds else { throw ModelError(.invalidInput, "\(name) is \(value); it must be \(range)") }
        }
        try require(maxIterations >= 1, "maxIterations", maxIterations, "at least 1")
        try require((1...24).contains(maxDepth), "maxDepth", maxDepth, "between 1 and 24")
        try require(minLossReduction >= 0, "minLossReduction", minLossReduction, "0 or more")
        try require(minChildWeight >= 0, "minChildWeight", minChildWeight, "0 or more")
        try require(stepSize > 0 && stepSize <= 1, "stepSize", stepSize, "above 0 and at most 1")
        try require(rowSubsample > 0 && rowSubsample <= 1, "rowSubsample", rowSubsample, "above 0 and at most 1")
        try require(
            columnSubsample > 0 && columnSubsample <= 1,
            "columnSubsample",
            columnSubsample,
            "above 0 and at most 1"
        )
        try require(lambda >= 0 && lambda.isFinite, "lambda", lambda, "0 or more")
        switch method {
        case .histogram(let bins), .refined(let bins):
            try require((2...255).contains(bins), "the number of bins", bins, "between 2 and 255")
        case .automatic, .exact: break
        }
    }
}
