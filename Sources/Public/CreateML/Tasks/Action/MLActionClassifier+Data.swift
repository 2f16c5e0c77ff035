public import Foundation
import MLSeriesTraining
public import TabularData

extension MLActionClassifier {
    /// Labelled actions for training and evaluation.
    ///
    /// Joints in videos are found by the installed extractor `mediapipe-body`; one person is followed through each video. Videos
    /// are read by the program `ffmpeg`; a folder of pictures, one for each frame in the order of their names, stands for
    /// a video, too. Videos in which nothing is found are left out; an error names them if there are no others.
    public enum DataSource {
        /// A folder of videos and a table that labels them (JSON, CSV), with optional start and end times in seconds;
        /// paths are relative to the folder.
        case directoryWithVideosAndAnnotation(
            at: URL,
            annotationFile: URL,
            videoColumn: String,
            labelColumn: String,
            startTimeColumn: String? = nil,
            endTimeColumn: String? = nil
        )
        /// A folder with a folder for each label, which holds videos, folders of frames, or tables of key points (JSON,
        /// CSV), one for each session.
        case labeledDirectories(at: URL)
        /// A folder of videos, folders of frames, or tables of key points (JSON, CSV), one for each session, named like
        /// `label.1.mp4`.
        case labeledFiles(at: URL)
        /// A table of key points; the same as `labeledKeypointsDataFrame` for an `MLDataTable`.
        case labeledKeypointsData(
            table: MLDataTable,
            sessionIdColumn: String = __Defaults.sessionIdColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            featureColumn: String = __Defaults.featureColumnName
        )
        /// A data frame of key points with a session and a label in every row.
        ///
        /// A row holds the poses of one or more frames, 3 × 18 numbers each: all x, all y, all confidences.  The rows
        /// of a session are in the order of time and have the same label.
        case labeledKeypointsDataFrame(
            DataFrame,
            sessionIdColumn: String = __Defaults.sessionIdColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            featureColumn: String = __Defaults.featureColumnName
        )
        /// A table of videos' paths and labels, with optional start and end times in seconds.
        case labeledVideoData(
            table: MLDataTable,
            videoColumn: String = __Defaults.videoColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            startTimeColumn: String? = nil,
            endTimeColumn: String? = nil
        )
        /// A data frame of videos' paths and labels, with optional start and end times in seconds.
        case labeledVideoDataFrame(
            DataFrame,
            videoColumn: String = __Defaults.videoColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            startTimeColumn: String? = nil,
            endTimeColumn: String? = nil
        )

        /// Returns the key points as a data frame with the columns `session_id`, `label` and `keypoints`, a row for
        /// each frame.
        /// - Parameter targetFrameRate: The frames of a video that are looked at for each second.
        /// - Returns: The poses of all sessions.
        /// - Throws: `MLCreateError` for data that cannot be used, and, with what installs it, for what is needed and missing.
        public func extractKeypoints(
            targetFrameRate: Double = MLHandActionClassifier.__Defaults.targetFrameRate
        ) throws -> DataFrame {
            try KeypointTable.table(sessions(frameRate: targetFrameRate))
        }

        /// Returns the paths of the files and their labels; `nil` for key points in memory.
        public func gatherAnnotatedFileNames() throws -> DataFrame? { try annotatedFileNamesTable() }
    }

    /// The prediction for a window of frames.
    public struct Prediction: Sendable {
        /// The frames of the window, which may be fewer than its size at the end of a session.
        public var frameRange: Range<Int>
        /// The classes and their probabilities, the most probable first.
        public var results: [(label: String, confidence: Double)]

        init(frameRange: Range<Int>, results: [(label: String, confidence: Double)]) {
            self.frameRange = frameRange
            self.results = results
        }
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

    /// The parameters of training.
    public struct ModelParameters {
        /// The algorithm.
        public enum ModelAlgorithmType: Hashable, Sendable {
            /// MiniRocket features of normalised poses with a linear classifier, in place of Apple's graph network.
            case stgcn
        }

