public import CoreML
import MLSeriesTraining

/// Classifies an action of a body by the key points of successive frames.
///
/// The model normalises the position and size of the poses, computes MiniRocket features of each window and classifies
/// them linearly; Apple's network is not public (Documentation/Behaviour.md). Its input `poses` is [frames, 3, 18]: x,
/// y and confidence of 18 joints. The extractor of joints in videos is `mediapipe-body`.
///
/// `@unchecked Sendable`: the parameters may hold a table, which is a value.
public struct MLActionClassifier: MLActionTask, @unchecked Sendable {
    /// The default values of parameters.
    public typealias __Defaults = MLActionDefaults
    /// Labelled actions for training and evaluation.
    public typealias DataSource = MLActionDataSource<MLActionClassifier>
    /// The parameters of training.
    public typealias ModelParameters = MLKeypointParameters<MLActionClassifier>
    /// The prediction for a window of frames.
    public typealias Prediction = MLActionPrediction<MLActionClassifier>
    /// Augmentations, each of which adds a changed copy of every training window.
    public typealias AugmentationOptions = VideoAugmentationOptions

    /// The algorithm.
    public enum ModelAlgorithmType: Hashable, Sendable {
        /// MiniRocket features of normalised poses with a linear classifier, in place of Apple's graph network.
        case stgcn
    }

    /// Augmentations, each of which adds a changed copy of every training window.
    public struct VideoAugmentationOptions: OptionSet, Codable, Sendable {
        /// The bits of the options.
        public let rawValue: Int

        /// Creates options of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Mirrors poses horizontally.
        public static let horizontalFlip = VideoAugmentationOptions(rawValue: 1 << 0)
    }

    /// The number of joints of a body.
    public static var jointCount: Int { Skeleton.body.jointCount }
    /// Horizontal flips.
    public static var standardAugmentationOptions: VideoAugmentationOptions { [.horizontalFlip] }
    /// The only algorithm.
    public static var standardAlgorithm: ModelAlgorithmType { .stgcn }

    /// The trained model.
    public var model: MLModel { outcome.model }
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The performance on the windows that the model was trained on.
    public var trainingMetrics: MLClassifierMetrics { outcome.training }
    /// The performance on the validation windows; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics { outcome.validation }

    let outcome: SeriesOutcome

    init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
    }
}

extension MLActionClassifier: ActionTask {
    static var taskName: String { "MLActionClassifier" }
    static var title: String { "Action classifier" }
}

extension MLActionClassifier.VideoAugmentationOptions: KeypointAugmentations {
    static var changes: [(option: Self, change: PoseAugmentation)] { [(.horizontalFlip, .flip)] }
}
