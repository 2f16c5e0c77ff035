import MLArchive
import MLEncryption
import MLFiles
import MLNumerics

/// What a model archive (`.mlarchive`) says of itself, for those who store and deliver archives without opening models:
/// `Documentation/Formats/mlarchive.md`.
public struct ArchiveSummary: Sendable {
    /// A file of the model, as the archive stores it.
    public struct File: Sendable {
        public let path: String
        /// Its bytes as they are stored: encrypted files count their salts and tags.
        public let byteCount: Int
        public let sha256: [UInt8]
    }

    /// With what a model is encrypted.
    public struct Encryption: Sendable {
        /// The name of the key: 32 hexadecimal digits.
        public let keyID: String
        /// Whose key it is.
        public let team: String
        /// The name of what was encrypted: 32 hexadecimal digits.  Every encryption has another.
        public let contentID: String
        /// How the content key is wrapped.
        public let suite: String
        /// The content key, wrapped for the holder of the key's private half.
        public let wrappedKey: [UInt8]
    }

    /// An input, an output or a state of the model.
    public struct Feature: Sendable, Equatable {
        public enum Role: String, Sendable { case input, output, state }

        public let role: Role
        public let name: String
        /// The type as Xcode spells it, such as `MultiArray (Float32 1 × 3)`.
        public let type: String
    }

    /// The name of the model: that of the file it was made of, without its ending.
    public let name: String
    /// The kind of the model as the specification calls it, such as `mlProgram`; `nil` when it is not known.
    public let kind: String?
    public let specificationVersion: Int?
    /// The model's own version, as its author wrote it.
    public let version: String?
    /// SHA-256 of the interface: archives with the same one can take each other's place.
    public let interfaceHash: [UInt8]?
    /// When the archive was made, such as `2026-11-23T14:00:00Z`.
    public let created: String
    /// What made it.
    public let tool: String
    public let files: [File]
    /// `nil` for an archive that anybody can read.
    public let encryption: Encryption?
    /// The inputs, outputs and states; `nil` when they are encrypted, too.
    public let features: [Feature]?
    /// What the author wrote about the model; `nil` when it is encrypted or was not written.
    public let description: String?
    /// The public Ed25519 keys (32 bytes each) whose signatures of the archive are right.
    public let signers: [[UInt8]]

    /// Reads the header of the archive at `path`.
    /// - Throws: `ArchiveError` when it is no archive, is damaged, or was signed wrongly.
    public init(contentsOf path: String) throws(ArchiveError) {
        self = try ArchiveError.translating { () throws(ModelError) in try ArchiveSummary(ModelArchive(path)) }
    }

    private init(_ archive: ModelArchive) throws(ModelError) {
        let header = archive.header
        name = header.model.name
        kind = header.model.kind
        specificationVersion = header.model.specificationVersion
        version = header.model.version
        interfaceHash = header.model.interfaceHash
        created = header.created
        tool = header.tool
        files = header.files.map { File(path: $0.path, byteCount: $0.byteCount, sha256: $0.hash) }
        encryption = try archive.record.map {
            Encryption(
                keyID: $0.keyID.description,
                team: $0.team,
                contentID: Hexadecimal.text($0.contentID),
                suite: $0.suite.rawValue,
                wrappedKey: $0.wrapped
            )
        }
        signers = try archive.signatures.map { (signature) throws(ModelError) in
            guard signature.isRight(name: header.model.name, headerHash: archive.headerHash) else {
                throw ModelError(.malformed, "A signature of the archive is wrong; get it anew.", at: archive.path)
            }
            return signature.signer.bytes
        }
        let metadata = try Self.metadata(of: archive)
        features = metadata.map(Self.features)
        description = metadata?["shortDescription"]?.string
    }

    /// Throws at the first file whose bytes are not those that the header vouches for.
    /// - Parameter path: where the archive lies.
    public static func verify(_ path: String) throws(ArchiveError) {
        try ArchiveError.translating { () throws(ModelError) in try ModelArchive(path).verify() }
    }

    /// Writes the files of the archive at `path`, as they are stored, into a folder that takes the place of `folder` when
    /// all of them are right.
    public static func extract(_ path: String, to folder: String) throws(ArchiveError) {
        try ArchiveError.translating { () throws(ModelError) in try ModelArchive(path).extract(to: folder) }
    }

    // MARK: Interface

    private static let largestMetadata = 16 << 20

    /// `metadata.json`, where it can be read without a key.
    private static func metadata(of archive: ModelArchive) throws(ModelError) -> JSONValue? {
        let name = "metadata.json"
        guard let file = archive.header.files.first(where: { $0.path == name }) else { return nil }
        if let record = try archive.record, record.files.contains(where: { $0.path == name }) { return nil }
        guard file.byteCount <= largestMetadata else { return nil }
        let json = try trailing(name) { () throws(ModelError) in try JSONReader.read(archive.stored(file).bytes()) }
        guard case .array(let models) = json else { return nil }
        return models.first
    }

    private static func features(_ model: JSONValue) -> [Feature] {
        let roles: [(Feature.Role, String)] = [
            (.input, "inputSchema"), (.output, "outputSchema"), (.state, "stateSchema"),
        ]
        return roles.flatMap { role, member -> [Feature] in
            guard case .array(let features)? = model[member] else { return [] }
            return features.compactMap { feature in
                guard let name = feature["name"]?.string else { return nil }
                return Feature(role: role, name: name, type: feature["formattedType"]?.string ?? "")
            }
        }
    }
}

/// Why an archive cannot be used: which part of it is wrong, and what helps.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
    public let description: String

    static func translating<R>(_ body: () throws(ModelError) -> R) throws(ArchiveError) -> R {
        do throws(ModelError) { return try body() } catch { throw ArchiveError(description: error.description) }
    }
}
