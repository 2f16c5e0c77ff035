import Foundation
import MLSeriesTraining
import TabularData

/// A data source of labelled key points, independent of the task.
enum KeypointSource {
    /// Poses in a table.
    case keypoints(DataFrame, session: String, label: String, feature: String)
    /// Tables of key points in a folder for each label.
    case directories(URL)
    /// Tables of key points whose names begin with their labels.
    case files(URL)
    /// Pictures or videos that a table in a file lists, in `columns`.
    case annotated(URL, columns: [String])
    /// Pictures or videos that a table lists, in `columns`.
    case media(DataFrame, columns: [String])

    /// The paths of the files and their labels; `nil` for key points in memory.
    func annotatedFileNames() throws -> DataFrame? {
        switch self {
        case .directories(let url): KeypointTable.table(try LabeledFolders.directories(at: url))
        case .files(let url): KeypointTable.table(try LabeledFolders.files(at: url))
        case .annotated(let file, let columns): try DataFrame.seriesTable(at: file).seriesColumns(columns)
        case .media(let frame, let columns): try frame.seriesColumns(columns)
        case .keypoints: nil
        }
    }

    /// The files of each label.
    func labeledMedia() throws -> [String: [URL]] {
        switch self {
        case .directories(let url): try LabeledFolders.directories(at: url)
        case .files(let url): try LabeledFolders.files(at: url)
        default:
            throw MLCreateError.generic(reason: "only labelled directories and labelled files are files by label")
        }
    }

    /// Reads the sessions of key points.
    /// - Parameters:
    ///   - skeleton: The joints of a pose.
    ///   - medium: The kind of file that the task cannot read, for errors.
    ///   - task: The name of the task, for errors.
    /// - Returns: The sessions with their labels.
    /// - Throws: `MLCreateError` for pictures and videos, and for data that cannot be used.
    func sessions(_ skeleton: Skeleton, _ medium: String, _ task: String) throws -> [KeypointTable.Session] {
        switch self {
        case .keypoints(let frame, let session, let label, let feature):
            try KeypointTable.sessions(frame, skeleton, session: session, label: label, feature: feature)
        case .directories, .files: try KeypointTable.sessions(labeledMedia(), skeleton, task)
        case .annotated, .media: throw KeypointTable.needsKeypoints(medium, task)
        }
    }
}

/// A classifier of key points.
protocol KeypointTask: SeriesTask {
    static var skeleton: Skeleton { get }
    /// The kind of file that key points are extracted from, for errors.
    static var medium: String { get }
}

/// The data source of a classifier of key points.
protocol KeypointDataSource {
    associatedtype Classifier: KeypointTask

    /// The source independent of the task.
    /// - Throws: The error of a data table if it is invalid.
    func source() throws -> KeypointSource
}

extension KeypointDataSource {
    func sessions() throws -> [KeypointTable.Session] {
        try source().sessions(Classifier.skeleton, Classifier.medium, Classifier.taskName)
    }
}
