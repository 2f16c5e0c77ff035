public import CoreML
import Foundation
public import TabularData

/// A tabular regressor whose algorithm is chosen by validation.
public enum MLRegressor: Sendable {
    /// Gradient-boosted trees.
    case boostedTree(MLBoostedTreeRegressor)
    /// A decision tree.
    case decisionTree(MLDecisionTreeRegressor)
    /// Linear regression.
    case linear(MLLinearRegressor)
    /// A random forest.
    case randomForest(MLRandomForestRegressor)

    /// Trains the algorithms that suit the data, on small tables with several parameters, and keeps the best.
    ///
    /// A table of fewer than 5,000 rows (fewer with hundreds of columns) is cross-validated.  The algorithm with the
    /// lowest root mean squared error, the first of equal ones, is trained on all rows.  `validationMetrics` are then
    /// those of the chosen algorithm on the held-out rows, each counted once; they are slightly better than on rows
    /// that took no part in the choice.
    ///
    /// On a larger table each algorithm is trained once with its defaults, and the one with the lowest error on the
    /// rows that the automatic split sets aside is kept; `validationMetrics` are of those rows.
    ///
    /// Linear regression is tried, and boosted trees if there are fewer than 200 features; on small tables also random
    /// forests and decision trees.  If numbers are missing, trees are tried in any case and linear regression is not.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict, of numbers.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    /// - Throws: `MLCreateError` for columns that are missing or cannot be used.
    public init(trainingData: DataFrame, targetColumn: String, featureColumns: [String]? = nil) throws {
        var run = try ChoiceRun<Self>(trainingData, targetColumn, featureColumns)
        self = try run.run()
    }

    /// Trains in the background, or resumes the session in the session directory; an addition to Apple's API.
    package static func train(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]? = nil,
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLJob<Self> {
        let session = try MLCreateError.translating {
            try MLTrainingSession<Self>(try ChoiceRun(trainingData, targetColumn, featureColumns), sessionParameters)
        }
        return try session.resume()
    }

    var task: any TabularRegressor {
        switch self {
        case .boostedTree(let task): task
        case .decisionTree(let task): task
        case .linear(let task): task
        case .randomForest(let task): task
        }
    }

    /// The names of the columns that the model predicts from.
    public var featureColumns: [String] { task.featureColumns }
    /// The trained model.
    public var model: MLModel { task.model }
    /// The name of the column that the model predicts.
    public var targetColumn: String { task.targetColumn }
    /// The performance on the rows that the model was trained on.
    public var trainingMetrics: MLRegressorMetrics { task.trainingMetrics }
    /// The performance on held-out rows; invalid if there are none.
    public var validationMetrics: MLRegressorMetrics { task.validationMetrics }

    /// Evaluates the model on rows with known targets; an error is in the metrics.
    public func evaluation(on labeledData: DataFrame) -> MLRegressorMetrics { task.evaluation(on: labeledData) }
    /// Predicts the target of every row: a column of `Double` with the target's name.
    public func predictions(from data: DataFrame) throws -> AnyColumn { try task.predictions(from: data) }
    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    public func write(to fileURL: URL, metadata: MLModelMetadata?) throws {
        try task.write(to: fileURL, metadata: metadata)
    }
    /// Writes the trained model to a path that ends in `.mlmodel` or `.mlpackage`, in which a leading tilde is
    /// expanded.
    public func write(toFile path: String, metadata: MLModelMetadata?) throws {
        try task.write(toFile: path, metadata: metadata)
    }
}

extension MLRegressor: CustomStringConvertible, CustomDebugStringConvertible {
    /// The columns, parameters and metrics of the chosen algorithm.
    public var description: String { task.description }
    /// The same text as `description`.
    public var debugDescription: String { task.debugDescription }
}

extension MLRegressor: ChosenTask {
    static var isClassifier: Bool { false }

    init(_ trained: TrainedTable, _ settings: LearnerSettings, _ validation: MLTabularValidation) {
        switch settings.algorithm {
        case .boostedTree: self = .boostedTree(MLBoostedTreeRegressor(trained, .init(settings, validation)))
        case .decisionTree: self = .decisionTree(MLDecisionTreeRegressor(trained, .init(settings, validation)))
        case .randomForest: self = .randomForest(MLRandomForestRegressor(trained, .init(settings, validation)))
        case .linear, .logistic, .supportVector:
            self = .linear(MLLinearRegressor(trained, .init(settings, validation)))
        }
    }
}
