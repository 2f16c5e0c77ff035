public import CoreML
import Foundation
import MLSeriesTraining
import TabularData

/// Classifies an action of a body by the key points of successive frames.
///
/// The model normalises the position and size of the poses, computes MiniRocket features of each window and classifies
/// them linearly; Apple's network is not public (Documentation/Behaviour.md).  Its input `poses` is [frames, 3, 18]: x,
/// y and confidence of 18 joints.
///
/// `@unchecked Sendable`: the parameters may hold a table, which is a value.
public struct MLActionClassifier: @unchecked Sendable {
    /// The default values of parameters.
    public struct __Defaults {
        /// The default name of the column of sessions.
        public static let sessionIdColumnName = "session_id"
        /// The default name of the column of labels.
        public static let labelColumnName = "label"
        /// The default name of the column of key points.
        public static let featureColumnName = "keypoints"
        /// The default name of the column of videos.
        public static let videoColumnName = "videoPath"
        /// The default batch size.
        public static let batchSize = 32
        /// The default maximum number of iterations.
        public static let maximumIterations = 80
        /// The default number of frames in a window.
        public static let predictionWindowSize = 60
        /// The default frame rate, in frames per second.
        public static let targetFrameRate = 30.0
    }

    /// The trained model.
    public var model: MLModel { outcome.model }
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The performance on the windows that the model was trained on.
    public var trainingMetrics: MLClassifierMetrics { outcome.training }
    /// The performance on the validation windows; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics { outcome.validation }

    private let outcome: SeriesOutcome

    /// Trains on labelled videos or key points.
    /// - Parameters:
    ///   - trainingData: Videos or sessions of key points with their labels.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for data that cannot be used, parameters out of range, and labels that only
    ///   validation data have.
    public init(trainingData: DataSource, parameters: ModelParameters = ModelParameters()) throws {
        var run = try Self.run(trainingData, parameters)
        self.init(try run.run().outcome, parameters)
    }

    /// Makes the model of a checkpoint.
    /// - Parameter checkpoint: A checkpoint of the phase `.training`, in its session directory.
    /// - Throws: `MLCreateError` if the checkpoint is missing, damaged, or of another task or phase.
    public init(checkpoint: MLCheckpoint) throws {
        self = try MLTrainingSession<Self>.product(of: checkpoint, SeriesRun<Self>.self)
    }

    private init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
    }

    /// Evaluates the model on labelled sessions, window by window.
    /// - Parameter annotatedVideos: Videos or sessions of key points with their labels.
    /// - Returns: The metrics over all windows, each of which overlaps the next by half.
    /// - Throws: `MLCreateError` for data that cannot be used.
    public func evaluation(on annotatedVideos: DataSource) throws -> MLClassifierMetrics {
        try windows.metrics(annotatedVideos.sessions(frameRate: outcome.options.frameRate), model, outcome)
    }

    /// Predicts the actions in a video, window by window.
    ///
    /// A folder of pictures, one for each frame, or a JSON or CSV table with the column `keypoints` and a row for each frame
    /// is read, too.
    /// - Parameter video: The video, folder or table.
    /// - Returns: The predictions of the windows, each of which overlaps the next by half.
    /// - Throws: `MLCreateError` for data that cannot be used, and for a video in which no body is found.
    public func prediction(from video: URL) throws -> [Prediction] {
        guard let poses = try Self.reader(frameRate: outcome.options.frameRate).poses(at: video) else {
            throw MLCreateError.generic(reason: "no body was found in \(video.path)")
        }
        return try windows.results(of: model, poses).map { Prediction(frameRange: $0.frames, results: $0.results) }
    }

    /// Predicts the actions in several files; see `prediction(from:)`.
    public func predictions(from videos: [URL]) throws -> [[Prediction]] { try videos.map { try prediction(from: $0) } }

    private var windows: ActionWindows {
        ActionWindows(skeleton: Self.skeleton, frames: outcome.options.window ?? __Defaults.predictionWindowSize)
    }

    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try outcome.write(to: fileURL, metadata)
    }

    /// Writes the trained model to a path that ends in `.mlmodel` or `.mlpackage`, in which a leading tilde is
    /// expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try outcome.write(toFile: path, metadata)
    }

    /// Starts to train in the background, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: Videos or sessions of key points with their labels.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<MLActionClassifier> {
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
    ///   - trainingData: Videos or sessions of key points with their labels.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    public static func makeTrainingSession(
        trainingData: DataSource,
        parameters: ModelParameters = .init(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<MLActionClassifier> {
        try MLTrainingSession(run(trainingData, parameters), sessionParameters)
    }

    /// Restores the session in the session directory with the data that it was begun with.
    /// - Parameter sessionParameters: Session parameters with a directory.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError` if there is no directory, or its session is missing, damaged or of another task.
    public static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<MLActionClassifier> {
        try MLTrainingSession(restoring: SeriesRun<Self>.self, sessionParameters)
    }

    /// Starts or resumes the training of a session in the background.
    /// - Parameter session: A session that no job is training.
    /// - Returns: The running job.
    /// - Throws: `MLCreateError` if a job is training the session, or its checkpoint cannot be read.
    public static func resume(_ session: MLTrainingSession<MLActionClassifier>) throws -> MLJob<MLActionClassifier> {
        try session.resume()
    }
}

extension MLActionClassifier: KeypointTask {
    static var taskName: String { "MLActionClassifier" }
    static var skeleton: Skeleton { .body }
    static var readsVideos: Bool { true }

    init(_ outcome: SeriesOutcome) {
        let options = outcome.options
        self.init(
            outcome,
            ModelParameters(
                batchSize: options.batchSize ?? __Defaults.batchSize,
                maximumIterations: options.iterations ?? __Defaults.maximumIterations,
                predictionWindowSize: options.window ?? __Defaults.predictionWindowSize,
                augmentationOptions: VideoAugmentationOptions(rawValue: options.augmentation ?? 0),
                targetFrameRate: options.frameRate ?? __Defaults.targetFrameRate
            )
        )
    }
}

extension MLActionClassifier: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters and metrics.
    public var description: String { outcome.text("Action classifier", "\(modelParameters)") }
    /// The same text as `description`.
    public var debugDescription: String { description }
}
