/// How far a regressor's predictions are from the truth.
public struct MLRegressorMetrics: Sendable {
    /// The largest error of an example; NaN when the metrics are not valid.
    public let maximumError: Double
    /// The root of the mean squared error; NaN when the metrics are not valid.
    public let rootMeanSquaredError: Double
    /// Why there are no metrics.
    public let error: (any Error)?
    /// The examples that were counted; `nil` when somebody else counted them.
    package private(set) var rows: RegressionRows?

    public init(maximumError: Double, rootMeanSquaredError: Double) {
        self.maximumError = maximumError
        self.rootMeanSquaredError = rootMeanSquaredError
        error = nil
    }

    /// Metrics that could not be computed.
    package init(_ error: any Error) {
        maximumError = .nan
        rootMeanSquaredError = .nan
        self.error = MLCreateError.translated(error)
    }

    /// - Parameters:
    ///   - truth: the targets of examples.
    ///   - predictions: as many.
    package init(truth: some Collection<Double>, predictions: some Collection<Double>) {
        guard !truth.isEmpty else {
            self.init(MLCreateError.generic(reason: "there are no examples to hold the regressor against"))
            return
        }
        let rows = RegressionRows(truth: Array(truth), predictions: Array(predictions))
        self.init(maximumError: rows.maximumError, rootMeanSquaredError: rows.rootMeanSquaredError)
        self.rows = rows
    }

    public var isValid: Bool { error == nil }
}

extension MLRegressorMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        if let error { return "No metrics: \(error)" }
        return """
            ----------------------------------
            Max error: \(maximumError)
            Root mean squared error: \(rootMeanSquaredError)

            """
    }

    public var debugDescription: String { description }
}
