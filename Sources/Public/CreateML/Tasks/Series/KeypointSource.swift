import Foundation
import MLSeriesTraining
import TabularData

/// Where labelled key points come from, whatever the data source of a task calls it.
enum KeypointSource {
    /// Poses in a table.
    case keypoints(DataFrame, session: String, label: String, feature: String)
    /// Tables of key points in a folder for each label.
    case directories(URL)
    /// Tables of key points whose names begin with their labels.
    case files(URL)
    /// Pictures or videos that a table in a file names, in `columns`.
    case annotated(URL, columns: [String])
    /// Pictures or videos that a table names, in `columns`.
    case media(DataFrame, columns: [String])

    /// The names of the files and their labels; `nil` for key points in memory.
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

    /// - Parameter medium: what the task's files are besides, for errors.
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
    /// What key points are extracted from, for errors.
    static var medium: String { get }
}

/// A data source of such a task.
protocol KeypointDataSource {
    associatedtype Classifier: KeypointTask

    /// - Throws: why a data table is not valid.
    func source() throws -> KeypointSource
}

extension KeypointDataSource {
    func sessions() throws -> [KeypointTable.Session] {
        try source().sessions(Classifier.skeleton, Classifier.medium, Classifier.taskName)
    }
}
