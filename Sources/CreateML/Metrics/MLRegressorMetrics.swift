/// How far a regressor's predictions are from the truth.
public struct MLRegressorMetrics: Sendable {
    /// The largest error of an example; NaN when the metrics are not valid.
    public let maximumError: Double
    /// The root of the mean squared error; NaN when the metrics are not valid.
    public let rootMeanSquaredError: Double
    /// Why there are no metrics.
    public let error: (any Error)?

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
        var (largest, squares) = (0.0, 0.0)
        for (truth, prediction) in zip(truth, predictions) {
            let error = abs(truth - prediction)
            largest = max(largest, error)
            squares += error * error
        }
        self.init(maximumError: largest, rootMeanSquaredError: (squares / Double(truth.count)).squareRoot())
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
