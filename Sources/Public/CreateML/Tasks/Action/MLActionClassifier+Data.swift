public import Foundation
import MLSeriesTraining
public import TabularData

extension MLActionClassifier {
    /// Where labelled actions come from.  Of these, tables of key points can be read here; the others hold videos, and say
    /// what to do instead.
    public enum DataSource {
        case directoryWithVideosAndAnnotation(
            at: URL,
            annotationFile: URL,
            videoColumn: String,
            labelColumn: String,
            startTimeColumn: String? = nil,
            endTimeColumn: String? = nil
        )
        /// A folder with a folder for each label, which holds tables of key points (JSON, CSV), one a session.
        case labeledDirectories(at: URL)
        /// A folder of tables of key points (JSON, CSV), one a session: `label.1.json`.
        case labeledFiles(at: URL)
        /// The same as `labeledKeypointsDataFrame`, in a data table.
        case labeledKeypointsData(
            table: MLDataTable,
            sessionIdColumn: String = __Defaults.sessionIdColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            featureColumn: String = __Defaults.featureColumnName
        )
        /// A table whose rows hold the poses of a session: a row a frame, or several frames.
        case labeledKeypointsDataFrame(
            DataFrame,
            sessionIdColumn: String = __Defaults.sessionIdColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            featureColumn: String = __Defaults.featureColumnName
        )
        case labeledVideoData(
            table: MLDataTable,
            videoColumn: String = __Defaults.videoColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            startTimeColumn: String? = nil,
            endTimeColumn: String? = nil
        )
        case labeledVideoDataFrame(
            DataFrame,
            videoColumn: String = __Defaults.videoColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            startTimeColumn: String? = nil,
            endTimeColumn: String? = nil
        )

        /// The key points as a table: session, label and the poses of each frame.
        public func extractKeypoints(
            targetFrameRate: Double = MLHandActionClassifier.__Defaults.targetFrameRate
        ) throws -> DataFrame {
            try KeypointTable.table(sessions())
        }

        /// The names of the files and their labels; `nil` for key points in memory.
        public func gatherAnnotatedFileNames() throws -> DataFrame? { try source().annotatedFileNames() }
    }

    /// What a window of frames shows.
    public struct Prediction: Sendable {
        public var frameRange: Range<Int>
        /// The likeliest first.
        public var results: [(label: String, confidence: Double)]

        init(frameRange: Range<Int>, results: [(label: String, confidence: Double)]) {
            self.frameRange = frameRange
            self.results = results
        }
    }

    /// Changes of poses that training adds examples of, one for each window and change.
    public struct VideoAugmentationOptions: OptionSet, Codable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let horizontalFlip = VideoAugmentationOptions(rawValue: 1 << 0)
    }

    /// How to train.
    public struct ModelParameters {
        public enum ModelAlgorithmType: Hashable, Sendable {
            /// Here: MiniRocket's features of normalised poses, and a linear classifier.
            case stgcn
        }

        /// What validates.
        public enum ValidationData {
            case none
            case dataSource(MLActionClassifier.DataSource)
            /// A share of the sessions.
            case split(strategy: MLSplitStrategy)
        }

        public var algorithm: ModelAlgorithmType
        public var augmentationOptions: VideoAugmentationOptions
        public var batchSize: Int
        public var maximumIterations: Int
        /// Frames of a window.
        public var predictionWindowSize: Int
        /// Frames a second that key points are extracted at from videos; those of tables are taken as they are.
        public var targetFrameRate: Double
        public var validation: ValidationData

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
        case .directoryWithVideosAndAnnotation(_, let file, let video, let label, let start, let end):
            .annotated(file, columns: [video, label] + [start, end].compactMap { $0 })
        case .labeledVideoDataFrame(let frame, let video, let label, let start, let end):
            .media(frame, columns: [video, label] + [start, end].compactMap { $0 })
        case .labeledVideoData(let table, let video, let label, let start, let end):
            .media(try table.dataFrame(), columns: [video, label] + [start, end].compactMap { $0 })
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
    public var description: String {
        """
        Batch size: \(batchSize)
        Maximum iterations: \(maximumIterations)
        Prediction window size: \(predictionWindowSize)
        Target frame rate: \(targetFrameRate)
        """
    }

    public var debugDescription: String { description }
}
