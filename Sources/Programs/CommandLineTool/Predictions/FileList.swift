import Foundation

/// The files named on a command line, directly or by their folders.
struct FileList {
    let paths: [String]
    /// Whether the files form a list: there are several, or a folder may contain several.
    let isList: Bool

    /// The kind of files to look for in folders; files that are named directly may have any name.
    struct Kind {
        /// The plural, as in "sounds".
        let name: String
        /// The file name extensions, in lower case.
        let endings: [String]
        /// Whether a folder of pictures stands for one file, a video.
        var includesFolders = false

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
        static let poses = Kind(
            name: "images and tables of key points",
            endings: pictures.endings + ["json", "csv"]
        )
        static let actions = Kind(
            name: "videos, folders of frames and tables of key points",
            endings: ["mp4", "m4v", "mov", "mkv", "webm", "avi", "mpg", "mpeg", "ogv", "json", "csv"],
            includesFolders: true
        )
        static let texts = Kind(name: "texts", endings: ["txt", "text", "md"])
    }

    /// The files, and those in the folders and their subfolders, by name; links are followed, hidden files ignored.
    ///
    /// A folder's files of other kinds are ignored, with a note on standard error.
    ///
    /// - Throws: When a path does not exist, or a folder contains no file of the kind.
    init(_ arguments: [String], _ kind: Kind) throws {
        var paths: [String] = []
        var hasFolder = false
        for argument in arguments {
            guard TableFile.isFolder(argument), try !kind.isVideo(argument) else {
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
                let note = "'\(argument)': files left out that are not \(kind.name): \(found.left)\n"
                FileHandle.standardError.write(Data(note.utf8))
            }
            paths += found.taken
        }
        self.paths = paths
        isList = hasFolder || paths.count > 1
    }

    /// Adds the files of a folder and of the folders in it.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - kind: The kind of files to add.
    ///   - above: The enclosing folders, to detect cyclic links.
    ///   - found: The files so far, and the number of files of other kinds.
    /// - Throws: `Failure` when a folder cannot be read.
    private static func walk(
        _ folder: String,
        _ kind: Kind,
        _ above: [String],
        _ found: inout (taken: [String], left: Int)
    ) throws {
        let location = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        guard !above.contains(location) else { return }
        for path in try TableFile.contents(ofFolder: folder) {
            if try kind.isVideo(path) {
                found.taken.append(path)
            } else if TableFile.isFolder(path) {
                try walk(path, kind, above + [location], &found)
            } else if kind.endings.contains(URL(fileURLWithPath: path).pathExtension.lowercased()) {
                found.taken.append(path)
            } else {
                found.left += 1
            }
        }
    }
}

extension FileList.Kind {
    /// Whether a path is a folder that holds pictures, where such a folder stands for a video.
    func isVideo(_ path: String) throws -> Bool {
        guard includesFolders, TableFile.isFolder(path) else { return false }
        return try TableFile.contents(ofFolder: path).contains {
            Self.pictures.endings.contains(URL(fileURLWithPath: $0).pathExtension.lowercased())
        }
    }
}
