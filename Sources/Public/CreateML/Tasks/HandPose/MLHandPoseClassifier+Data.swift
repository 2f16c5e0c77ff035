public import Foundation
import MLSeriesTraining
public import TabularData

extension MLHandPoseClassifier {
    /// Labelled poses for training and evaluation.
    ///
    /// Hands in images are found by the installed extractor `mediapipe-hands`, the most certain one of each. Images in
    /// which no hand is found are left out, and `skippedImages` lists them; an error names them if there are no others.
    public enum DataSource: MLKeypointDataSource {
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
        /// A row holds one or more poses, 3 × 21 numbers each: all x, all y, all confidences. The rows of a session
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
        public func extractKeypoints() throws -> DataFrame { try KeypointTable.table(sessions().sessions) }

        /// Returns the paths of the files and their labels; `nil` for key points in memory.
        public func gatherAnnotatedFileNames() throws -> DataFrame? { try annotatedFileNamesTable() }

        /// Returns the files of each label; throws an error for anything but labelled folders and files.
        public func labeledMedia() throws -> [String: [URL]] { try filesByLabel() }

        /// Returns the key points as a table with the columns `session_id`, `label` and `keypoints`, a row for each pose.
        /// - Returns: The poses of all sessions.
        /// - Throws: `MLCreateError` for data that cannot be used.
        public func keypointsWithAnnotations() throws -> MLDataTable {
            try MLDataTable(converting: extractKeypoints())
        }

        /// Returns the paths of the files and their labels.
        /// - Returns: A row for each file.
        /// - Throws: `MLCreateError.generic` for key points in memory, which belong to no files.
        public func imagesWithAnnotations() throws -> MLDataTable { try annotatedFiles() }

        /// Returns a table with a column `partition` that divides the sessions of each label by proportions.
        ///
        /// The rows of a session stay together. The column holds 0 for the first proportion, 1 for the second, and so on.
        /// Key points in memory keep their columns; those of files have the columns of `keypointsWithAnnotations` with the
        /// labels renamed; images are divided by name.
        /// - Parameters:
        ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
        ///   - seed: The seed of the assignment; taken from the clock by default.
        ///   - labelColumn: The name of the column of labels.
        /// - Returns: The table.
        /// - Throws: `MLCreateError` for a column that is missing and for proportions out of range.
        public func stratifiedSplit(
            proportions: [Double],
            seed: Int = timestampSeed(),
            labelColumn: String
        ) throws -> MLDataTable {
            try split(proportions, seed, labelColumn)
        }
    }

    /// An image that training left out; an addition to Apple's API.
    public struct SkippedImage: Hashable, Sendable {
        /// The file.
        public var url: URL
        /// The label that it has in the data.
        public var label: String
        /// The reason, as that no hand was found.
        public var reason: String
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
}

extension MLHandPoseClassifier.DataSource: KeypointDataSource {
    static var jointCount: Int { MLHandPoseClassifier.jointCount }
    static var readsVideos: Bool { false }

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
    static var changes: [(option: Self, change: PoseAugmentation)] {
        [(.horizontallyFlip, .flip), (.rotate, .rotate), (.scale, .scale), (.translate, .translate)]
    }
}