        /// The choice of validation data.
        public enum ValidationData {
            /// No validation.
            case none
            /// Other labelled sessions.
            case dataSource(MLActionClassifier.DataSource)
            /// A part of the training sessions.
            case split(strategy: MLSplitStrategy)
        }

        /// The algorithm; `.stgcn` is the only one.
        public var algorithm: ModelAlgorithmType
        /// The augmentations of training windows; horizontal flips by default.
        public var augmentationOptions: VideoAugmentationOptions
        /// The number of windows in an optimisation step, at least 1; 32 by default.
        public var batchSize: Int
        /// The maximum number of iterations, at least 1; 80 by default.
        ///
        /// An iteration is as many passes over the data as 50 steps need, at least one.
        public var maximumIterations: Int
        /// The number of frames in a window, at least 9; 60 by default.
        public var predictionWindowSize: Int
        /// The frame rate, in frames per second, at which videos are sampled; 30 by default.
        ///
        /// Key points in tables and folders of frames are taken as they are.
        public var targetFrameRate: Double
        /// The validation data; the automatic split of the training sessions by default.
        public var validation: ValidationData

        /// Creates training parameters; see the properties of the same names.
        public init(
            validation: ValidationData = .split(strategy: .automatic),
            batchSize: Int = MLActionClassifier.__Defaults.batchSize,
            maximumIterations: Int = MLActionClassifier.__Defaults.maximumIterations,
            predictionWindowSize: Int = MLActionClassifier.__Defaults.predictionWindowSize,
            augmentationOptions: VideoAugmentationOptions = [.horizontalFlip],
            algorithm: ModelAlgorithmType = .stgcn,
            targetFrameRate: Double = MLActionClassifier.__Defaults.targetFrameRate
        ) {
            self.validation = validation
            self.batchSize = batchSize
            self.maximumIterations = maximumIterations
            self.predictionWindowSize = predictionWindowSize
            self.augmentationOptions = augmentationOptions
            self.algorithm = algorithm
            self.targetFrameRate = targetFrameRate
        }
    }
}

extension MLActionClassifier.DataSource: KeypointDataSource {
    typealias Classifier = MLActionClassifier

    func source() throws -> KeypointSource {
        switch self {
        case .labeledKeypointsDataFrame(let frame, let session, let label, let feature):
            .keypoints(frame, session: session, label: label, feature: feature)
        case .labeledKeypointsData(let table, let session, let label, let feature):
            .keypoints(try table.dataFrame(), session: session, label: label, feature: feature)
        case .labeledDirectories(let url): .directories(url)
        case .labeledFiles(let url): .files(url)
        case .directoryWithVideosAndAnnotation(let folder, let file, let video, let label, let start, let end):
            .annotated(folder: folder, file: file, .init(file: video, label: label, start: start, end: end))
        case .labeledVideoDataFrame(let frame, let video, let label, let start, let end):
            .media(frame, .init(file: video, label: label, start: start, end: end))
        case .labeledVideoData(let table, let video, let label, let start, let end):
            .media(try table.dataFrame(), .init(file: video, label: label, start: start, end: end))
        }
    }
}

extension MLActionClassifier.VideoAugmentationOptions: KeypointAugmentations {
    var augmentations: [PoseAugmentation] {
        var result: [PoseAugmentation] = []
        if contains(.horizontalFlip) { result.append(.flip) }
        return result
    }
}

extension MLActionClassifier.ModelParameters: ActionParameters {
    var validating: KeypointValidation<MLActionClassifier.DataSource> {
        switch validation {
        case .none: .none
        case .dataSource(let other): .source(other)
        case .split(let strategy): .split(strategy)
        }
    }
}

extension MLActionClassifier.ModelParameters: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters, one a line.
    public var description: String {
        """
        Batch size: \(batchSize)
        Maximum iterations: \(maximumIterations)
        Prediction window size: \(predictionWindowSize)
        Target frame rate: \(targetFrameRate)
        """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
