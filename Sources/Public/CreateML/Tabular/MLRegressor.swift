public import CoreML
import Foundation
public import TabularData

/// The regressor that validates best of those that suit the data.
public enum MLRegressor: Sendable {
    case boostedTree(MLBoostedTreeRegressor)
    case decisionTree(MLDecisionTreeRegressor)
    case linear(MLLinearRegressor)
    case randomForest(MLRandomForestRegressor)

    /// Chooses among the algorithms that suit the data, and among parameters of theirs.
    ///
    /// A table of fewer than 5,000 rows (fewer with hundreds of columns) is cross-validated: each algorithm is scored
    /// on rows that it was not trained on, by turns.  The one of the least root mean squared error is trained on all
    /// rows; of equals the first.  `validationMetrics` are then those of the chosen algorithm on the rows that were
    /// held out, each counted once: a little better than those of rows that took no part in the choice.
    ///
    /// On larger tables each algorithm is trained once with its defaults, and the one of the least error on the rows
    /// that the automatic split sets aside is kept; `validationMetrics` are of those rows.
    ///
    /// Tried are linear regression and, with fewer than 200 features, boosted trees; on small tables forests and
    /// decision trees, too.  Rows with missing numbers rule linear regression out, trees are then tried in any case.
    public init(trainingData: DataFrame, targetColumn: String, featureColumns: [String]? = nil) throws {
        var run = try ChoiceRun<Self>(trainingData, targetColumn, featureColumns)
        self = try run.run()
    }

    /// The same in the background; goes on when there is a session in the session directory.  Apple has no such member.
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

    var task: any _TabularRegressor {
        switch self {
        case .boostedTree(let task): task
        case .decisionTree(let task): task
        case .linear(let task): task
        case .randomForest(let task): task
        }
    }

    public var featureColumns: [String] { task.featureColumns }
    public var model: MLModel { task.model }
    public var targetColumn: String { task.targetColumn }
    public var trainingMetrics: MLRegressorMetrics { task.trainingMetrics }
    public var validationMetrics: MLRegressorMetrics { task.validationMetrics }

    public func evaluation(on labeledData: DataFrame) -> MLRegressorMetrics { task.evaluation(on: labeledData) }
    public func predictions(from data: DataFrame) throws -> AnyColumn { try task.predictions(from: data) }
    public func write(to fileURL: URL, metadata: MLModelMetadata?) throws {
        try task.write(to: fileURL, metadata: metadata)
    }
    public func write(toFile path: String, metadata: MLModelMetadata?) throws {
        try task.write(toFile: path, metadata: metadata)
    }
}

extension MLRegressor: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { task.description }
    public var debugDescription: String { task.debugDescription }
}

extension MLRegressor: ChosenTask {
    static var isClassifier: Bool { false }

    init(_ trained: _TrainedTable, _ settings: LearnerSettings, _ validation: _TabularValidation) {
        let content = _LearnerSettings(content: settings)
        switch settings.algorithm {
        case .boostedTree: self = .boostedTree(MLBoostedTreeRegressor(trained, .init(content, validation)))
        case .decisionTree: self = .decisionTree(MLDecisionTreeRegressor(trained, .init(content, validation)))
        case .randomForest: self = .randomForest(MLRandomForestRegressor(trained, .init(content, validation)))
        case .linear, .logistic, .supportVector:
            self = .linear(MLLinearRegressor(trained, .init(content, validation)))
        }
    }
}
