public import CoreML
import Foundation
public import TabularData

/// The common interface of the tabular classifiers and regressors; use the types that conform to it.
public protocol _TabularTask: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters of training.
    associatedtype ModelParameters: _TabularParameters
    /// The metrics of the kind of task.
    associatedtype Metrics

    /// The name of the column that the model predicts.
    var targetColumn: String { get }
    /// The names of the columns that the model predicts from.
    var featureColumns: [String] { get }
    /// The parameters that the model was trained with.
    var modelParameters: ModelParameters { get }
    /// The trained model and its metrics; an implementation detail.
    var _trained: _TrainedTable { get set }

    /// Makes a task of a trained model; an implementation detail.
    init(_ trained: _TrainedTable, _ parameters: ModelParameters)

    /// Whether the task is a classifier; an implementation detail.
    static var _isClassifier: Bool { get }
    /// The performance on the rows that the model was trained on.
    var trainingMetrics: Metrics { get }
    /// The performance on the validation rows; invalid if there are none.
    var validationMetrics: Metrics { get }
    /// Evaluates the model on rows with known targets.
    func evaluation(on labeledData: DataFrame) -> Metrics
}

/// The common interface of the tabular tasks' parameters; use the types that conform to it.
public protocol _TabularParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The choice of validation rows.
    typealias ValidationData = _TabularValidation

    /// The rows that the model is validated on during and after training.
    var validation: _TabularValidation { get set }
    /// The algorithm and its parameters; an implementation detail.
    var _settings: _LearnerSettings { get }
    /// Makes parameters of an algorithm's settings; an implementation detail.
    init(_ settings: _LearnerSettings, _ validation: _TabularValidation)
    /// The default parameters with the automatic validation split; an implementation detail.
    static var _automatic: Self { get }
}

/// The algorithm and its parameters; opaque to clients.
public struct _LearnerSettings: Sendable {
    var content: LearnerSettings
}

/// The choice of rows on which a tabular task is validated.
///
/// `@unchecked Sendable`: a shared data frame or table is never modified.
public enum _TabularValidation: @unchecked Sendable {
    /// No validation.
    case none
    /// A part of the training data.
    case split(strategy: MLSplitStrategy)
    /// The rows of a data frame with the columns of the training data.
    case dataFrame(DataFrame)
    /// The rows of a table with the columns of the training data.
    case table(MLDataTable)
}

extension _TabularValidation: CustomStringConvertible {
    /// The choice in a few words, such as `automatic split` or the number of rows.
    public var description: String {
        switch self {
        case .none: "none"
        case .split(.automatic): "automatic split"
        case .split(.fixed(let ratio, let seed)): "split \(ratio)" + (seed.map { ", seed \($0)" } ?? "")
        case .dataFrame(let frame): "\(frame.shape.rows) rows"
        case .table(let table): "\(table.size.rows) rows"
        }
    }
}

extension _TabularParameters {
    /// The parameters, one a line.
    public var description: String {
        (_settings.content.described.map { "\($0.name): \($0.value)" } + ["validation: \(validation)"])
            .joined(separator: "\n")
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

extension _TabularTask {
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
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ._automatic
    ) throws {
        var run = try TabularRun<Self>(trainingData, targetColumn, featureColumns, parameters)
        self = try run.run()
    }

    /// The trained model.
    ///
    /// A model that is set here is used for predictions and evaluations; it cannot be written.
    public var model: MLModel {
        get { _trained.task.model }
        set { _trained.task.model = newValue }
    }

    /// Predicts the target of every row.
    /// - Parameter data: Rows with the feature columns.
    /// - Returns: A column with the target's name: of `Double` for a regressor, of `String` or `Int` for a classifier.
    /// - Throws: `MLCreateError` for columns that are missing or of another type.
    public func predictions(from data: DataFrame) throws -> AnyColumn { try _trained.predictions(from: data) }

    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system, `.generic` if `model` was
    ///   set.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try _trained.task.write(to: fileURL, metadata)
    }

    /// Writes the trained model to a path that ends in `.mlmodel` or `.mlpackage`, in which a leading tilde is
    /// expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try _trained.task.write(toFile: path, metadata)
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

/// The common interface of the tabular regressors; use the types that conform to it.
public protocol _TabularRegressor: _TabularTask where Metrics == MLRegressorMetrics {}

extension _TabularRegressor {
    /// `false`; an implementation detail.
    public static var _isClassifier: Bool { false }
    /// The performance on the rows that the model was trained on.
    public var trainingMetrics: MLRegressorMetrics { _trained.trainingMetrics.regressor }
    /// The performance on the validation rows; invalid if there are none.
    public var validationMetrics: MLRegressorMetrics { _trained.validationMetrics.regressor }
    /// Evaluates the model on rows with known targets; an error is in the metrics.
    public func evaluation(on labeledData: DataFrame) -> MLRegressorMetrics {
        _trained.evaluation(on: labeledData).regressor
    }
}

/// The common interface of the tabular classifiers; use the types that conform to it.
public protocol _TabularClassifier: _TabularTask where Metrics == MLClassifierMetrics {}

extension _TabularClassifier {
    /// `true`; an implementation detail.
    public static var _isClassifier: Bool { true }
    /// The performance on the rows that the model was trained on.
    public var trainingMetrics: MLClassifierMetrics { _trained.trainingMetrics.classifier }
    /// The performance on the validation rows; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics { _trained.validationMetrics.classifier }
    /// Evaluates the model on rows with known targets; an error is in the metrics.
    public func evaluation(on labeledData: DataFrame) -> MLClassifierMetrics {
        _trained.evaluation(on: labeledData).classifier
    }
}

/// The common interface of the tabular tasks that can be trained in the background.
public protocol _TabularJobTask: _TabularTask {}

extension _TabularJobTask {
    /// Makes the model of a checkpoint.
    /// - Parameter checkpoint: A checkpoint of the phase `.training`, in its session directory.
    /// - Throws: `MLCreateError` if the checkpoint is missing, damaged, or of another task or phase.
    public init(checkpoint: MLCheckpoint) throws {
        self = try MLTrainingSession<Self>.product(of: checkpoint, TabularRun<Self>.self)
    }

    /// Starts to train in the background, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ._automatic,
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<Self> {
        try resume(
            try makeTrainingSession(
                trainingData: trainingData,
                targetColumn: targetColumn,
                featureColumns: featureColumns,
                parameters: parameters,
                sessionParameters: sessionParameters
            )
        )
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    public static func makeTrainingSession(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ._automatic,
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
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
