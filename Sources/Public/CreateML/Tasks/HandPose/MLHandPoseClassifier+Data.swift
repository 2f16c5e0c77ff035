public import Foundation
import MLSeriesTraining
public import TabularData

extension MLHandPoseClassifier {
    /// Labelled poses for training and evaluation.
    ///
    /// Hands in images are found by the installed extractor `mediapipe-hands`, the most certain one of each. Images in
    /// which no hand is found are left out; an error names them if there are no others.
    public enum DataSource {
        /// A folder of images and a table that labels them (JSON, CSV); paths are relative to the folder.
        case directoryWithImagesAndAnnotation(at: URL, annotationFile: URL, imageColumn: String, labelColumn: String)
        /// A folder with a folder for each label, which holds images, or tables of key points (JSON, CSV).
        case labeledDirectories(at: URL)
        /// A folder of images or tables of key points (JSON, CSV), named like `label.1.jpg`.
        case labeledFiles(at: URL)
        /// A table of images' paths and labels.
        case labeledImageData(
            table: MLDataTable,
            imageColumn: String = __Defaults.imageColumnName,
            labelColumn: String = __Defaults.labelColumnName
        )
        /// A data frame of images' paths and labels.
        case labeledImageDataFrame(
            DataFrame,
            imageColumn: String = __Defaults.imageColumnName,
            labelColumn: String = __Defaults.labelColumnName
        )
        /// A table of key points; the same as `labeledKeypointsDataFrame` for an `MLDataTable`.
        case labeledKeypointsData(
            table: MLDataTable,
            sessionIdColumn: String = __Defaults.sessionIdColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            featureColumn: String = __Defaults.featureColumnName
        )
        /// A data frame of key points with a session and a label in every row.
        ///
        /// A row holds one or more poses, 3 × 21 numbers each: all x, all y, all confidences.  The rows of a session
        /// have the same label; a split for validation keeps them together.
        case labeledKeypointsDataFrame(
            DataFrame,
            sessionIdColumn: String = __Defaults.sessionIdColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            featureColumn: String = __Defaults.featureColumnName
        )

        /// Returns the key points as a data frame with the columns `session_id`, `label` and `keypoints`, a row for
        /// each pose.
        /// - Returns: The poses of all sessions.
        /// - Throws: `MLCreateError` for data that cannot be used, and, with the command that installs it, if the extractor
        ///   of hands is needed and missing.
        public func extractKeypoints() throws -> DataFrame { try KeypointTable.table(sessions()) }

        /// Returns the paths of the files and their labels; `nil` for key points in memory.
        public func gatherAnnotatedFileNames() throws -> DataFrame? { try annotatedFileNamesTable() }

        /// Returns the files of each label; throws an error for anything but labelled folders and files.
        public func labeledMedia() throws -> [String: [URL]] { try filesByLabel() }
    }

    /// Augmentations, each of which adds a changed copy of every training pose.
    public struct ImageAugmentationOptions: OptionSet, Codable, Sendable {
        /// The bits of the options.
        public let rawValue: Int

        /// Creates options of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Mirrors poses horizontally.
        public static let horizontallyFlip = ImageAugmentationOptions(rawValue: 1 << 0)
        /// Rotates poses by up to 20 degrees either way.
        public static let rotate = ImageAugmentationOptions(rawValue: 1 << 1)
        /// Scales poses by a factor from 0.8 to 1.2.
        public static let scale = ImageAugmentationOptions(rawValue: 1 << 2)
        /// Moves poses by up to 0.1 of the picture in each direction.
        public static let translate = ImageAugmentationOptions(rawValue: 1 << 3)
    }

    /// The parameters of training.
    public struct ModelParameters {
        /// The algorithm.
        public enum ModelAlgorithmType: Hashable, Sendable {
            /// A graph convolutional network over the joints.
            case gcn
        }

        /// The choice of validation data.
        public enum ValidationData {
            /// No validation.
            case none
            /// Other labelled poses.
            case dataSource(MLHandPoseClassifier.DataSource)
            /// A part of the training sessions.
            case split(strategy: MLSplitStrategy)
        }

        /// The algorithm; `.gcn` is the only one.
        public var algorithm: ModelAlgorithmType
        /// The augmentations of training poses; none by default.
        public var augmentationOptions: ImageAugmentationOptions
        /// The number of poses in an optimisation step, at least 1; 32 by default.
        public var batchSize: Int
        /// The maximum number of iterations, at least 1; 80 by default.
        ///
        /// An iteration is as many passes over the data as 50 steps need, at least one.
        public var maximumIterations: Int
        /// The validation data; the automatic split of the training sessions by default.
        public var validation: ValidationData

        /// Creates training parameters; see the properties of the same names.
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
        case .directoryWithImagesAndAnnotation(let folder, let file, let image, let label):
            .annotated(folder: folder, file: file, .init(file: image, label: label))
        case .labeledImageDataFrame(let frame, let image, let label):
            .media(frame, .init(file: image, label: label))
        case .labeledImageData(let table, let image, let label):
            .media(try table.dataFrame(), .init(file: image, label: label))
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
    /// The parameters, one a line.
    public var description: String {
        """
        Batch size: \(batchSize)
        Maximum iterations: \(maximumIterations)
        """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
