import DeploymentArchives
import DeploymentPolicy
public import Foundation
public import ServerBlobs
import ServerDatabase

/// A delta (`.mldelta`), which makes one archive out of another, that a team has uploaded.
public struct StoredDelta: Sendable, Codable, Equatable {
    /// The team that it belongs to.
    public let team: String
    /// The SHA-256 of the delta in hexadecimal digits, which identifies it.
    public let sha256: String
    /// The length of the delta in bytes.
    public let byteCount: Int
    /// The hash of the archive that devices have.
    public let from: String
    /// The hash of the archive that they get.
    public let to: String
    /// The date of the upload.
    public let created: Date
    /// The name of who uploaded it.
    public let createdBy: String
}

/// The file names of deltas in the table of test vectors, which encode their archives.
enum DeltaName {
    static let mark = "mldelta "

    static func text(from: String, to: String) -> String { "\(mark)\(from) \(to)" }

    /// The archives that a name encodes; `nil` for the name of another file.
    static func read(_ text: String) -> (from: String, to: String)? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, text.hasPrefix(mark), parts[1].count == 64, parts[2].count == 64 else { return nil }
        return (parts[1], parts[2])
    }
}

extension Service {
    /// Stores a delta whose bytes have all arrived, if both its archives are the team's.
    ///
    /// Releases that are created afterwards list it. Its body is not checked, as it may be encrypted: devices check
    /// that the result is the signed archive, and fetch that otherwise. Throws a ``ServiceError`` when the delta is
    /// invalid, an archive is missing, or it is no smaller than the archive that it makes.
    public func finishDelta(
        _ upload: any BlobUpload,
        team: String,
        expecting expected: BlobDigest?,
        as actor: Principal
    ) async throws -> StoredDelta {
        try actor.require(.publish, in: team, app: actor.app)
        let (digest, byteCount) = try await upload.finish(expecting: expected)
        let summary: DeltaSummary
        do {
            let file = try await blobs.localFile(digest)
            defer { file.release() }
            summary = try DeltaSummary(contentsOf: file.path)
        } catch let error as ArchiveError {
            try await removeUnreferenced(digest)
            throw ServiceError.invalid("delta", Self.withoutPath(error.description))
        }
        let delta = StoredDelta(
            team: team,
            sha256: digest.description,
            byteCount: byteCount,
            from: summary.from.sha256,
            to: summary.to.sha256,
            created: now(),
            createdBy: actor.name
        )
        do {
            try await database.write { connection in
                for end in [summary.from, summary.to] {
                    guard try Self.archive(end.sha256, team: team, connection)?.byteCount == end.byteCount else {
                        throw ServiceError.invalid("delta", "The team has no archive \(end.sha256): upload it first.")
                    }
                }
                guard byteCount < summary.to.byteCount else {
                    throw ServiceError.invalid("delta", "The delta is not smaller than the archive that it makes.")
                }
                try Self.keep(delta, actor, connection)
            }
        } catch {
            try await removeUnreferenced(digest)
            throw error
        }
        return delta
    }

    private static func keep(_ delta: StoredDelta, _ actor: Principal, _ connection: any Connection) throws {
        guard
            try connection.first("SELECT sha256 FROM vectors WHERE team = ? AND sha256 = ?", delta.team, delta.sha256)
                == nil
        else { return }
        try connection.execute(
            "INSERT INTO vectors (team, sha256, byte_count, file_name, created, created_by) VALUES (?, ?, ?, ?, ?, ?)",
            delta.team,
            delta.sha256,
            delta.byteCount,
            DeltaName.text(from: delta.from, to: delta.to),
            delta.created.milliseconds,
            delta.createdBy
        )
        try Audit.record(
            connection,
            at: delta.created,
            actor,
            team: delta.team,
            "delta.upload",
            delta.sha256,
            ["from": delta.from, "to": delta.to, "bytes": String(delta.byteCount)]
        )
    }

    /// The deltas that make an archive, for its release: the smallest one from each source archive.
    static func deltas(
        to archive: String,
        team: String,
        _ connection: any Connection
    ) throws -> [ReleaseDocument.Delta] {
        var found: [String: ReleaseDocument.Blob] = [:]
        let rows = try connection.query(
            "SELECT sha256, byte_count, file_name FROM vectors WHERE team = ? AND file_name LIKE ? ORDER BY created DESC",
            team,
            "\(DeltaName.mark)% \(archive)"
        )
        for row in rows {
            guard let name = DeltaName.read(try row.text("file_name")), name.to == archive else { continue }
            let blob = ReleaseDocument.Blob(sha256: try row.text("sha256"), length: try row.integer("byte_count"))
            guard found.count < Limits.deltas || found[name.from] != nil else { break }
            if let known = found[name.from], known.length <= blob.length { continue }
            found[name.from] = blob
        }
        return found.sorted { $0.key < $1.key }.map { ReleaseDocument.Delta(from: $0.key, $0.value) }
    }
}
