public import CoreML
import Foundation

/// The parameters of training of a task.
public protocol MLTaskParameters: CustomStringConvertible, CustomDebugStringConvertible {
    /// Creates default parameters.
    init()
}

/// A classifier that is trained on a data source of its own, at once or in the background.
///
/// It is for functions over several tasks. Other types cannot conform to it usefully.
public protocol MLDataSourceClassifier: MLSessionTask, CustomStringConvertible, CustomDebugStringConvertible {
    /// Labelled data for training and evaluation.
    associatedtype DataSource
    /// The parameters of training.
    associatedtype ModelParameters: MLTaskParameters

    /// The trained model.
    var model: MLModel { get }
    /// The parameters that the model was trained with.
    var modelParameters: ModelParameters { get }
    /// The performance on the windows or poses that the model was trained on.
    var trainingMetrics: MLClassifierMetrics { get }
    /// The performance on the validation data; invalid if there are none.
    var validationMetrics: MLClassifierMetrics { get }

    /// Trains on labelled data.
    /// - Parameters:
    ///   - trainingData: The labelled data.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for data that cannot be used, parameters out of range, and labels that only
    ///   validation data have.
    init(trainingData: DataSource, parameters: ModelParameters) throws
    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The labelled data.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    static func makeTrainingSession(
        trainingData: DataSource,
        parameters: ModelParameters,
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<Self>
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
extension MLDataSourceClassifier {
    /// Trains on labelled data.
    /// - Parameters:
    ///   - trainingData: The labelled data.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for data that cannot be used, parameters out of range, and labels that only
    ///   validation data have.
    public init(trainingData: DataSource, parameters: ModelParameters = ModelParameters()) throws {
        try self.init(trainingData: trainingData, parameters: parameters)
    }

    /// Starts to train in the background, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: The labelled data.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<Self> {
        try resume(
            makeTrainingSession(
                trainingData: trainingData,
                parameters: parameters,
                sessionParameters: sessionParameters
            )
        )
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The labelled data.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    public static func makeTrainingSession(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<Self> {
        try makeTrainingSession(
            trainingData: trainingData,
            parameters: parameters,
            sessionParameters: sessionParameters
        )
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
