public import CoreML
import Foundation
import MLSeriesTraining
import TabularData

/// Recognises what somebody does from the key points of one after another.
///
/// The model (Documentation/Behaviour.md): poses brought to one place and size, MiniRocket's features of each window, a
/// linear classifier of them.  It takes `poses`, [frames, 3, 18].
///
/// `@unchecked Sendable`: the parameters may hold a table, which is a value.
public struct MLActionClassifier: @unchecked Sendable {
    /// What stands in the place of values that are not given.
    public struct __Defaults {
        public static let sessionIdColumnName = "session_id"
        public static let labelColumnName = "label"
        public static let featureColumnName = "keypoints"
        public static let videoColumnName = "videoPath"
        public static let batchSize = 32
        public static let maximumIterations = 80
        public static let predictionWindowSize = 60
        public static let targetFrameRate = 30.0
    }

    public var model: MLModel { outcome.model }
    public let modelParameters: ModelParameters
    public var trainingMetrics: MLClassifierMetrics { outcome.training }
    public var validationMetrics: MLClassifierMetrics { outcome.validation }

    private let outcome: SeriesOutcome

    public init(trainingData: DataSource, parameters: ModelParameters = ModelParameters()) throws {
        var run = try Self.run(trainingData, parameters)
        self.init(try run.run().outcome, parameters)
    }

    /// The model of a checkpoint.
    public init(checkpoint: MLCheckpoint) throws {
        self = try MLTrainingSession<Self>.product(of: checkpoint, SeriesRun<Self>.self)
    }

    private init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
    }

    /// Holds the model against labelled sessions, window by window.
    public func evaluation(on annotatedVideos: DataSource) throws -> MLClassifierMetrics {
        try windows.metrics(annotatedVideos.sessions(), model, outcome)
    }

    /// The actions of a file of key points, window by window: a JSON or CSV table with the column `keypoints`, a row a
    /// frame.
    /// - Throws: for videos, with what to do instead.
    public func prediction(from video: URL) throws -> [Prediction] {
        let poses = try KeypointTable.poses(at: video, Self.skeleton, Self.taskName)
        return try windows.results(of: model, poses).map { Prediction(frameRange: $0.frames, results: $0.results) }
    }

    public func predictions(from videos: [URL]) throws -> [[Prediction]] { try videos.map { try prediction(from: $0) } }

    private var windows: ActionWindows {
        ActionWindows(skeleton: Self.skeleton, frames: outcome.options.window ?? __Defaults.predictionWindowSize)
    }

    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try outcome.write(to: fileURL, metadata)
    }

    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try write(to: URL(fileURLWithPath: path), metadata: metadata)
    }

    /// Trains in the background.
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

    /// A session, new or of the session directory.
    public static func makeTrainingSession(
        trainingData: DataSource,
        parameters: ModelParameters = .init(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<MLActionClassifier> {
        try MLTrainingSession(run(trainingData, parameters), sessionParameters)
    }

    /// The session of the session directory.
    public static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<MLActionClassifier> {
        try MLTrainingSession(restoring: SeriesRun<Self>.self, sessionParameters)
    }

    public static func resume(_ session: MLTrainingSession<MLActionClassifier>) throws -> MLJob<MLActionClassifier> {
        try session.resume()
    }
}

extension MLActionClassifier: KeypointTask {
    static var taskName: String { "MLActionClassifier" }
    static var skeleton: Skeleton { .body }
    static var medium: String { "videos" }

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
    public var description: String { outcome.text("Action classifier", "\(modelParameters)") }
    public var debugDescription: String { description }
}
