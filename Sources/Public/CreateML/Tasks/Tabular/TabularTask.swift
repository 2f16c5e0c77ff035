package import CoreML
import Foundation
package import TabularData

// The public protocols have the members of Apple's tasks; these have the implementations.

/// A tabular task made of a trained table.
package protocol TabularTask: MLTabularTask where ModelParameters: TabularParameters {
    static var isClassifier: Bool { get }
    var trained: TrainedTable { get set }

    init(_ trained: TrainedTable, _ parameters: ModelParameters)
}

extension TabularTask {
    /// Trains on the rows of a data frame.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    /// - Throws: `MLCreateError` for columns that are missing or cannot be used, and for parameters out of range.
    public init(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]?,
        parameters: ModelParameters
    ) throws {
        var run = try TabularRun<Self>(trainingData, targetColumn, featureColumns, parameters)
        self = try run.run()
    }

    /// The trained model.
    public var model: MLModel {
        get { trained.task.model }
        set { trained.task.model = newValue }
    }

    /// Predicts the target of every row.
    public func predictions(from data: DataFrame) throws -> AnyColumn { try trained.predictions(from: data) }

    /// Writes the trained model to a file or package.
    public func write(to fileURL: URL, metadata: MLModelMetadata?) throws {
        try trained.task.write(to: fileURL, metadata)
    }

    /// Writes the trained model to a path.
    public func write(toFile path: String, metadata: MLModelMetadata?) throws {
        try trained.task.write(toFile: path, metadata)
    }

    /// The columns, parameters and metrics.
    public var description: String {
        """
        \(Self.self)

        Target: \(targetColumn)
        Features: \(featureColumns.joined(separator: ", "))

        Parameters
        \(modelParameters)

        Performance on the training data
        \(trainingMetrics)
        Performance on the validation data
        \(validationMetrics)
        """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

/// A tabular regressor made of a trained table.
package protocol TabularRegressor: TabularTask, MLTabularRegressor {}

extension TabularRegressor {
    package static var isClassifier: Bool { false }

    /// The performance on the rows that the model was trained on.
    public var trainingMetrics: MLRegressorMetrics { trained.trainingMetrics.regressor }
    /// The performance on the validation rows; invalid if there are none.
    public var validationMetrics: MLRegressorMetrics { trained.validationMetrics.regressor }

    /// Evaluates the model on rows with known targets; an error is in the metrics.
    public func evaluation(on labeledData: DataFrame) -> MLRegressorMetrics {
        trained.evaluation(on: labeledData).regressor
    }

    /// Evaluates the model on a table with known targets; an error, such as an invalid table's, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLRegressorMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLRegressorMetrics(error) }
    }
}

/// A tabular classifier made of a trained table.
package protocol TabularClassifier: TabularTask, MLTabularClassifier {}

extension TabularClassifier {
    package static var isClassifier: Bool { true }

    /// The performance on the rows that the model was trained on.
    public var trainingMetrics: MLClassifierMetrics { trained.trainingMetrics.classifier }
    /// The performance on the validation rows; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics { trained.validationMetrics.classifier }

    /// Evaluates the model on rows with known targets; an error is in the metrics.
    public func evaluation(on labeledData: DataFrame) -> MLClassifierMetrics {
        trained.evaluation(on: labeledData).classifier
    }

    /// Evaluates the model on a table with known targets; an error, such as an invalid table's, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> MLClassifierMetrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return MLClassifierMetrics(error) }
    }
}

/// A tabular task that a `TabularRun` can train in the background.
package protocol TabularJobTask: TabularTask, MLTabularJobTask {}

extension TabularJobTask {
    /// Makes the model of a checkpoint.
    /// - Parameter checkpoint: A checkpoint of the phase `.training`, in its session directory.
    /// - Throws: `MLCreateError` if the checkpoint is missing, damaged, or of another task or phase.
    public init(checkpoint: MLCheckpoint) throws {
        self = try MLTrainingSession<Self>.product(of: checkpoint, TabularRun<Self>.self)
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    public static func makeTrainingSession(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]?,
        parameters: ModelParameters,
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<Self> {
        try MLCreateError.translating {
            try MLTrainingSession(
                try TabularRun<Self>(trainingData, targetColumn, featureColumns, parameters),
                sessionParameters
            )
        }
    }

    /// Restores the session in the session directory with the data that it was begun with.
    /// - Parameter sessionParameters: Session parameters with a directory.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError` if there is no directory, or its session is missing, damaged or of another task.
    public static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<Self> {
        try MLTrainingSession(restoring: TabularRun<Self>.self, sessionParameters)
    }

    /// Starts or resumes the training of a session in the background.
    /// - Parameter session: A session that no job is training.
    /// - Returns: The running job.
    /// - Throws: `MLCreateError` if a job is training the session, or its checkpoint cannot be read.
    public static func resume(_ session: MLTrainingSession<Self>) throws -> MLJob<Self> { try session.resume() }
}
