import MLNumerics

/// How trees are grown; the names are those of Create ML's parameters, the defaults its boosted trees'.
package struct TreeTrainingSettings: Hashable, Sendable {
    /// How thresholds are found.
    package enum Method: Hashable, Sendable {
        /// Exact up to 20,000 examples, refined up to 250,000, histograms above.
        case automatic
        /// Every boundary between two values that occur.
        case exact
        /// The same boundaries, but histograms of at most `bins` (2…255) ranges tell which need not be looked at: the trees
        /// of `exact`, except where rounding decides between equal gains.
        case refined(bins: Int)
        /// Boundaries between at most `bins` (2…255) ranges of about equally many examples.
        case histogram(bins: Int)
    }

    /// Levels of branches, 1…24.
    package var maxDepth = 6
    /// The gain below which a split is taken back.
    package var minLossReduction = 0.0
    /// The least sum of second derivatives on either side of a split.
    package var minChildWeight = 0.1
    /// What a tree's leaves are multiplied with before they are added.
    package var stepSize = 0.3
    /// The fraction of the examples, drawn without replacement, that a tree sees.
    package var rowSubsample = 1.0
    /// The fraction of the columns, drawn without replacement, that a tree sees.
    package var columnSubsample = 1.0
    /// The weight of the squared leaves in the loss.
    package var lambda = 1.0
    package var randomSeed: UInt64 = 42
    package var method = Method.automatic

    package init() {}

    func validate() throws(ModelError) {
        func require(_ holds: Bool, _ name: String, _ value: Any, _ range: String) throws(ModelError) {
            guard holds else { throw ModelError(.invalidInput, "\(name) is \(value); it must be \(range)") }
        }
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
