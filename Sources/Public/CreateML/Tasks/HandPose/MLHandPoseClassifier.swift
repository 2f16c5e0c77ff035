public import CoreML
import Foundation
import MLSeriesTraining
import TabularData

/// Recognises the pose of a hand from its key points.
///
/// The model (Documentation/Behaviour.md): poses brought to one place and size, then a graph network over the 21 joints.
/// It takes `poses`, [1, 3, 21].
public struct MLHandPoseClassifier {
    /// What stands in the place of values that are not given.
    public struct __Defaults {
        public static let sessionIdColumnName = "session_id"
        public static let labelColumnName = "label"
        public static let featureColumnName = "keypoints"
        public static let imageColumnName = "imagePath"
        public static let batchSize = 32
        public static let maximumIterations = 80
    }

    public var model: MLModel
    public let modelParameters: ModelParameters
    public var trainingMetrics: MLClassifierMetrics
    public var validationMetrics: MLClassifierMetrics

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
        model = outcome.model
        trainingMetrics = outcome.training
        validationMetrics = outcome.validation
    }

    /// Holds the model against labelled poses.
    public func evaluation(on annotatedImages: DataSource) throws -> MLClassifierMetrics {
        try windows.metrics(annotatedImages.sessions(), model, outcome)
    }

    /// The pose of a file of key points: a JSON or CSV table with the column `keypoints`, of which the first row counts.
    /// - Throws: for pictures, with what to do instead.
    public func prediction(from image: URL) throws -> [(label: String, confidence: Double)] {
        let poses = try KeypointTable.poses(at: image, Self.skeleton, Self.taskName)
        return try SeriesOutcome.results(of: model, "poses", poses.frames(0..<1), [1, 3, Self.skeleton.jointCount])
    }

    public func predictions(from images: [URL]) throws -> [[(label: String, confidence: Double)]] {
        try images.map { try prediction(from: $0) }
    }

    private var windows: ActionWindows { ActionWindows(skeleton: Self.skeleton, frames: 1) }

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
    ) throws -> MLJob<MLHandPoseClassifier> {
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
    ) throws -> MLTrainingSession<MLHandPoseClassifier> {
        try MLTrainingSession(run(trainingData, parameters), sessionParameters)
    }

    /// The session of the session directory.
    public static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<MLHandPoseClassifier> {
        try MLTrainingSession(restoring: SeriesRun<Self>.self, sessionParameters)
    }

    public static func resume(_ session: MLTrainingSession<MLHandPoseClassifier>) throws -> MLJob<MLHandPoseClassifier>
    {
        try session.resume()
    }
}

extension MLHandPoseClassifier: KeypointTask {
    static var taskName: String { "MLHandPoseClassifier" }
    static var skeleton: Skeleton { .hand }
    static var medium: String { "pictures" }

    init(_ outcome: SeriesOutcome) {
        let options = outcome.options
        self.init(
            outcome,
            ModelParameters(
                batchSize: options.batchSize ?? __Defaults.batchSize,
                maximumIterations: options.iterations ?? __Defaults.maximumIterations,
                augmentationOptions: ImageAugmentationOptions(rawValue: options.augmentation ?? 0)
            )
        )
    }
}

extension MLHandPoseClassifier: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { outcome.text("Hand pose classifier", "\(modelParameters)") }
    public var debugDescription: String { description }
}
