/// The predictions of a regressor for examples, beside the true targets.
package struct RegressionRows: Sendable {
    package let truth: [Double]
    /// The predictions, as many as targets.
    package let predictions: [Double]

    package init(truth: [Double], predictions: [Double]) {
        precondition(truth.count == predictions.count, "a prediction belongs to each example")
        (self.truth, self.predictions) = (truth, predictions)
    }

    package var count: Int { truth.count }

    /// The true target of each example less its prediction.
    package var residuals: [Double] { zip(truth, predictions).map { $0 - $1 } }

    package var maximumError: Double { residuals.reduce(0) { max($0, abs($1)) } }

    /// The root mean squared error; NaN without examples, as the other means are.
    package var rootMeanSquaredError: Double {
        (residuals.reduce(0) { $0 + $1 * $1 } / Double(count)).squareRoot()
    }

    package var meanAbsoluteError: Double { residuals.reduce(0) { $0 + abs($1) } / Double(count) }

    /// The coefficient of determination R², the share of the targets' variance that the predictions explain.
    ///
    /// It is 1 for predictions without error, 0 for the mean of the targets, below 0 for worse ones, and `nil` for
    /// targets that are all equal, where it is not defined.
    package var determination: Double? {
        let mean = truth.reduce(0, +) / Double(count)
        let total = truth.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        guard total > 0 else { return nil }
        return 1 - residuals.reduce(0) { $0 + $1 * $1 } / total
    }

    /// The examples whose target and prediction are finite.
    package var finite: RegressionRows {
        let kept = zip(truth, predictions).filter { $0.isFinite && $1.isFinite }
        return kept.count == count ? self : RegressionRows(truth: kept.map(\.0), predictions: kept.map(\.1))
    }
}
