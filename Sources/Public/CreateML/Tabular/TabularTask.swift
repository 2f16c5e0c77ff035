public import CoreML
import Foundation
public import TabularData

/// What the tabular classifiers and regressors have in common; clients use the types that conform.
public protocol _TabularTask: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    associatedtype ModelParameters: _TabularParameters
    associatedtype Metrics

    /// The column that is predicted.
    var targetColumn: String { get }
    /// The columns that are predicted from.
    var featureColumns: [String] { get }
    var modelParameters: ModelParameters { get }
    var _trained: _TrainedTable { get set }

    init(_ trained: _TrainedTable, _ parameters: ModelParameters)

    static var _isClassifier: Bool { get }
    var trainingMetrics: Metrics { get }
    var validationMetrics: Metrics { get }
    func evaluation(on labeledData: DataFrame) -> Metrics
}

/// What the parameters of the tabular tasks have in common.
public protocol _TabularParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    typealias ValidationData = _TabularValidation

    /// The rows that the model is held against while and after it is trained.
    var validation: _TabularValidation { get set }
    var _settings: _LearnerSettings { get }
    init(_ settings: _LearnerSettings, _ validation: _TabularValidation)
    /// The defaults, and rows for validation set aside by the automatic rule.
    static var _automatic: Self { get }
}

/// The algorithm and its parameters; opaque to clients.
public struct _LearnerSettings: Sendable {
    var content: LearnerSettings
}

/// Which rows a tabular task is validated on.
///
/// `@unchecked Sendable`: nothing changes a data frame or a table that somebody else holds.
public enum _TabularValidation: @unchecked Sendable {
    /// None.
    case none
    /// A part of the training data.
    case split(strategy: MLSplitStrategy)
    /// Rows with the same columns.
    case dataFrame(DataFrame)
    /// Rows with the same columns.
    case table(MLDataTable)
}

extension _TabularValidation: CustomStringConvertible {
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
    public var description: String {
        (_settings.content.described.map { "\($0.name): \($0.value)" } + ["validation: \(validation)"])
            .joined(separator: "\n")
    }

    public var debugDescription: String { description }
}

extension _TabularTask {
    /// Trains on the rows of a data frame.
    /// - Parameters:
    ///   - targetColumn: numbers for a regressor; strings, integers or Booleans for a classifier.
    ///   - featureColumns: all but the target when `nil`.
    /// - Throws: `MLCreateError` for columns that are missing or cannot be used, and parameters out of their range.
    public init(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ._automatic
    ) throws {
        var run = try TabularRun<Self>(trainingData, targetColumn, featureColumns, parameters)
        self = try run.run()
    }

    /// The trained model.  Predictions and evaluations are by what is set here.
    public var model: MLModel {
        get { _trained.model }
        set { _trained.model = newValue }
    }

    /// Predicts the target of every row.
    /// - Returns: a column with the target's name: of `Double` for a regressor, of `String` or `Int` for a classifier.
    public func predictions(from data: DataFrame) throws -> AnyColumn { try _trained.predictions(from: data) }

    /// Writes the model to a file whose name ends in `.mlmodel`, or to a package that ends in `.mlpackage`.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try _trained.write(to: fileURL.path, metadata)
    }

    /// Writes the model to a file whose name ends in `.mlmodel`, or to a package that ends in `.mlpackage`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try _trained.write(to: path, metadata)
    }

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

    public var debugDescription: String { description }
}

/// A tabular regressor.
public protocol _TabularRegressor: _TabularTask where Metrics == MLRegressorMetrics {}

extension _TabularRegressor {
    public static var _isClassifier: Bool { false }
    /// How well the model predicts the rows that it was trained on.
    public var trainingMetrics: MLRegressorMetrics { _trained.trainingMetrics.regressor }
    /// How well the model predicts the rows that were set aside; not valid when there are none.
    public var validationMetrics: MLRegressorMetrics { _trained.validationMetrics.regressor }
    /// How well the model predicts other rows; an error is in the metrics.
    public func evaluation(on labeledData: DataFrame) -> MLRegressorMetrics {
        _trained.evaluation(on: labeledData).regressor
    }
}

/// A tabular classifier.
public protocol _TabularClassifier: _TabularTask where Metrics == MLClassifierMetrics {}

extension _TabularClassifier {
    public static var _isClassifier: Bool { true }
    /// How well the model predicts the rows that it was trained on.
    public var trainingMetrics: MLClassifierMetrics { _trained.trainingMetrics.classifier }
    /// How well the model predicts the rows that were set aside; not valid when there are none.
    public var validationMetrics: MLClassifierMetrics { _trained.validationMetrics.classifier }
    /// How well the model predicts other rows; an error is in the metrics.
    public func evaluation(on labeledData: DataFrame) -> MLClassifierMetrics {
        _trained.evaluation(on: labeledData).classifier
    }
}

/// A tabular task that trains in the background, too.
public protocol _TabularJobTask: _TabularTask {}

extension _TabularJobTask {
    /// The task as a checkpoint of its session has it.
    public init(checkpoint: MLCheckpoint) throws {
        self = try MLTrainingSession<Self>.product(of: checkpoint, TabularRun<Self>.self)
    }

    /// Begins to train in the background; goes on when there is a session in the session directory.
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

    /// A session that has not begun, or the one in the session directory, if there is one.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` when that one is of other data or
    ///   parameters.
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

    /// The session in the session directory, with the data that it was begun with.
    public static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<Self> {
        try MLTrainingSession(restoring: TabularRun<Self>.self, sessionParameters)
    }

    /// Begins to train a session, or goes on with it.
    public static func resume(_ session: MLTrainingSession<Self>) throws -> MLJob<Self> { try session.resume() }
}
