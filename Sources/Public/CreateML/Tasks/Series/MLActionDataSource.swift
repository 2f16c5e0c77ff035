public import Foundation
public import TabularData

/// Labelled actions for training and evaluation of the classifier of actions `Task`.
///
/// Joints in videos are found by the installed extractor `mediapipe-body` or `mediapipe-hands`; one person or one hand is
/// followed through each video. Videos are read by the program `ffmpeg`; a folder of pictures, one for each frame in the
/// order of their names, stands for a video, too. Videos in which nothing is found are left out; an error names them if
/// there are no others.
public enum MLActionDataSource<Task: MLActionTask> {
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
        sessionIdColumn: String = MLActionDefaults.sessionIdColumnName,
        labelColumn: String = MLActionDefaults.labelColumnName,
        featureColumn: String = MLActionDefaults.featureColumnName
    )
    /// A data frame of key points with a session and a label in every row.
    ///
    /// A row holds the poses of one or more frames, three numbers for each joint: all x, all y, all confidences. A body has
    /// 18 joints, a hand 21. The rows of a session are in the order of time and have the same label.
    case labeledKeypointsDataFrame(
        DataFrame,
        sessionIdColumn: String = MLActionDefaults.sessionIdColumnName,
        labelColumn: String = MLActionDefaults.labelColumnName,
        featureColumn: String = MLActionDefaults.featureColumnName
    )
    /// A table of videos' paths and labels, with optional start and end times in seconds.
    case labeledVideoData(
        table: MLDataTable,
        videoColumn: String = MLActionDefaults.videoColumnName,
        labelColumn: String = MLActionDefaults.labelColumnName,
        startTimeColumn: String? = nil,
        endTimeColumn: String? = nil
    )
    /// A data frame of videos' paths and labels, with optional start and end times in seconds.
    case labeledVideoDataFrame(
        DataFrame,
        videoColumn: String = MLActionDefaults.videoColumnName,
        labelColumn: String = MLActionDefaults.labelColumnName,
        startTimeColumn: String? = nil,
        endTimeColumn: String? = nil
    )
}

extension MLActionDataSource: MLKeypointDataSource {
    /// Returns the key points as a data frame with the columns `session_id`, `label` and `keypoints`, a row for
    /// each frame.
    /// - Parameter targetFrameRate: The frames of a video that are looked at for each second.
    /// - Returns: The poses of all sessions.
    /// - Throws: `MLCreateError` for data that cannot be used, and, with what installs it, for what is needed and missing.
    public func extractKeypoints(
        targetFrameRate: Double = MLActionDefaults.targetFrameRate
    ) throws -> DataFrame {
        try KeypointTable.table(sessions(frameRate: targetFrameRate).sessions)
    }

    /// Returns the paths of the files and their labels; `nil` for key points in memory.
    public func gatherAnnotatedFileNames() throws -> DataFrame? { try annotatedFileNamesTable() }

    /// Returns the key points as a table with the columns `session_id`, `label` and `keypoints`, a row for each frame.
    /// - Parameter targetFrameRate: Without effect, as only videos are sampled.
    /// - Returns: The poses of all sessions.
    /// - Throws: `MLCreateError` for data that cannot be used.
    public func keypointsWithAnnotations(
        targetFrameRate: Double = MLActionDefaults.targetFrameRate
    ) throws -> MLDataTable {
        try MLDataTable(converting: extractKeypoints(targetFrameRate: targetFrameRate))
    }

    /// Returns the paths of the files and their labels.
    /// - Returns: A row for each file.
    /// - Throws: `MLCreateError.generic` for key points in memory, which belong to no files.
    public func videosWithAnnotations() throws -> MLDataTable { try annotatedFiles() }

    /// Returns a table with a column `partition` that divides the sessions of each label by proportions.
    ///
    /// The rows of a session stay together. The column holds 0 for the first proportion, 1 for the second, and so on.
    /// Key points in memory keep their columns; those of files have the columns of `keypointsWithAnnotations` with the
    /// labels renamed; videos are divided by name.
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

extension MLActionDataSource where Task == MLHandActionClassifier {
    /// Returns the files of each label; throws an error for anything but labelled folders and files.
    public func labeledMedia() throws -> [String: [URL]] { try filesByLabel() }
}

extension MLActionDataSource: KeypointDataSource {
    static var jointCount: Int { Task.jointCount }
    static var readsVideos: Bool { true }

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
