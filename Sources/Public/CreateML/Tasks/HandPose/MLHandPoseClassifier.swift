public import CoreML
import Foundation
import MLSeriesTraining

/// Classifies the pose of a hand by its key points.
///
/// The model normalises the position and size of the pose and classifies it by a graph network over the 21 joints and by
/// their distances; Apple's network is not public (Documentation/Behaviour.md). Its input `poses` is [1, 3, 21]: x, y and
/// confidence of 21 joints.
public struct MLHandPoseClassifier: MLKeypointTask {
    /// The default values of parameters.
    public struct __Defaults {
        /// The default name of the column of sessions.
        public static let sessionIdColumnName = "session_id"
        /// The default name of the column of labels.
        public static let labelColumnName = "label"
        /// The default name of the column of key points.
        public static let featureColumnName = "keypoints"
        /// The default name of the column of images.
        public static let imageColumnName = "imagePath"
        /// The default batch size.
        public static let batchSize = 32
        /// The default maximum number of iterations.
        public static let maximumIterations = 80
    }

    /// The parameters of training.
    public typealias ModelParameters = MLKeypointParameters<MLHandPoseClassifier>
    /// Augmentations, each of which adds a changed copy of every training pose.
    public typealias AugmentationOptions = ImageAugmentationOptions

    /// The algorithm.
    public enum ModelAlgorithmType: Hashable, Sendable {
        /// A graph convolutional network over the joints.
        case gcn
    }

    /// The number of joints of a hand.
    public static var jointCount: Int { Skeleton.hand.jointCount }
    /// None, as the model takes single poses.
    public static var standardWindowSize: Int? { nil }
    /// No augmentations.
    public static var standardAugmentationOptions: ImageAugmentationOptions { [] }
    /// The only algorithm.
    public static var standardAlgorithm: ModelAlgorithmType { .gcn }

    /// The trained model.
    ///
    /// A model that is set here is used for predictions and evaluations; it cannot be written.
    public var model: MLModel {
        get { outcome.model }
        set { outcome.model = newValue }
    }
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The performance on the poses that the model was trained on.
    public var trainingMetrics: MLClassifierMetrics
    /// The performance on the validation poses; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics

    /// The images that training left out because no hand was found in them; an addition to Apple's API.
    ///
    /// Images of validation data are listed after those of training data.
    public var skippedImages: [SkippedImage] {
        (outcome.options.skippedFiles ?? []).map {
            SkippedImage(url: URL(fileURLWithPath: $0.path), label: $0.label, reason: $0.reason)
        }
    }

    var outcome: SeriesOutcome

    init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
        trainingMetrics = outcome.training
        validationMetrics = outcome.validation
    }

    /// Predicts the pose of the hand in an image, or the first one in a table of key points (JSON, CSV) with the column
    /// `keypoints`.
    /// - Parameter image: The image, or the table.
    /// - Returns: The classes and their probabilities, the most probable first.
    /// - Throws: `MLCreateError` for data that cannot be used, and for an image in which no hand is found.
    public func prediction(from image: URL) throws -> [(label: String, confidence: Double)] {
        try SeriesOutcome.results(of: model, "poses", poses(at: image).frames(0..<1), [1, 3, Self.jointCount])
    }

    /// Predicts the poses in several files; see `prediction(from:)`.
    public func predictions(from images: [URL]) throws -> [[(label: String, confidence: Double)]] {
        try images.map { try prediction(from: $0) }
    }
}

extension MLHandPoseClassifier: KeypointTask {
    static var taskName: String { "MLHandPoseClassifier" }
    static var title: String { "Hand pose classifier" }
}
