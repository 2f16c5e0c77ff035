import DeploymentArchives
import DeploymentPolicy
public import Foundation
public import ServerBlobs
import ServerDatabase

/// What makes an archive of another (`.mldelta`), as a team has uploaded it.
public struct StoredDelta: Sendable, Codable, Equatable {
    public let team: String
    public let sha256: String
    public let byteCount: Int
    /// The hashes of the archive that devices have, and of the one that they get.
    public let from: String
    public let to: String
    public let created: Date
    public let createdBy: String
}

/// How deltas stand in the table of the files that are no archives: by their name, which says what they are for.
enum DeltaName {
    static let mark = "mldelta "

    static func text(from: String, to: String) -> String { "\(mark)\(from) \(to)" }

    /// What a name says; `nil` for the name of something else.
    static func read(_ text: String) -> (from: String, to: String)? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, text.hasPrefix(mark), parts[1].count == 64, parts[2].count == 64 else { return nil }
        return (parts[1], parts[2])
    }
}

extension Service {
    /// Stores a delta whose bytes have all arrived, if it makes an archive of the team of another one.
    ///
    /// Releases that are made afterwards list it.  What is in it is not looked at, as that may be encrypted: devices check that the
    /// result is the archive that was signed, and fetch that where it is not.
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
                    throw ServiceError.invalid("delta", "The delta is no smaller than the archive that it makes.")
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

    /// The deltas that make an archive, for its release: of each archive that they start from the smallest one.
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
