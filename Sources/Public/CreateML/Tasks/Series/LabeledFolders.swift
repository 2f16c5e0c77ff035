import Foundation

/// Files by label, which are named by folders or file names.
///
/// Symbolic links count as the folders and files that they point to.
enum LabeledFolders {
    /// The files in each folder of `url`, whose name is their label.
    ///
    /// Hidden files are left out, and nested folders are not read; with `includingFolders` they count as files, such as
    /// the pictures of a video.
    /// - Throws: `MLCreateError.io` if there is no such folder or it holds no folders with files.
    static func directories(at url: URL, includingFolders: Bool = false) throws -> [String: [URL]] {
        var result: [String: [URL]] = [:]
        for folder in try contents(of: url) where isFolder(folder) {
            let files = try contents(of: folder).filter { includingFolders || !isFolder($0) }
            if !files.isEmpty { result[folder.lastPathComponent] = files }
        }
        guard !result.isEmpty else {
            throw MLCreateError.io(
                reason: "\(url.path) holds no folders with files; put the files of each label into a folder of its name"
            )
        }
        return result
    }

    /// The files of `url`; the part of a name before the first dot is its label, as in `dog.1.wav`.
    ///
    /// With `includingFolders` folders count as files.
    static func files(at url: URL, includingFolders: Bool = false) throws -> [String: [URL]] {
        var result: [String: [URL]] = [:]
        for file in try contents(of: url) where includingFolders || !isFolder(file) {
            let label = String(file.lastPathComponent.prefix { $0 != "." })
            result[label, default: []].append(file)
        }
        guard !result.isEmpty else {
            throw MLCreateError.io(reason: "\(url.path) holds no files; name them label.1.wav, label.2.wav, …")
        }
        return result
    }

    /// The contents of a folder or of a link to one, sorted by name, without hidden files.
    static func contents(of url: URL) throws -> [URL] {
        do {
            // Listed by path, as Foundation lists nothing for the URL of a link to a folder.
            let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
            return names.filter { !$0.hasPrefix(".") }.sorted().map { url.appendingPathComponent($0) }
        } catch {
            throw MLCreateError.io(reason: "\(url.path) cannot be read as a folder: \(error.localizedDescription)")
        }
    }

    /// The path of a file that a table or a list names.
    /// - Parameters:
    ///   - name: The absolute path, or the path relative to the folder.
    ///   - folder: The folder; the working directory if `nil`.
    /// - Returns: The path.
    static func path(_ name: String, in folder: URL?) -> String {
        guard let folder, !name.hasPrefix("/") else { return name }
        return folder.appendingPathComponent(name).path
    }

    static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}

extension LabeledFolders {
    /// Divides the files of each label by proportions.
    static func split(
        _ files: [String: [URL]],
        _ proportions: [Double],
        _ generator: inout some RandomNumberGenerator
    ) throws -> [[String: [URL]]] {
        let fractions = try Proportions(proportions)
        var result = [[String: [URL]]](repeating: [:], count: proportions.count)
        for label in files.keys.sorted() {
            let shuffled = (files[label] ?? []).shuffled(using: &generator)
            var start = 0
            for (part, end) in fractions.ends(of: shuffled.count).enumerated() {
                if end > start { result[part][label] = Array(shuffled[start..<end]) }
                start = end
            }
        }
        return result
    }
}
