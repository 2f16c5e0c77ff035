package import MLNumerics
import Synchronization

/// The weight files of a model, by the names that programs use (`@model_path/weights/weight.bin`).
///
/// They are mapped when first used, and shared from then on.
package final class WeightFiles: Sendable {
    private static let prefix = "@model_path/"

    /// The folders of the model; those of a package stand for `@model_path` in this order.
    package let folders: [String]
    /// The folders that stand for `@model_path`, tried in order.
    private let contents: [any FolderContents]
    /// Files in memory by name.
    private let blobs: [String: TensorStorage]
    /// Files of other models by the names that programs use here; see `ModelFile.stages(of:)`.
    private let references: [String: Reference]
    private let opened = Mutex<[String: WeightFile]>([:])

    /// A weight file of another model.
    struct Reference: Sendable {
        let files: WeightFiles
        /// The name that the model's program refers to it by.
        let name: String
    }

    package init(folders: [String]) {
        self.folders = folders
        contents = folders.map { PlainFolder($0) }
        blobs = [:]
        references = [:]
    }

    /// Makes the weight files of a model in `folder`, or in an archive in it, whose files are `contents`.
    package init(contents: any FolderContents, folder: String) {
        folders = [folder]
        self.contents = [contents]
        blobs = [:]
        references = [:]
    }

    /// Makes weight files in memory.
    ///
    /// A reference matches a name that is equal with or without `@model_path/`; otherwise one with the same last
    /// component.
    package init(blobs: [String: [UInt8]]) {
        folders = []
        contents = []
        self.blobs = blobs.mapValues { TensorStorage(copying: $0) }
        references = [:]
    }

    /// Makes weight files that belong to other models.
    init(references: [String: Reference]) {
        folders = []
        contents = []
        blobs = [:]
        self.references = references
    }

    /// The weight file that a program refers to as `fileName`.
    package func file(_ fileName: String) throws(ModelError) -> WeightFile {
        if let file = opened.withLock({ $0[fileName] }) { return file }
        let file = try open(fileName)
        return opened.withLock { files in
            if let other = files[fileName] { return other }
            files[fileName] = file
            return file
        }
    }

    /// The weight files used so far, by their names relative to the model.
    package func openedFiles() throws(ModelError) -> [(name: String, file: WeightFile)] {
        var files: [(name: String, file: WeightFile)] = []
        for (name, file) in opened.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            files.append((try relativeName(name), file))
        }
        return files
    }

    /// The path of the file that a program refers to as `fileName`, when it is a plain file on disk.
    ///
    /// It is `nil` for files in memory, in archives and in encrypted models.
    package func path(_ fileName: String) throws(ModelError) -> String? {
        if let reference = references[fileName] { return try reference.files.path(reference.name) }
        let relative = try relativeName(fileName)
        for folder in contents {
            if let path = folder.path(of: relative) { return path }
        }
        guard !contents.isEmpty, contents.allSatisfy({ $0 is PlainFolder }) else { return nil }
        throw missing(fileName, searched: folders.map { $0 + "/" + relative })
    }

    /// Whether the model is secret; see `FolderContents`.
    package var isProtected: Bool {
        contents.contains { $0.isProtected } || references.values.contains { $0.files.isProtected }
    }

    private func open(_ fileName: String) throws(ModelError) -> WeightFile {
        if let reference = references[fileName] { return try reference.files.file(reference.name) }
        let relative = try relativeName(fileName)
        for folder in contents {
            guard let storage = try folder.contents(of: relative) else { continue }
            return try WeightFile(storage, path: folder.path(of: relative) ?? relative)
        }
        guard contents.isEmpty else { throw missing(fileName, searched: folders.map { $0 + "/" + relative }) }
        let exact = [fileName, relative, Self.prefix + relative].first { blobs[$0] != nil }
        let similar = blobs.keys.filter { FileAccess.name(of: $0) == FileAccess.name(of: relative) }
        guard let name = exact ?? (similar.count == 1 ? similar[0] : nil), let storage = blobs[name] else {
            throw missing(fileName, searched: blobs.keys.sorted())
        }
        return try WeightFile(storage, path: name)
    }

    /// The name of a weight file relative to the model: `weights/weight.bin`.
    package func relativeName(_ fileName: String) throws(ModelError) -> String {
        var relative = fileName[...]
        if relative.hasPrefix(Self.prefix) { relative.removeFirst(Self.prefix.count) }
        let name = String(relative)
        guard PackageManifest.isInside(name) else {
            throw ModelError(
                .malformed,
                "The weight file name \"\(fileName)\" leads out of the model; expected @model_path/ and a relative path."
            )
        }
        return name
    }

    private func missing(_ fileName: String, searched: [String]) -> ModelError {
        let list =
            searched.isEmpty ? "the model came without weight files" : "looked for " + searched.joined(separator: ", ")
        return ModelError(
            .io,
            "The weight file \"\(fileName)\" is missing (\(list)); keep the weights folder with the model."
        )
    }
}
