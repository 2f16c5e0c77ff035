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
        case .annotated(let file, let columns): try DataFrame.seriesTable(at: file).selecting(columnNames: columns)
        case .media(let frame, let columns): frame.selecting(columnNames: columns)
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

    /// - Parameters:
    ///   - column: of the key points in files.
    ///   - medium: what the task's files are besides, for errors.
    func sessions(
        _ skeleton: Skeleton,
        column: String,
        _ medium: String,
        _ task: String
    ) throws -> [KeypointTable.Session] {
        switch self {
        case .keypoints(let frame, let session, let label, let feature):
            try KeypointTable.sessions(frame, skeleton, session: session, label: label, feature: feature)
        case .directories, .files: try KeypointTable.sessions(labeledMedia(), skeleton, column, task)
        case .annotated, .media: throw KeypointTable.needsKeypoints(medium, task)
        }
    }
}
