public import Foundation
public import TabularData

/// A classifier of the key points of hands or bodies: single poses, or actions in successive frames.
///
/// It is for functions over several tasks. Other types cannot conform to it usefully.
public protocol MLKeypointTask: MLDataSourceClassifier
where DataSource: MLKeypointDataSource, ModelParameters == MLKeypointParameters<Self> {
    /// Augmentations, each of which adds a changed copy of every training window or pose.
    associatedtype AugmentationOptions
    /// The algorithms of the task.
    associatedtype ModelAlgorithmType

    /// The number of joints of a pose: 18 of a body, 21 of a hand.
    static var jointCount: Int { get }
    /// The number of frames in a window by default; `nil` for classifiers of single poses.
    static var standardWindowSize: Int? { get }
    /// The augmentations by default.
    static var standardAugmentationOptions: AugmentationOptions { get }
    /// The algorithm by default.
    static var standardAlgorithm: ModelAlgorithmType { get }

    /// Evaluates the model on labelled data, window by window or pose by pose.
    ///
    /// Each window overlaps the next by half. A session shorter than a window is one window.
    /// - Parameter labeledData: Files or sessions of key points with their labels.
    /// - Returns: The metrics over all windows or poses.
    /// - Throws: `MLCreateError` for data that cannot be used.
    func evaluation(on labeledData: DataSource) throws -> MLClassifierMetrics
}

/// The forms of data that all classifiers of key points are trained on.
public protocol MLKeypointDataSource {
    /// A folder with a folder of files for each label.
    static func labeledDirectories(at url: URL) -> Self
    /// A folder of files, whose names begin with their labels.
    static func labeledFiles(at url: URL) -> Self
    /// A data frame of key points with a session and a label in every row.
    static func labeledKeypointsDataFrame(
        _ frame: DataFrame,
        sessionIdColumn: String,
        labelColumn: String,
        featureColumn: String
    ) -> Self
    /// Returns the paths of the files and their labels; `nil` for key points in memory.
    func gatherAnnotatedFileNames() throws -> DataFrame?
}

/// A classifier of actions in the key points of successive frames.
///
/// It is for functions over several tasks. Other types cannot conform to it usefully.
public protocol MLActionTask: MLKeypointTask where DataSource == MLActionDataSource<Self> {
    /// Predicts the actions in a video, window by window.
    ///
    /// A folder of pictures, one for each frame, or a JSON or CSV table with the column `keypoints` and a row for each frame
    /// is read, too.
    /// - Parameter video: The video, folder or table.
    /// - Returns: The predictions of the windows, each of which overlaps the next by half.
    /// - Throws: `MLCreateError` for data that cannot be used, and for a video in which no body or hand is found.
    func prediction(from video: URL) throws -> [MLActionPrediction<Self>]
}

extension MLActionTask {
    /// The number of frames in a window by default.
    public static var standardWindowSize: Int? { MLActionDefaults.predictionWindowSize }

    /// Predicts the actions in several files; see `prediction(from:)`.
    public func predictions(from videos: [URL]) throws -> [[MLActionPrediction<Self>]] {
        try videos.map { try prediction(from: $0) }
    }
}

/// The prediction for a window of frames by the classifier of actions `Task`.
public struct MLActionPrediction<Task>: Sendable {
    /// The frames of the window, which may be fewer than its size at the end of a session.
    public var frameRange: Range<Int>
    /// The classes and their probabilities, the most probable first.
    public var results: [(label: String, confidence: Double)]

    init(frameRange: Range<Int>, results: [(label: String, confidence: Double)]) {
        self.frameRange = frameRange
        self.results = results
    }
}

/// The default values of the parameters of classifiers of actions.
public struct MLActionDefaults {
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
