import Foundation
import TabularData

/// The two forms of folders of labelled files.
enum FolderForm {
    /// Whether a folder holds a folder of files for each label; otherwise files whose names begin with their labels.
    ///
    /// A folder whose name has a dot is not a label, but the pictures of a video that is named like a file: `jump.1`.
    /// - Throws: `TrainingError` for a folder that is empty or cannot be read.
    static func hasLabels(_ url: URL) throws -> Bool {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: url.path).filter { !$0.hasPrefix(".") }
        } catch { throw TrainingError("\(url.path) cannot be read as a folder: \(error.localizedDescription)") }
        guard !names.isEmpty else {
            throw TrainingError("\(url.path) is empty; put the files of each label into a folder of its name")
        }
        return names.contains { name in
            var isFolder: ObjCBool = false
            let path = url.appendingPathComponent(name).path
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
                && !name.contains(".")
        }
    }
}

extension DataFrame {
    /// The table with the paths of a column completed by the folder that they are relative to.
    /// - Parameters:
    ///   - name: The column of paths.
    ///   - folder: The folder; nil for the working directory.
    /// - Returns: The table.
    /// - Throws: `TrainingError` for a column that is missing or holds no texts.
    func resolving(_ name: String, in folder: String?) throws -> DataFrame {
        guard let folder else { return self }
        let base = URL(fileURLWithPath: folder, isDirectory: true)
        let paths = try texts(name).map { $0.hasPrefix("/") ? $0 : base.appendingPathComponent($0).path }
        var result = DataFrame()
        for column in columns {
            if column.name == name {
                result.append(column: Column<String>(name: name, contents: paths))
            } else {
                result.append(column: column)
            }
        }
        return result
    }
}
