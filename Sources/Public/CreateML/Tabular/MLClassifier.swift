public import CoreML
import Foundation
public import TabularData

/// The classifier that validates best of those that suit the data.
public enum MLClassifier: Sendable {
    case boostedTree(MLBoostedTreeClassifier)
    case decisionTree(MLDecisionTreeClassifier)
    case logisticRegression(MLLogisticRegressionClassifier)
    case randomForest(MLRandomForestClassifier)
    case supportVector(MLSupportVectorClassifier)

    /// Chooses among the algorithms that suit the data, and among parameters of theirs.
    ///
    /// A table of fewer than 5,000 rows (fewer with hundreds of columns) is cross-validated: each algorithm is scored
    /// on rows that it was not trained on, by turns.  The one of the least error, to which a tenth of the log loss is
    /// added, is trained on all rows; of equals the first.  `validationMetrics` are then those of the chosen algorithm
    /// on the rows that were held out, each counted once: a little better than those of rows that took no part in the
    /// choice.
    ///
    /// On larger tables each algorithm is trained once with its defaults, and the one of the least error on the rows
    /// that the automatic split sets aside is kept; `validationMetrics` are of those rows.
    ///
    /// Tried are with two classes logistic regression and support vectors, and, with fewer than 200 features, all kinds
    /// of trees; with more classes logistic regression and all kinds of trees.  Rows with missing numbers rule the
    /// linear ones out, trees are then tried in any case.
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

    var task: any _TabularClassifier {
        switch self {
        case .boostedTree(let task): task
        case .decisionTree(let task): task
        case .logisticRegression(let task): task
        case .randomForest(let task): task
        case .supportVector(let task): task
        }
    }

    public var featureColumns: [String] { task.featureColumns }
    public var model: MLModel { task.model }
    public var targetColumn: String { task.targetColumn }
    public var trainingMetrics: MLClassifierMetrics { task.trainingMetrics }
    public var validationMetrics: MLClassifierMetrics { task.validationMetrics }

    public func evaluation(on labeledData: DataFrame) -> MLClassifierMetrics { task.evaluation(on: labeledData) }
    public func predictions(from data: DataFrame) throws -> AnyColumn { try task.predictions(from: data) }
    public func write(to fileURL: URL, metadata: MLModelMetadata?) throws {
        try task.write(to: fileURL, metadata: metadata)
    }
    public func write(toFile path: String, metadata: MLModelMetadata?) throws {
        try task.write(toFile: path, metadata: metadata)
    }
}

extension MLClassifier: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { task.description }
    public var debugDescription: String { task.debugDescription }
}

extension MLClassifier: ChosenTask {
    static var isClassifier: Bool { true }

    init(_ trained: _TrainedTable, _ settings: LearnerSettings, _ validation: _TabularValidation) {
        let content = _LearnerSettings(content: settings)
        switch settings.algorithm {
        case .boostedTree: self = .boostedTree(MLBoostedTreeClassifier(trained, .init(content, validation)))
        case .decisionTree: self = .decisionTree(MLDecisionTreeClassifier(trained, .init(content, validation)))
        case .randomForest: self = .randomForest(MLRandomForestClassifier(trained, .init(content, validation)))
        case .supportVector: self = .supportVector(MLSupportVectorClassifier(trained, .init(content, validation)))
        case .logistic, .linear:
            self = .logisticRegression(MLLogisticRegressionClassifier(trained, .init(content, validation)))
        }
    }
}
