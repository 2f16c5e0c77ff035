import DeploymentArchives
public import Foundation
public import ServerBlobs
import ServerDatabase

/// An archive of a model that a team has uploaded.
public struct StoredArchive: Sendable, Codable, Equatable {
    /// An input, an output or a state of the model.
    public struct Feature: Sendable, Codable, Equatable {
        /// `input`, `output` or `state`.
        public let role: String
        /// The feature's name.
        public let name: String
        /// The type as Xcode spells it, such as `MultiArray (Float32 1 × 3)`.
        public let type: String
    }

    /// The encryption of the model.
    public struct Encryption: Sendable, Codable, Equatable {
        /// The identifier of the key, 32 hexadecimal digits.
        public let keyID: String
        /// The team whose key it is.
        public let team: String
        /// The suite that the content key is wrapped with.
        public let suite: String
        /// The identifier of this encryption, 32 hexadecimal digits.
        public let contentID: String
    }

    /// The contents of the archive's header.
    public struct Summary: Sendable, Codable, Equatable {
        /// The kind of the model, such as `mlProgram`; `nil` when it is not known.
        public let kind: String?
        /// The model's own version.
        public let version: String?
        /// The author's description of the model.
        public let description: String?
        /// The version of Core ML's specification.
        public let specificationVersion: Int?
        /// 64 hexadecimal digits, equal for models that are interchangeable.
        public let interface: String?
        /// The date at which the archive was made.
        public let made: String
        /// The program that made the archive.
        public let tool: String
        /// The inputs, outputs and states; `nil` when they are encrypted or not stated.
        public let features: [Feature]?
        /// The encryption; `nil` for a model in the clear.
        public let encryption: Encryption?
        /// The public keys that signed the archive, in hexadecimal digits.
        public let signers: [String]
    }

    /// The team that it belongs to.
    public let team: String
    /// The SHA-256 of the archive in hexadecimal digits, which identifies it.
    public let sha256: String
    /// The length of the archive in bytes.
    public let byteCount: Int
    /// The name of the uploaded file.
    public let fileName: String
    /// The name of the model.
    public let name: String
    /// The contents of the archive's header.
    public let summary: Summary
    /// The date of the upload.
    public let created: Date
    /// The name of who uploaded it.
    public let createdBy: String
}

/// Stored inputs and outputs that a team has uploaded.
public struct StoredVectors: Sendable, Codable, Equatable {
    /// The team that they belong to.
    public let team: String
    /// The SHA-256 of the file in hexadecimal digits, which identifies it.
    public let sha256: String
    /// The length of the file in bytes.
    public let byteCount: Int
    /// The name of the uploaded file.
    public let fileName: String
    /// The date of the upload.
    public let created: Date
    /// The name of who uploaded it.
    public let createdBy: String
}

extension Service {
    /// Begins the upload of an archive, a delta or test vectors, whose bytes are appended to the result.
    ///
    /// Throws a ``ServiceError`` without permission, or when the team has four uploads in progress.
    public func uploadArchive(team: String, as actor: Principal) async throws -> any BlobUpload {
        try actor.require(.publish, in: team, app: actor.app)
        let slot = try uploads.slot(team)
        return PlacedUpload(try await blobs.upload(), slot)
    }

