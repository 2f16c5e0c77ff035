public import Foundation
import MLSeriesTraining
public import TabularData

extension MLHandPoseClassifier {
    /// Where labelled poses come from.  Of these, tables of key points can be read here; the others hold pictures, and say
    /// what to do instead.
    public enum DataSource {
        case directoryWithImagesAndAnnotation(at: URL, annotationFile: URL, imageColumn: String, labelColumn: String)
        /// A folder with a folder for each label, which holds tables of key points (JSON, CSV).
        case labeledDirectories(at: URL)
        /// A folder of tables of key points (JSON, CSV): `label.1.json`.
        case labeledFiles(at: URL)
        case labeledImageData(
            table: MLDataTable,
            imageColumn: String = __Defaults.imageColumnName,
            labelColumn: String = __Defaults.labelColumnName
        )
        case labeledImageDataFrame(
            DataFrame,
            imageColumn: String = __Defaults.imageColumnName,
            labelColumn: String = __Defaults.labelColumnName
        )
        /// The same as `labeledKeypointsDataFrame`, in a data table.
        case labeledKeypointsData(
            table: MLDataTable,
            sessionIdColumn: String = __Defaults.sessionIdColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            featureColumn: String = __Defaults.featureColumnName
        )
        /// A table whose rows hold poses.
        case labeledKeypointsDataFrame(
            DataFrame,
            sessionIdColumn: String = __Defaults.sessionIdColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            featureColumn: String = __Defaults.featureColumnName
        )

        /// The key points as a table: session, label and the pose.
        public func extractKeypoints() throws -> DataFrame { try KeypointTable.table(sessions()) }

        /// The names of the files and their labels; `nil` for key points in memory.
        public func gatherAnnotatedFileNames() throws -> DataFrame? { try source().annotatedFileNames() }

        /// The files of each label.
        public func labeledMedia() throws -> [String: [URL]] { try source().labeledMedia() }
    }

    /// Changes of poses that training adds examples of, one for each pose and change.
    public struct ImageAugmentationOptions: OptionSet, Codable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let horizontallyFlip = ImageAugmentationOptions(rawValue: 1 << 0)
        public static let rotate = ImageAugmentationOptions(rawValue: 1 << 1)
        public static let scale = ImageAugmentationOptions(rawValue: 1 << 2)
        public static let translate = ImageAugmentationOptions(rawValue: 1 << 3)
    }

    /// How to train.
    public struct ModelParameters {
        public enum ModelAlgorithmType: Hashable, Sendable {
            /// A graph network over the joints.
            case gcn
        }

        /// What validates.
        public enum ValidationData {
            case none
            case dataSource(MLHandPoseClassifier.DataSource)
            /// A share of the sessions.
            case split(strategy: MLSplitStrategy)
        }

        public var algorithm: ModelAlgorithmType
        public var augmentationOptions: ImageAugmentationOptions
        public var batchSize: Int
        public var maximumIterations: Int
        public var validation: ValidationData

        public init(
            validation: ValidationData = .split(strategy: .automatic),
            batchSize: Int = MLHandPoseClassifier.__Defaults.batchSize,
            maximumIterations: Int = MLHandPoseClassifier.__Defaults.maximumIterations,
            augmentationOptions: ImageAugmentationOptions = [],
            algorithm: ModelAlgorithmType = .gcn
        ) {
            self.validation = validation
            self.batchSize = batchSize
            self.maximumIterations = maximumIterations
            self.augmentationOptions = augmentationOptions
            self.algorithm = algorithm
        }
    }
}

extension MLHandPoseClassifier.DataSource: KeypointDataSource {
    typealias Classifier = MLHandPoseClassifier

    func source() throws -> KeypointSource {
        switch self {
        case .labeledKeypointsDataFrame(let frame, let session, let label, let feature):
            .keypoints(frame, session: session, label: label, feature: feature)
        case .labeledKeypointsData(let table, let session, let label, let feature):
            .keypoints(try table.dataFrame(), session: session, label: label, feature: feature)
        case .labeledDirectories(let url): .directories(url)
        case .labeledFiles(let url): .files(url)
        case .directoryWithImagesAndAnnotation(_, let file, let image, let label):
            .annotated(file, columns: [image, label])
        case .labeledImageDataFrame(let frame, let image, let label): .media(frame, columns: [image, label])
        case .labeledImageData(let table, let image, let label):
            .media(try table.dataFrame(), columns: [image, label])
        }
    }
}

extension MLHandPoseClassifier.ImageAugmentationOptions: KeypointAugmentations {
    var augmentations: [PoseAugmentation] {
        var result: [PoseAugmentation] = []
        if contains(.horizontallyFlip) { result.append(.flip) }
        if contains(.rotate) { result.append(.rotate) }
        if contains(.scale) { result.append(.scale) }
        if contains(.translate) { result.append(.translate) }
        return result
    }
}

extension MLHandPoseClassifier.ModelParameters: KeypointParameters {
    var frames: Int? { nil }
    var frameRate: Double? { nil }

    var validating: KeypointValidation<MLHandPoseClassifier.DataSource> {
        switch validation {
        case .none: .none
        case .dataSource(let other): .source(other)
        case .split(let strategy): .split(strategy)
        }
    }
}

extension MLHandPoseClassifier.ModelParameters: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        """
        Batch size: \(batchSize)
        Maximum iterations: \(maximumIterations)
        """
    }

    public var debugDescription: String { description }
}
