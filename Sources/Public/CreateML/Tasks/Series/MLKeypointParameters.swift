/// The parameters of training of a classifier of key points.
public struct MLKeypointParameters<Task: MLKeypointTask>: MLTaskParameters {
    /// The algorithm.
    public typealias ModelAlgorithmType = Task.ModelAlgorithmType

    /// The choice of validation data.
    public enum ValidationData {
        /// No validation.
        case none
        /// Other labelled data.
        case dataSource(Task.DataSource)
        /// A part of the training sessions.
        case split(strategy: MLSplitStrategy)
    }

    /// The algorithm; there is only one.
    public var algorithm: ModelAlgorithmType
    /// The augmentations of training windows or poses.
    ///
    /// By default horizontal flips for actions of bodies, and none for hands.
    public var augmentationOptions: Task.AugmentationOptions
    /// The number of windows or poses in an optimisation step, at least 1; 32 by default.
    public var batchSize: Int
    /// The maximum number of iterations, at least 1; 80 by default.
    ///
    /// An iteration is as many passes over the data as 50 steps need, at least one.
    public var maximumIterations: Int
    /// The validation data; the automatic split of the training sessions by default.
    public var validation: ValidationData
    /// The window of a classifier of actions; `nil` for single poses.
    package var window: Window?

    /// The number of frames in a window, and of those that are sampled in a second of a video.
    package struct Window {
        package var frames: Int
        package var frameRate: Double
    }

    /// Creates default parameters.
    public init() {
        algorithm = Task.standardAlgorithm
        augmentationOptions = Task.standardAugmentationOptions
        batchSize = MLActionDefaults.batchSize
        maximumIterations = MLActionDefaults.maximumIterations
        validation = .split(strategy: .automatic)
        window = Task.standardWindowSize.map { Window(frames: $0, frameRate: MLActionDefaults.targetFrameRate) }
    }

    /// The parameters, one a line.
    public var description: String {
        var lines = ["Batch size: \(batchSize)", "Maximum iterations: \(maximumIterations)"]
        if let window {
            lines += ["Prediction window size: \(window.frames)", "Target frame rate: \(window.frameRate)"]
        }
        return lines.joined(separator: "\n")
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

extension MLKeypointParameters where Task: MLActionTask {
    /// The number of frames in a window, at least 9; 60 by default.
    public var predictionWindowSize: Int {
        get { window?.frames ?? MLActionDefaults.predictionWindowSize }
        set { window = Window(frames: newValue, frameRate: targetFrameRate) }
    }

    /// The frame rate, in frames per second, at which videos are sampled; 30 by default.
    ///
    /// Key points in tables and folders of frames are taken as they are.
    public var targetFrameRate: Double {
        get { window?.frameRate ?? MLActionDefaults.targetFrameRate }
        set { window = Window(frames: predictionWindowSize, frameRate: newValue) }
    }

    /// Creates training parameters; see the properties of the same names.
    public init(
        validation: ValidationData = .split(strategy: .automatic),
        batchSize: Int = MLActionDefaults.batchSize,
        maximumIterations: Int = MLActionDefaults.maximumIterations,
        predictionWindowSize: Int = MLActionDefaults.predictionWindowSize,
        augmentationOptions: Task.AugmentationOptions = Task.standardAugmentationOptions,
        algorithm: ModelAlgorithmType = Task.standardAlgorithm,
        targetFrameRate: Double = MLActionDefaults.targetFrameRate
    ) {
        self.validation = validation
        self.batchSize = batchSize
        self.maximumIterations = maximumIterations
        self.augmentationOptions = augmentationOptions
        self.algorithm = algorithm
        window = Window(frames: predictionWindowSize, frameRate: targetFrameRate)
    }
}

extension MLKeypointParameters where Task == MLHandPoseClassifier {
    /// Creates training parameters; see the properties of the same names.
    public init(
        validation: ValidationData = .split(strategy: .automatic),
        batchSize: Int = MLHandPoseClassifier.__Defaults.batchSize,
        maximumIterations: Int = MLHandPoseClassifier.__Defaults.maximumIterations,
        augmentationOptions: MLHandPoseClassifier.ImageAugmentationOptions = [],
        algorithm: ModelAlgorithmType = .gcn
    ) {
        self.init()
        self.validation = validation
        self.batchSize = batchSize
        self.maximumIterations = maximumIterations
        self.augmentationOptions = augmentationOptions
        self.algorithm = algorithm
    }
}
