import CoreML
public import TabularData

/// A tabular classifier or regressor whose algorithm is chosen by validation: `MLClassifier` and `MLRegressor`.
///
/// It is for functions over both. Other types cannot conform to it usefully.
public protocol MLAutomaticTabularTask: MLTabularModel {
    /// Trains the algorithms that suit the data, and keeps the best.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    /// - Throws: `MLCreateError` for columns that are missing or cannot be used.
    init(trainingData: DataFrame, targetColumn: String, featureColumns: [String]?) throws
}

// Members with default arguments call the requirements of the same names.
extension MLAutomaticTabularTask {
    /// Trains the algorithms that suit the data, and keeps the best.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    /// - Throws: `MLCreateError` for columns that are missing or cannot be used.
    public init(trainingData: DataFrame, targetColumn: String, featureColumns: [String]? = nil) throws {
        try self.init(trainingData: trainingData, targetColumn: targetColumn, featureColumns: featureColumns)
    }

    /// Trains the algorithms that suit the rows of a table and keeps the best; see the initializer with a data frame.
    public init(trainingData: MLDataTable, targetColumn: String, featureColumns: [String]? = nil) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns
        )
    }
}

/// A type whose cases are the tasks among which `ChoiceRun` chooses.
package protocol ChosenTask: TabularModel, MLAutomaticTabularTask {
    /// The task of the case.
    var task: any TabularTask { get }

    init(_ trained: TrainedTable, _ settings: LearnerSettings, _ validation: MLTabularValidation)
}

extension ChosenTask {
    /// Trains the algorithms that suit the data, and keeps the best.
    public init(trainingData: DataFrame, targetColumn: String, featureColumns: [String]?) throws {
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

    /// The trained model and its metrics.
    package var trained: TrainedTable { task.trained }
    /// The algorithm of the case.
    package var algorithm: TabularAlgorithm { task.algorithm }
    /// The algorithms that were compared; `nil` for a task that was wrapped in a case.
    package var choice: AlgorithmChoice? { trained.choice }

    /// The names of the columns that the model predicts from.
    public var featureColumns: [String] { task.featureColumns }
    /// The name of the column that the model predicts.
    public var targetColumn: String { task.targetColumn }
    /// The trained model.
    public var model: MLModel { task.model }

    /// The columns, parameters and metrics of the chosen algorithm.
    public var description: String { task.description }
    /// The same text as `description`.
    public var debugDescription: String { task.debugDescription }
}

extension TabularTask {
    fileprivate var algorithm: TabularAlgorithm { modelParameters.settings.algorithm }
}
