package import CoreML
import Foundation
package import TabularData

// The public protocols have the members of Apple's tasks; these have the implementations.

/// The metrics of a kind of tabular task: of a classifier or a regressor.
package protocol TabularTaskMetrics {
    static var isClassifier: Bool { get }

    init(_ metrics: TabularMetrics)
    init(_ error: any Error)
}

extension MLClassifierMetrics: TabularTaskMetrics {
    package static var isClassifier: Bool { true }

    package init(_ metrics: TabularMetrics) { self = metrics.classifier }
}

extension MLRegressorMetrics: TabularTaskMetrics {
    package static var isClassifier: Bool { false }

    package init(_ metrics: TabularMetrics) { self = metrics.regressor }
}

/// A tabular model made of a trained table.
package protocol TabularModel: MLTabularModel where Metrics: TabularTaskMetrics {
    var trained: TrainedTable { get }
}

extension TabularModel {
    package static var isClassifier: Bool { Metrics.isClassifier }

    /// The performance on the rows that the model was trained on.
    public var trainingMetrics: Metrics { Metrics(trained.trainingMetrics) }
    /// The performance on the validation rows; invalid if there are none.
    public var validationMetrics: Metrics { Metrics(trained.validationMetrics) }

    /// Evaluates the model on rows with known targets; an error is in the metrics.
    public func evaluation(on labeledData: DataFrame) -> Metrics { Metrics(trained.evaluation(on: labeledData)) }

    /// Evaluates the model on a table with known targets; an error, such as an invalid table's, is in the metrics.
    public func evaluation(on labeledData: MLDataTable) -> Metrics {
        do { return evaluation(on: try labeledData.dataFrame()) } catch { return Metrics(error) }
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
}

/// A tabular task made of a trained table.
package protocol TabularTask: TabularModel, MLTabularTask where ModelParameters: TabularParameters {
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

extension SessionTask where Self: TabularTask {
    typealias Run = TabularRun<Self>
}

/// A tabular task that a `TabularRun` can train in the background.
package protocol TabularJobTask: TabularTask, MLTabularJobTask {}

extension TabularJobTask {
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
}
