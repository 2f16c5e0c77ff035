public import CoreML
import Foundation
public import TabularData

/// A trained tabular classifier or regressor.
///
/// It is for functions over several kinds of tasks. Other types cannot conform to it usefully.
public protocol MLTabularModel: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The metrics of the kind of task.
    associatedtype Metrics

    /// The name of the column that the model predicts.
    var targetColumn: String { get }
    /// The names of the columns that the model predicts from.
    var featureColumns: [String] { get }
    /// The trained model.
    var model: MLModel { get }
    /// The performance on the rows that the model was trained on.
    var trainingMetrics: Metrics { get }
    /// The performance on the validation rows; invalid if there are none.
    var validationMetrics: Metrics { get }

    /// Evaluates the model on rows with known targets; an error is in the metrics.
    func evaluation(on labeledData: DataFrame) -> Metrics
    /// Evaluates the model on a table with known targets; an error, such as an invalid table's, is in the metrics.
    func evaluation(on labeledData: MLDataTable) -> Metrics
    /// Predicts the target of every row.
    /// - Parameter data: Rows with the feature columns.
    /// - Returns: A column with the target's name: of `Double` for a regressor, of `String` or `Int` for a classifier.
    /// - Throws: `MLCreateError` for columns that are missing or of another type.
    func predictions(from data: DataFrame) throws -> AnyColumn
    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system, `.generic` if `model` was
    ///   set.
    func write(to fileURL: URL, metadata: MLModelMetadata?) throws
    /// Writes the trained model to a path that ends in `.mlmodel` or `.mlpackage`, in which a leading tilde is
    /// expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    func write(toFile path: String, metadata: MLModelMetadata?) throws
}

// Members with default arguments call the requirements of the same names.
extension MLTabularModel {
    /// Predicts the target of every row of a table.
    /// - Parameter data: Rows with the feature columns.
    /// - Returns: Floating-point numbers for a regressor, strings or integers for a classifier.
    /// - Throws: The table's error if it is invalid; `MLCreateError` for columns that are missing or of another type.
    public func predictions(from data: MLDataTable) throws -> MLUntypedColumn {
        MLUntypedColumn(converting: try predictions(from: data.dataFrame()))
    }

    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system, `.generic` if `model` was
    ///   set.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try write(to: fileURL, metadata: metadata)
    }

    /// Writes the trained model to a path that ends in `.mlmodel` or `.mlpackage`, in which a leading tilde is
    /// expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try write(toFile: path, metadata: metadata)
    }
}

/// A tabular classifier or regressor of one algorithm; the types that conform to it are the tasks themselves.
///
/// It is for functions over several algorithms. Other types cannot conform to it usefully.
public protocol MLTabularTask: MLTabularModel {
    /// The parameters of training.
    associatedtype ModelParameters: MLTabularParameters

    /// The parameters that the model was trained with.
    var modelParameters: ModelParameters { get }
    /// The trained model.
    ///
    /// A model that is set here is used for predictions and evaluations; it cannot be written.
    var model: MLModel { get set }

    /// Trains on the rows of a data frame.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor; strings, integers or Booleans for
    ///     a classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    /// - Throws: `MLCreateError` for columns that are missing or cannot be used, and for parameters out of range.
    init(
        trainingData: DataFrame,
        targetColumn: String,
        featureColumns: [String]?,
        parameters: ModelParameters
    ) throws
}
// Members with default arguments call the requirements of the same names.
extension MLTabularTask {
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
        parameters: ModelParameters = ModelParameters()
    ) throws {
        try self.init(
            trainingData: trainingData,
            targetColumn: targetColumn,
            featureColumns: featureColumns,
            parameters: parameters
        )
    }

    /// Trains on the rows of a table.
    /// - Parameters:
    ///   - trainingData: The rows, with a column for the target and one for each feature.
    ///   - targetColumn: The name of the column to predict: numbers for a regressor, strings or integers for a
    ///     classifier.
    ///   - featureColumns: The names of the columns to predict from; all but the target if `nil`.
    ///   - parameters: The parameters of the algorithm and the choice of validation rows.
    /// - Throws: The table's error if it is invalid; `MLCreateError` for columns that are missing or cannot be used,
    ///   and for parameters out of range.
    public init(
        trainingData: MLDataTable,
        targetColumn: String,
        featureColumns: [String]? = nil,
        parameters: ModelParameters = ModelParameters()
    ) throws {
        try self.init(
            trainingData: trainingData.dataFrame(),
            targetColumn: targetColumn,
            featureColumns: featureColumns,
            parameters: parameters
        )
    }
}

/// A tabular regressor of one algorithm.
public protocol MLTabularRegressor: MLTabularTask where Metrics == MLRegressorMetrics {}

/// A tabular classifier of one algorithm.
public protocol MLTabularClassifier: MLTabularTask where Metrics == MLClassifierMetrics {}
