import ArgumentParser
import CreateML
import Foundation
import TabularData

/// The options for the columns of a table of files and labels, or of key points.
struct PoseColumnOptions: ParsableArguments {
    @Option(help: "The column of the files in a table.")
    var file = "file"
    @Option(help: "The column of the labels in a table.")
    var label = "label"
    @OptionGroup var cells: DelimiterOption
}

/// The data of a classifier of poses or actions on the command line.
enum PoseData {
    /// A folder with a folder for each label.
    case directories(URL)
    /// A folder of files whose names begin with their labels.
    case files(URL)
    /// Paths and labels in the columns `file` and `label`.
    case table(DataFrame)
    /// Key points in the columns `session_id`, `label` and `keypoints`.
    case keypoints(DataFrame)

    /// Determines the kind of file at a path.
    ///
    /// - Parameters:
    ///   - path: A folder, or a table.
    ///   - columns: The columns of a table.
    ///   - readsVideos: Whether files are videos, and folders of frames stand for them.
    /// - Throws: `Failure` when the folder or table cannot be read, is empty, or lacks a column.
    init(_ path: String, _ columns: PoseColumnOptions, readsVideos: Bool) throws {
        if TableFile.isFolderOfFiles(path) {
            let url = URL(fileURLWithPath: path)
            // A folder is a label, but for folders of frames that are named like files: jump.1.
            let hasLabels = try TableFile.contents(ofFolder: path).contains { entry in
                let isNamed = URL(fileURLWithPath: entry).lastPathComponent.contains(".")
                return try TableFile.isFolder(entry)
                    && !(readsVideos && isNamed && FileList.Kind.actions.isVideo(entry))
            }
            self = hasLabels ? .directories(url) : .files(url)
            return
        }
        let types = [columns.file: CSVType.string, columns.label: .string]
        let frame = try TableFile.read(path, delimiter: columns.cells.delimiter, types: types, missing: [""])
        if frame.containsColumn("keypoints") {
            self = .keypoints(frame)
            return
        }
        for (name, option) in [(columns.file, "--file"), (columns.label, "--label")] {
            try TableFile.require(name, in: frame, path, option: option)
        }
        // Paths are relative to the table.
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        var (paths, labels): ([String], [String]) = ([], [])
        for (row, (file, label)) in zip(frame[columns.file], frame[columns.label]).enumerated() {
            guard let file, let label else {
                throw Failure("\(path): row \(row + 2) has no file or no label; complete or remove the row")
            }
            paths.append(URL(fileURLWithPath: "\(file)", relativeTo: folder).path)
            labels.append("\(label)")
        }
        guard !paths.isEmpty else { throw Failure("\(path) has no rows") }
        self = .table(
            DataFrame(columns: [
                Column<String>(name: "file", contents: paths).eraseToAnyColumn(),
                Column<String>(name: "label", contents: labels).eraseToAnyColumn(),
            ])
        )
    }

    /// Key points with the source that they were read from.
    struct Extracted {
        /// The columns `session_id`, `label` and `keypoints`.
        var frame: DataFrame
        var files: Int
        var leftOut: Int

        /// The facts of a report.
        var facts: [(name: String, value: String)] {
            [("files", "\(files)"), ("left out", "\(leftOut) files in which nothing was found")]
        }
    }

    /// Extracts the key points, and notes on standard error in which files nothing was found.
    ///
    /// - Parameters:
    ///   - subject: The subject of the pictures: "hand" or "body".
    ///   - extract: Gives the key points and the files of a data source; `nil` for key points.
    /// - Returns: The key points, and the source that they were found in.
    /// - Throws: The errors of `extract`.
    static func extracted(
        _ subject: String,
        _ extract: () throws -> (keypoints: DataFrame, files: DataFrame?)
    ) throws -> Extracted {
        let (frame, files) = try extract()
        let sessions = Set(frame["session_id"].compactMap { $0.map { "\($0)" } })
        guard let files else { return Extracted(frame: frame, files: sessions.count, leftOut: 0) }
        let isTable = files.containsColumn("file")
        let names = zip(files[isTable ? "file" : "filePath"], files["label"]).map { file, label -> String in
            let path = file.map { "\($0)" } ?? ""
            return isTable ? path : (label.map { "\($0)" } ?? "") + "/" + URL(fileURLWithPath: path).lastPathComponent
        }
        let missing = names.filter { !sessions.contains($0) }
        if !missing.isEmpty {
            let some = missing.prefix(5).joined(separator: ", ") + (missing.count > 5 ? ", …" : "")
            let note =
                "no \(subject) was found in \(missing.count) of \(names.count) files, which are left out: \(some)\n"
            FileHandle.standardError.write(Data(note.utf8))
        }
        return Extracted(frame: frame, files: names.count, leftOut: missing.count)
    }
}
