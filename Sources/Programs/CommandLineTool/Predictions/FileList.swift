import Foundation

/// Files that a command line names, themselves or by the folders that they are in.
struct FileList {
    let paths: [String]
    /// Whether the answers are a list: there are several files, or a folder may hold several.
    let isList: Bool

    /// What is asked of files in folders; files that are named themselves may be called anything.
    struct Kind {
        /// The plural, as in "sounds".
        let name: String
        /// In lower case.
        let endings: [String]

        static let pictures = Kind(
            name: "pictures",
            endings: ["png", "jpg", "jpeg", "webp", "tif", "tiff", "gif", "bmp", "heic", "heif"]
        )
        static let sounds = Kind(
            name: "sounds",
            endings: [
                "wav", "wave", "flac", "ogg", "oga", "opus", "mp3", "aif", "aiff", "aifc", "caf", "au", "snd", "w64",
                "rf64",
            ]
        )
        static let recordings = Kind(name: "recordings", endings: ["csv", "tsv", "json"])
        static let keypoints = Kind(name: "tables of key points", endings: ["json", "csv"])
        static let texts = Kind(name: "texts", endings: ["txt", "text", "md"])
    }

    /// The files, and those in the folders and the folders within, by name; links are followed, hidden files left out.
    ///
    /// A folder's files of other kinds are left out, which standard error is told.
    /// - Throws: when a path names nothing, or a folder holds no file of the kind.
    init(_ arguments: [String], _ kind: Kind) throws {
        var paths: [String] = []
        var hasFolder = false
        for argument in arguments {
            guard TableFile.isFolder(argument) else {
                guard FileManager.default.fileExists(atPath: argument) else {
                    throw Failure("cannot read '\(argument)': there is no such file")
                }
                paths.append(argument)
                continue
            }
            hasFolder = true
            var found: (taken: [String], left: Int) = ([], 0)
            let folder = argument.count > 1 && argument.hasSuffix("/") ? String(argument.dropLast()) : argument
            try Self.walk(folder, kind, [], &found)
            guard !found.taken.isEmpty else {
                throw Failure(
                    "'\(argument)' holds no \(kind.name), whose names end in "
                        + kind.endings.map { "." + $0 }.joined(separator: ", ")
                )
            }
            if found.left > 0 {
                let note = "'\(argument)': files left out that are no \(kind.name): \(found.left)\n"
                FileHandle.standardError.write(Data(note.utf8))
            }
            paths += found.taken
        }
        self.paths = paths
        isList = hasFolder || paths.count > 1
    }

    /// - Parameter above: the folders that this one is in, to notice links that lead back.
    private static func walk(
        _ folder: String,
        _ kind: Kind,
        _ above: [String],
        _ found: inout (taken: [String], left: Int)
    ) throws {
        let place = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        guard !above.contains(place) else { return }
        for path in try TableFile.contents(ofFolder: folder) {
            if TableFile.isFolder(path) {
                try walk(path, kind, above + [place], &found)
            } else if kind.endings.contains(URL(fileURLWithPath: path).pathExtension.lowercased()) {
                found.taken.append(path)
            } else {
                found.left += 1
            }
        }
    }
}