    /// Stores an archive whose bytes have all arrived, after verifying it.
    ///
    /// - Parameters:
    ///   - upload: the upload.
    ///   - team: the team that it belongs to.
    ///   - fileName: the name of the file, for people.
    ///   - expected: the hash that the sender states; `nil` for none.
    ///   - actor: the person or program that uploads.
    /// - Returns: the archive; an existing one with the same hash is returned unchanged.
    /// - Throws: a ``ServiceError`` when the archive is invalid, or a `BlobError` when its hash is not the expected
    ///   one.
    public func finishArchive(
        _ upload: any BlobUpload,
        team: String,
        fileName: String,
        expecting expected: BlobDigest?,
        as actor: Principal
    ) async throws -> StoredArchive {
        try actor.require(.publish, in: team, app: actor.app)
        try Self.checkText(fileName, "name", maximum: 255)
        let (digest, byteCount) = try await upload.finish(expecting: expected)
        if let known = try await archive(digest.description, team: team) { return known }
        let summary: ArchiveSummary
        do {
            let file = try await blobs.localFile(digest)
            defer { file.release() }
            summary = try ArchiveSummary(contentsOf: file.path)
            try ArchiveSummary.verify(file.path)
        } catch let error as ArchiveError {
            try await removeUnreferenced(digest)
            throw ServiceError.invalid("archive", Self.withoutPath(error.description))
        }
        try Self.checkIdentifier(summary.name, "archive")
        let archive = StoredArchive(
            team: team,
            sha256: digest.description,
            byteCount: byteCount,
            fileName: fileName,
            name: summary.name,
            summary: StoredArchive.Summary(summary),
            created: now(),
            createdBy: actor.name
        )
        try await database.write { connection in
            guard
                try connection.first(
                    "SELECT sha256 FROM archives WHERE team = ? AND sha256 = ?",
                    team,
                    archive.sha256
                ) == nil
            else { return }
            try connection.execute(
                "INSERT INTO archives (team, sha256, byte_count, file_name, name, summary, content_id, created, created_by) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                team,
                archive.sha256,
                byteCount,
                fileName,
                archive.name,
                try JSON.text(archive.summary),
                archive.summary.encryption?.contentID,
                archive.created.milliseconds,
                actor.name
            )
            try Audit.record(
                connection,
                at: archive.created,
                actor,
                team: team,
                "archive.upload",
                archive.sha256,
                ["name": archive.name, "bytes": String(byteCount)]
            )
        }
        return archive
    }

    /// Stores test vectors (`.npz`, `Documentation/TestVectors.md`) that devices test a model with.
    ///
    /// They have at most 64 MiB. Throws a ``ServiceError`` when the file is not a NumPy archive, or a `BlobError` when
    /// its hash is not the expected one.
    public func finishVectors(
        _ upload: any BlobUpload,
        team: String,
        fileName: String,
        expecting expected: BlobDigest?,
        as actor: Principal
    ) async throws -> StoredVectors {
        try actor.require(.publish, in: team, app: actor.app)
        try Self.checkText(fileName, "name", maximum: 255)
        guard !fileName.hasPrefix(DeltaName.mark) else {
            throw ServiceError.invalid("name", "This is a name of deltas; give the file another name.")
        }
        let (digest, byteCount) = try await upload.finish(expecting: expected)
        let start = try await blobs.read(digest, 0..<min(4, byteCount))
        guard start == [0x50, 0x4B, 0x03, 0x04], byteCount <= Self.maximumVectorsByteCount else {
            try await removeUnreferenced(digest)
            throw ServiceError.invalid(
                "vectors",
                "Test vectors are a NumPy archive (.npz) of at most \(Self.maximumVectorsByteCount >> 20) MiB."
            )
        }
        let vectors = StoredVectors(
            team: team,
            sha256: digest.description,
            byteCount: byteCount,
            fileName: fileName,
            created: now(),
            createdBy: actor.name
        )
        try await database.write { connection in
            guard try Self.vectors(vectors.sha256, team: team, connection) == nil else { return }
            try connection.execute(
                "INSERT INTO vectors (team, sha256, byte_count, file_name, created, created_by) VALUES (?, ?, ?, ?, ?, ?)",
                team,
                vectors.sha256,
                byteCount,
                fileName,
                vectors.created.milliseconds,
                actor.name
            )
            try Audit.record(
                connection,
                at: vectors.created,
                actor,
                team: team,
                "vectors.upload",
                vectors.sha256,
                ["name": fileName]
            )
        }
        return vectors
    }

    private static let maximumVectorsByteCount = 64 << 20

