public import CoreML
import MLSeriesTraining

/// Classifies an action of a hand by the key points of successive frames.
///
/// The model normalises the position and size of the poses, computes MiniRocket features of each window and classifies
/// them linearly; Apple's network is not public (Documentation/Behaviour.md). Its input `poses` is [frames, 3, 21]: x,
/// y and confidence of 21 joints. The extractor of joints in videos is `mediapipe-hands`.
public struct MLHandActionClassifier: MLActionTask {
    /// The default values of parameters.
    public typealias __Defaults = MLActionDefaults
    /// Labelled actions for training and evaluation.
    public typealias DataSource = MLActionDataSource<MLHandActionClassifier>
    /// The parameters of training.
    public typealias ModelParameters = MLKeypointParameters<MLHandActionClassifier>
    /// The prediction for a window of frames.
    public typealias Prediction = MLActionPrediction<MLHandActionClassifier>
    /// Augmentations, each of which adds a changed copy of every training window.
    public typealias AugmentationOptions = VideoAugmentationOptions

    /// The algorithm.
    public enum ModelAlgorithmType: Hashable, Sendable {
        /// MiniRocket features of normalised poses with a linear classifier, in place of Apple's graph network.
        case gcn
    }

    /// Augmentations, each of which adds a changed copy of every training window.
    public struct VideoAugmentationOptions: OptionSet, Codable, Sendable {
        /// The bits of the options.
        public let rawValue: Int

        /// Creates options of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Replaces frames, each with the probability 0.1, by the frame before.
        public static let dropFrames = VideoAugmentationOptions(rawValue: 1 << 0)
        /// Mirrors poses horizontally.
        public static let horizontallyFlip = VideoAugmentationOptions(rawValue: 1 << 1)
        /// Slows the motion down by up to a quarter, interpolating linearly.
        public static let interpolateFrames = VideoAugmentationOptions(rawValue: 1 << 2)
        /// Rotates poses by up to 20 degrees either way.
        public static let rotate = VideoAugmentationOptions(rawValue: 1 << 3)
        /// Scales poses by a factor from 0.8 to 1.2.
        public static let scale = VideoAugmentationOptions(rawValue: 1 << 4)
        /// Moves poses by up to 0.1 of the picture in each direction.
        public static let translate = VideoAugmentationOptions(rawValue: 1 << 5)
    }

    /// The number of joints of a hand.
    public static var jointCount: Int { Skeleton.hand.jointCount }
    /// No augmentations.
    public static var standardAugmentationOptions: VideoAugmentationOptions { [] }
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
    /// The performance on the windows that the model was trained on.
    public var trainingMetrics: MLClassifierMetrics
    /// The performance on the validation windows; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics

    var outcome: SeriesOutcome

    init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
        trainingMetrics = outcome.training
        validationMetrics = outcome.validation
    }
}

extension MLHandActionClassifier: ActionTask {
    static var taskName: String { "MLHandActionClassifier" }
    static var title: String { "Hand action classifier" }
}

extension MLHandActionClassifier.VideoAugmentationOptions: KeypointAugmentations {
    static var changes: [(option: Self, change: PoseAugmentation)] {
        [
            (.dropFrames, .dropFrames), (.horizontallyFlip, .flip), (.interpolateFrames, .interpolateFrames),
            (.rotate, .rotate), (.scale, .scale), (.translate, .translate),
        ]
    }
}
