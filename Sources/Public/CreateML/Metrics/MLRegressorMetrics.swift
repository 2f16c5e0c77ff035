/// The performance of a regressor on examples with known targets.
public struct MLRegressorMetrics: Sendable {
    /// The largest absolute error of an example; NaN if the metrics are invalid.
    public let maximumError: Double
    /// The root mean squared error; NaN if the metrics are invalid.
    public let rootMeanSquaredError: Double
    /// The reason why there are no metrics; `nil` if they are valid.
    public let error: (any Error)?
    /// The examples that the metrics were computed of; `nil` if the metrics were given.
    package private(set) var rows: RegressionRows?

    /// Creates metrics from given values.
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

    /// Computes metrics.
    /// - Parameters:
    ///   - truth: The targets of the examples.
    ///   - predictions: The predictions, as many.
    package init(truth: some Collection<Double>, predictions: some Collection<Double>) {
        guard !truth.isEmpty else {
            self.init(MLCreateError.generic(reason: "there are no examples to evaluate the regressor on"))
            return
        }
        let rows = RegressionRows(truth: Array(truth), predictions: Array(predictions))
        self.init(maximumError: rows.maximumError, rootMeanSquaredError: rows.rootMeanSquaredError)
        self.rows = rows
    }

    /// Whether the metrics could be computed.
    public var isValid: Bool { error == nil }
}

extension MLRegressorMetrics: CustomStringConvertible, CustomDebugStringConvertible {
    /// The printed errors, or the reason why there are none.
    public var description: String {
        if let error { return "No metrics: \(error)" }
        return """
            ----------------------------------
            Max error: \(maximumError)
            Root mean squared error: \(rootMeanSquaredError)

            """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
