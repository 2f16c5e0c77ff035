import Crypto
import Glibc
import MLEncryption
import MLFiles
package import MLNumerics

/// The files of a model with their hashes, which OpenSSF Model Signing signs.
///
/// Documentation/Formats/model-signature.md describes the format.
package struct ModelManifest: Sendable, Equatable {
    package struct Resource: Sendable, Equatable {
        /// The path within the model; `.` for a model that is one file.
        package let path: String
        /// The SHA-256 of the file.
        package let hash: [UInt8]

        package init(path: String, hash: [UInt8]) {
            self.path = path
            self.hash = hash
        }
    }

    /// The name of the model's file or folder, for people.
    package let name: String
    /// The files in the order of their paths, component by component.
    package let resources: [Resource]
    /// The files and folders, relative to the model, that are ignored.
    package let ignored: [String]

    /// The files that git keeps beside a model, which are always ignored.
    private static let gitPaths = [".git", ".gitattributes", ".github", ".gitignore"]

    package init(name: String, resources: [Resource], ignored: [String]) {
        self.name = name
        self.resources = resources.sorted { Self.precedes($0.path, $1.path) }
        self.ignored = Set(ignored).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.split(separator: UInt8(ascii: "/")).lexicographicallyPrecedes(
            right.utf8.split(separator: UInt8(ascii: "/"))
        ) { $0.lexicographicallyPrecedes($1) }
    }

    // MARK: Hashing

    /// Hashes the model at `path`.
    ///
    /// The file `signature` is ignored if it lies in the model; `ignored` has further paths relative to the model.
    package init(of path: String, signature: String?, ignored: [String] = []) throws(ModelError) {
        let path = FileAccess.withoutTrailingSlash(path)
        let name = FileAccess.name(of: path)
        switch FileAccess.kind(of: path) {
        case .file?:
            self.init(name: name, resources: [.init(path: ".", hash: try Self.hash(path))], ignored: Self.gitPaths)
        case .folder?:
            let own = signature.flatMap { Self.path(of: $0, in: path) }
            let ignored = ignored + Self.gitPaths + (own.map { [$0] } ?? [])
            var resources: [Resource] = []
            for file in try FolderListing.files(in: path) where !Self.isIgnored(file, ignored) {
                resources.append(.init(path: file, hash: try Self.hash(path + "/" + file)))
            }
            self.init(name: name, resources: resources, ignored: ignored)
        case .other?, nil:
            throw ModelError(.io, "There is no such file or folder.", at: path)
        }
    }

    /// The files of an archive, whose hashes have been verified.
    package init(of archive: ModelArchive, ignored: [String] = []) {
        self.init(
            name: archive.header.model.name + ".mlmodelc",
            files: archive.header.files,
            ignored: ignored
        )
    }

    /// The files of a folder that becomes an archive.
    init(name: String, files: [ArchiveHeader.File], ignored: [String] = []) {
        let ignored = ignored + Self.gitPaths + [ModelSignature.fileName]
        let counting = files.filter { !Self.isIgnored($0.path, ignored) }
        self.init(name: name, resources: counting.map { .init(path: $0.path, hash: $0.hash) }, ignored: ignored)
    }

    private static func isIgnored(_ file: String, _ ignored: [String]) -> Bool {
        ignored.contains { file == $0 || file.hasPrefix($0 + "/") }
    }

    /// The path of a file relative to a folder; `nil` when the file is not in it.
    private static func path(of file: String, in folder: String) -> String? {
        guard let folder = realPath(folder), let parent = realPath(FileAccess.folder(of: file)) else { return nil }
        let location = parent + "/" + FileAccess.name(of: file)
        return location.hasPrefix(folder + "/") ? String(location.dropFirst(folder.count + 1)) : nil
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func hash(_ path: String) throws(ModelError) -> [UInt8] {
        let file = try OpenFile(path)
        var hash = SHA256()
        for start in stride(from: 0, to: file.byteCount, by: 1 << 20) {
            hash.update(data: try file.bytes(at: start, count: min(1 << 20, file.byteCount - start)))
        }
        return Array(hash.finalize())
    }

    // MARK: Comparing

    /// Throws unless `actual` has the same files with the same bytes.
    package func check(_ actual: ModelManifest) throws(ModelError) {
        let expected = Dictionary(resources.map { ($0.path, $0.hash) }) { first, _ in first }
        let found = Dictionary(actual.resources.map { ($0.path, $0.hash) }) { first, _ in first }
        let paths = resources.map(\.path)
        let differences = [
            ("changed", paths.filter { found[$0] != nil && found[$0] != expected[$0] }),
            ("missing", paths.filter { found[$0] == nil }),
            ("added", actual.resources.map(\.path).filter { expected[$0] == nil }),
        ].filter { !$0.1.isEmpty }
        guard !differences.isEmpty else { return }
        let text = differences.map { "\($0): \(Self.list($1))" }.joined(separator: "; ")
        throw ModelError(.malformed, "The model is not the one that was signed (\(text)).")
    }

    private static func list(_ paths: [String]) -> String {
        let maximum = 5
        return paths.prefix(maximum).joined(separator: ", ")
            + (paths.count > maximum ? " and \(paths.count - maximum) more" : "")
    }

    // MARK: The in-toto statement

    static let statementType = "https://in-toto.io/Statement/v1"
    static let predicateType = "https://model_signing/signature/v1.0"

    /// The SHA-256 of all hashes in their order, which stands for the whole model.
    private var rootHash: [UInt8] { Array(SHA256.hash(data: resources.flatMap(\.hash))) }

    package var statement: [UInt8] {
        let resources = resources.map { resource in
            JSONValue.object([
                .init("algorithm", .string("sha256")), .init("digest", .string(Hexadecimal.text(resource.hash))),
                .init("name", .string(resource.path)),
            ])
        }
        let serialization = JSONValue.object([
            .init("allow_symlinks", .bool(false)), .init("hash_type", .string("sha256")),
            .init("ignore_paths", .array(ignored.map { .string($0) })), .init("method", .string("files")),
        ])
        let subject = JSONValue.object([
            .init("digest", .object([.init("sha256", .string(Hexadecimal.text(rootHash)))])),
            .init("name", .string(name)),
        ])
        return CanonicalWriter.bytes(
            .object([
                .init("_type", .string(Self.statementType)),
                .init(
                    "predicate",
                    .object([.init("resources", .array(resources)), .init("serialization", serialization)])
                ),
                .init("predicateType", .string(Self.predicateType)), .init("subject", .array([subject])),
            ])
        )
    }

    /// Reads a statement whose signature has been verified.
    package init(statement: [UInt8]) throws(ModelError) {
        let json = try JSONReader.read(statement)
        guard json["_type"]?.string == Self.statementType else {
            throw Self.malformed("it is not an in-toto statement")
        }
        guard json["predicateType"]?.string == Self.predicateType else {
            let name = json["predicateType"]?.string ?? ""
            throw ModelError(.unsupported, "The signature's statement is of the type \"\(name)\", which is not known.")
        }
        guard case .array(let subjects)? = json["subject"], subjects.count == 1, let subject = subjects.first,
            let name = subject["name"]?.string, case .array(let list)? = json["predicate"]?["resources"]
        else { throw Self.malformed("it names no model, or several") }
        let ignored = try Self.ignored(json["predicate"]?["serialization"])
        var resources: [Resource] = []
        for item in list { resources.append(try Resource(item)) }
        guard Set(resources.map(\.path)).count == resources.count else { throw Self.malformed("it names a file twice") }
        let rootHash = Array(SHA256.hash(data: resources.flatMap(\.hash)))
        guard subject["digest"]?["sha256"]?.string == Hexadecimal.text(rootHash) else {
            throw Self.malformed("its files are not those of the model that it names")
        }
        self.init(name: name, resources: resources, ignored: ignored)
    }

    private static func ignored(_ serialization: JSONValue?) throws(ModelError) -> [String] {
        guard let method = serialization?["method"]?.string, let hash = serialization?["hash_type"]?.string else {
            throw malformed("it does not state how the model was hashed")
        }
        guard method == "files", hash == "sha256" else {
            throw ModelError(
                .unsupported,
                "The model was hashed by \(method) with \(hash), which this version does not support; verify it with model_signing."
            )
        }
        guard let paths = serialization?["ignore_paths"] else { return [] }
        guard case .array(let list) = paths else { throw malformed("its list of ignored files is not a list") }
        return list.compactMap(\.string)
    }

    fileprivate static func malformed(_ reason: String) -> ModelError {
        ModelError(.malformed, "The signature's statement is wrong: \(reason).")
    }
}

extension ModelManifest.Resource {
    fileprivate init(_ json: JSONValue) throws(ModelError) {
        guard let path = json["name"]?.string, let algorithm = json["algorithm"]?.string,
            let digest = json["digest"]?.string
        else { throw ModelManifest.malformed("a file has no name or no hash") }
        guard algorithm == "sha256" else {
            throw ModelError(.unsupported, "A file was hashed with \(algorithm), which this version does not support.")
        }
        guard let hash = Hexadecimal.bytes(digest.utf8), hash.count == 32 else {
            throw ModelManifest.malformed("a hash is not valid")
        }
        self.init(path: path, hash: hash)
    }
}
