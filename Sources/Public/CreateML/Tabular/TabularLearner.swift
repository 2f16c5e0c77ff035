import Foundation
import MLFeatures
import MLSpecification

/// What a learner is given.
struct LearnerTask: Sendable {
    var layout: FeatureLayout
    /// `nil` for a regressor.
    var labels: LabelList?
    var training: EncodedTable
    /// By row: a number, or the number of its class.
    var targets: [Double]
    var validation: EncodedTable?
    /// By row of `validation`; -1 for a class that the training data do not have.
    var validationTargets: [Double]
}

/// An algorithm at work on a table.
protocol TabularLearner: Sendable {
    var iteration: Int { get }
    var isFinished: Bool { get }
    /// One iteration; what was measured by it.
    mutating func iterate() throws -> [MLProgress.Metric: Double]
    func encodedState() throws -> [UInt8]
    mutating func restore(state: [UInt8]) throws
    /// Raises or lowers the number of iterations.
    mutating func limit(_ iterations: Int)
    /// What the rows of validation are taken for by now; without rows when there are none.
    func heldOut() throws -> HeldOutRows
    /// The last model of the pipeline, with the labels of classes.
    func predictor() throws -> SpecModel.OneOf_Type
}

/// What a learner takes rows for that it does not learn from.
struct HeldOutRows: Sendable {
    /// By row: a number, or the number of a class.
    var predictions: [Double] = []
    /// By row: the log loss, or the squared error.
    var losses: [Double] = []

    /// The most that a row's log loss counts: as if its class had the probability 1e-13.
    private static let mostLoss = 30.0

    /// The log loss of a row from the scores of all classes before softmax.
    /// - Parameter label: the number of its class; -1 for one that has no score.
    static func logLoss(of label: Int, _ scores: [Double]) -> Double {
        guard label >= 0 else { return mostLoss }
        let highest = scores.reduce(-Double.infinity, max)
        return min(highest + log(scores.reduce(0) { $0 + exp($1 - highest) }) - scores[label], mostLoss)
    }
}

/// Measures of predictions while training.
struct RunningMetrics: Sendable {
    var labels: LabelList?
    var targets: [Double]
    private var counted: [Int] = []

    init(_ labels: LabelList?, _ targets: [Double]) {
        self.labels = labels
        self.targets = targets
    }

    /// - Parameters:
    ///   - prediction: by row: a number, or the number of a class.
    ///   - loss: the mean loss, or the root mean squared error.
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