    /// The length of the test vectors with a hash; `nil` when the team has none.
    static func vectors(_ sha256: String, team: String, _ connection: any Connection) throws -> Int? {
        let row = try connection.first(
            "SELECT byte_count, file_name FROM vectors WHERE team = ? AND sha256 = ?",
            team,
            sha256
        )
        guard let row, try DeltaName.read(row.text("file_name")) == nil else { return nil }
        return try row.integer("byte_count")
    }

    func removeUnreferenced(_ digest: BlobDigest) async throws {
        let isReferenced = try await database.read { connection in
            try connection.first("SELECT sha256 FROM archives WHERE sha256 = ?", digest.description) != nil
                || connection.first("SELECT sha256 FROM vectors WHERE sha256 = ?", digest.description) != nil
        }
        if !isReferenced { try await blobs.remove(digest) }
    }

    /// The archives of a team, the latest first.
    public func archives(of team: String, as actor: Principal) async throws -> [StoredArchive] {
        try actor.require(.view, in: team)
        return try await database.read { connection in
            try connection.query("SELECT * FROM archives WHERE team = ? ORDER BY created DESC, name", team).map(
                Self.archive
            )
        }
    }

    /// The archive of a team with a hash; throws a ``ServiceError`` when there is none.
    public func archive(_ sha256: String, team: String, as actor: Principal) async throws -> StoredArchive {
        try actor.require(.view, in: team)
        guard let archive = try await archive(sha256, team: team) else {
            throw ServiceError.notFound("archive \"\(sha256)\"")
        }
        return archive
    }

    private func archive(_ sha256: String, team: String) async throws -> StoredArchive? {
        try await database.read { connection in try Self.archive(sha256, team: team, connection) }
    }

    static func archive(_ sha256: String, team: String, _ connection: any Connection) throws -> StoredArchive? {
        try connection.first("SELECT * FROM archives WHERE team = ? AND sha256 = ?", team, sha256).map(archive)
    }

    private static func archive(_ row: Row) throws -> StoredArchive {
        StoredArchive(
            team: try row.text("team"),
            sha256: try row.text("sha256"),
            byteCount: try row.integer("byte_count"),
            fileName: try row.text("file_name"),
            name: try row.text("name"),
            summary: try JSON.read(StoredArchive.Summary.self, row.text("summary")),
            created: try row.date("created"),
            createdBy: try row.text("created_by")
        )
    }
}

extension StoredArchive.Summary {
    init(_ summary: ArchiveSummary) {
        self.init(
            kind: summary.kind,
            version: summary.version,
            description: summary.description,
            specificationVersion: summary.specificationVersion,
            interface: summary.interfaceHash?.hexadecimal,
            made: summary.created,
            tool: summary.tool,
            features: summary.features?.map { .init(role: $0.role.rawValue, name: $0.name, type: $0.type) },
            encryption: summary.encryption.map {
                .init(keyID: $0.keyID, team: $0.team, suite: $0.suite, contentID: $0.contentID)
            },
            signers: summary.signers.map(\.hexadecimal)
        )
    }
}

extension Service {
    /// The length of a file that devices may fetch; `nil` when there is none.
    public func byteCount(of digest: BlobDigest) async throws -> Int? { try await blobs.byteCount(digest) }

    /// A URL at which devices can fetch a file for 15 minutes; `nil` when they fetch it from this server.
    public func temporaryAddress(of digest: BlobDigest) -> URL? {
        redirectsFiles ? blobs.temporaryAddress(digest, seconds: 900) : nil
    }

    /// The opened file; `nil` when it must be read by ``bytes(of:_:)``.
    public func openFile(_ digest: BlobDigest) throws -> BlobFile? { try blobs.openFile(digest) }

    /// The number of bytes of a file that are best read at a time.
    public var pieceByteCount: Int { blobs.pieceByteCount }

    /// Some bytes of a file.
    public func bytes(of digest: BlobDigest, _ range: Range<Int>) async throws -> [UInt8] {
        try await blobs.read(digest, range)
    }
}
