import CreateML
import Foundation
import TabularData

/// Labelled files of sounds or pictures on the command line.
struct LabelledFiles {
    /// The name of the table's file column.
    var fileColumn: String
    var labelColumn: String
    var delimiter: String?
    /// The kind of the files, for errors: "sounds" or "pictures".
    var kind: String

    /// The files by label.
    ///
    /// - Parameter path: A folder with a folder of files for each label, a folder of files whose names begin with
    ///   their labels (`dog.1.wav`), or a table of files and labels, as a file or an SFrame.
    /// - Returns: The paths of the files of each label.
    /// - Throws: `Failure` when the folder or table cannot be read, is empty, or lacks a label.
    func files(_ path: String) throws -> [String: [URL]] {
        if TableFile.isFolderOfFiles(path) {
            let url = URL(fileURLWithPath: path)
            let contents = try TableFile.contents(ofFolder: path)
            guard !contents.isEmpty else {
                throw Failure("'\(path)' is empty; put the \(kind) of each label into a folder of its name")
            }
            let hasFolders = contents.contains(where: TableFile.isFolder)
            return try (hasFolders ? MLSoundClassifier.DataSource.labeledDirectories(at: url) : .labeledFiles(at: url))
                .labeledSounds()
        }
        let types = [fileColumn: CSVType.string, labelColumn: .string]
        let frame = try TableFile.read(path, delimiter: delimiter, types: types, missing: [""])
        for (name, option) in [(fileColumn, "--file"), (labelColumn, "--label")] {
            try TableFile.require(name, in: frame, path, option: option)
        }
        guard frame.shape.rows > 0 else { throw Failure("\(path) has no rows") }
        // Paths are relative to the table.
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        var result: [String: [URL]] = [:]
        for (row, (file, label)) in zip(frame[fileColumn], frame[labelColumn]).enumerated() {
            guard let file, let label else {
                throw Failure("\(path): row \(row + 2) has no file or no label; complete or remove the row")
            }
            result["\(label)", default: []].append(URL(fileURLWithPath: "\(file)", relativeTo: folder))
        }
        return result
    }
}
