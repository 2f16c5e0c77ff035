import MLArchive
import MLEncryption
import MLFiles
import MLNumerics

/// The header of a model archive (`.mlarchive`), for programs that store and deliver archives without opening models.
///
/// `Documentation/Formats/mlarchive.md` describes the format.
public struct ArchiveSummary: Sendable {
    /// A file of the model, as the archive stores it.
    public struct File: Sendable {
        /// The path relative to the model's folder.
        public let path: String
        /// The number of stored bytes; those of encrypted files include their salts and tags.
        public let byteCount: Int
        /// The SHA-256 of the stored bytes.
        public let sha256: [UInt8]
    }

    /// The encryption of a model.
    public struct Encryption: Sendable {
        /// The identifier of the key: 32 hexadecimal digits.
        public let keyID: String
        /// The team whose key it is.
        public let team: String
        /// The identifier of this encryption: 32 hexadecimal digits, different for every encryption.
        public let contentID: String
        /// The suite that the content key is wrapped with.
        public let suite: String
        /// The content key, wrapped for the holder of the private key.
        public let wrappedKey: [UInt8]
    }

    /// An input, an output or a state of the model.
    public struct Feature: Sendable, Equatable {
        /// Whether a feature is an input, an output or a state.
        public enum Role: String, Sendable { case input, output, state }

        /// Whether the feature is an input, an output or a state.
        public let role: Role
        /// The feature's name.
        public let name: String
        /// The type as Xcode spells it, such as `MultiArray (Float32 1 × 3)`.
        public let type: String
    }

    /// The name of the model: that of the file it was made of, without its extension.
    public let name: String
    /// The kind of the model as the specification names it, such as `mlProgram`; `nil` when it is not known.
    public let kind: String?
    /// The version of Core ML's specification; `nil` when it is not known.
    public let specificationVersion: Int?
    /// The model's own version, as its author wrote it.
    public let version: String?
    /// The SHA-256 of the interface: archives with the same one are interchangeable.
    public let interfaceHash: [UInt8]?
    /// The date at which the archive was made, such as `2026-11-23T14:00:00Z`.
    public let created: String
    /// The program that made the archive.
    public let tool: String
    /// The files of the model.
    public let files: [File]
    /// The encryption; `nil` for an archive that anybody can read.
    public let encryption: Encryption?
    /// The inputs, outputs and states; `nil` when they are encrypted or not stated.
    public let features: [Feature]?
    /// The author's description of the model; `nil` when it is encrypted or was not written.
    public let description: String?
    /// The public Ed25519 keys (32 bytes each) that signed the archive; the signatures were verified.
    public let signers: [[UInt8]]

    /// Reads the header of the archive at `path`.
    ///
    /// Throws ``ArchiveError`` when it is not an archive, is damaged, or has a wrong signature.
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
            guard signature.matches(name: header.model.name, headerHash: archive.headerHash) else {
                throw ModelError(.malformed, "A signature of the archive is wrong; get it again.", at: archive.path)
            }
            return signature.signer.bytes
        }
        let metadata = try Self.metadata(of: archive)
        features = metadata.map(Self.features)
        description = metadata?["shortDescription"]?.string
    }

    /// Checks all bytes of the archive at `path`; throws ``ArchiveError`` at the first file that differs from its hash.
    public static func verify(_ path: String) throws(ArchiveError) {
        try ArchiveError.translating { () throws(ModelError) in try ModelArchive(path).verify() }
    }

    /// Writes the files of the archive at `path`, as they are stored, into a folder.
    ///
    /// The folder replaces `folder` only when all files are right; otherwise an ``ArchiveError`` is thrown.
    public static func extract(_ path: String, to folder: String) throws(ArchiveError) {
        try ArchiveError.translating { () throws(ModelError) in try ModelArchive(path).extract(to: folder) }
    }

    // MARK: Interface

    private static let maximumMetadataByteCount = 16 << 20

    /// The content of `metadata.json`; `nil` where it cannot be read without a key.
    private static func metadata(of archive: ModelArchive) throws(ModelError) -> JSONValue? {
        let name = "metadata.json"
        guard let file = archive.header.files.first(where: { $0.path == name }) else { return nil }
        if let record = try archive.record, record.files.contains(where: { $0.path == name }) { return nil }
        guard file.byteCount <= maximumMetadataByteCount else { return nil }
        let json = try withErrorContext(name) { () throws(ModelError) in
            try JSONReader.read(archive.stored(file).bytes())
        }
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

/// The reason why an archive or a delta cannot be used.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
    /// The part that is wrong, and what helps.
    public let description: String

    static func translating<R>(_ body: () throws(ModelError) -> R) throws(ArchiveError) -> R {
        do throws(ModelError) { return try body() } catch { throw ArchiveError(description: error.description) }
    }
}
