import Foundation
import MLFeatures
import MLSpecification

/// The input of a learner.
struct LearnerTask: Sendable {
    var layout: FeatureLayout
    /// `nil` for a regressor.
    var labels: LabelList?
    var training: EncodedTable
    /// By row: a number, or the index of its class.
    var targets: [Double]
    var validation: EncodedTable?
    /// By row of `validation`; -1 for a class that the training data lack.
    var validationTargets: [Double]
}

/// An algorithm that trains on a table.
protocol TabularLearner: Sendable {
    var iteration: Int { get }
    var isFinished: Bool { get }
    /// Does one iteration and returns its metrics.
    mutating func iterate() throws -> [MLProgress.Metric: Double]
    func encodedState() throws -> [UInt8]
    mutating func restore(state: [UInt8]) throws
    /// Changes the maximum number of iterations.
    mutating func limit(_ iterations: Int)
    /// The current predictions for the validation rows; empty if there are none.
    func heldOut() throws -> HeldOutRows
    /// The last model of the pipeline, with the labels of classes.
    func predictor() throws -> SpecModel.OneOf_Type
}

/// Predictions for rows that a learner does not learn from.
struct HeldOutRows: Sendable {
    /// By row: a number, or the index of a class.
    var predictions: [Double] = []
    /// By row: the log loss, or the squared error.
    var losses: [Double] = []

    /// The maximum log loss of a row, that of a class with the probability 1e-13.
    private static let maximumLoss = 30.0

    /// The log loss of a row.
    /// - Parameters:
    ///   - label: The index of its class; -1 for one that has no score.
    ///   - scores: The scores of all classes before softmax.
    /// - Returns: The loss, at most `maximumLoss`.
    static func logLoss(of label: Int, _ scores: [Double]) -> Double {
        guard label >= 0 else { return maximumLoss }
        let highest = scores.reduce(-Double.infinity, max)
        return min(highest + log(scores.reduce(0) { $0 + exp($1 - highest) }) - scores[label], maximumLoss)
    }
}

/// Metrics of predictions during training.
struct RunningMetrics: Sendable {
    var labels: LabelList?
    var targets: [Double]
    private var counted: [Int] = []

    init(_ labels: LabelList?, _ targets: [Double]) {
        self.labels = labels
        self.targets = targets
    }

    /// The metrics of the rows.
    /// - Parameters:
    ///   - prediction: The predicted number of a row, or the index of its class.
    ///   - loss: The mean loss.
    ///   - isValidation: Whether the rows are validation rows.
    /// - Returns: Accuracy or errors, and the loss.
    func metrics(_ prediction: (Int) -> Double, loss: Double, isValidation: Bool) -> [MLProgress.Metric: Double] {
        if labels != nil {
            var right = 0
            for row in targets.indices where prediction(row) == targets[row] { right += 1 }
            let accuracy = Double(right) / Double(targets.count)
            return isValidation
                ? [.validationAccuracy: accuracy, .validationLoss: loss] : [.accuracy: accuracy, .loss: loss]
        }
        var (largest, squares) = (0.0, 0.0)
        for row in targets.indices {
            let error = abs(prediction(row) - targets[row])
            largest = max(largest, error)
            squares += error * error
        }
        let root = (squares / Double(targets.count)).squareRoot()
        return isValidation
            ? [.validationRootMeanSquaredError: root, .validationMaximumError: largest, .validationLoss: loss]
            : [.rootMeanSquaredError: root, .maximumError: largest, .loss: loss]
    }
}
