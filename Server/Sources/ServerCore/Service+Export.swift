public import Foundation
import ServerBlobs
import ServerDatabase

/// The result of an export.
public struct ExportSummary: Sendable, Equatable {
    /// The number of files that are new or have changed.
    public var written = 0
    /// The number of files that were there already.
    public var kept = 0
    /// The number of bytes that were written.
    public var byteCount = 0
    /// The date at which the first of the signed documents expires: export again before.
    public var expires: Date?
}

extension Service {
    /// Writes all files that devices fetch by name into a folder, for a static host, at the server's paths.
    ///
    /// Files that name others are written after those, and the timestamps last, each by a rename: a client that fetches
    /// during an export gets the old state or the new one. Files that the server does not have are left alone, because
    /// devices may be about to fetch them. The key service still needs the server: devices get keys of encrypted models
    /// only there.
    ///
    /// - Parameters:
    ///   - folder: the folder's path.
    ///   - teams: the teams to export; `nil`, the default, for all.
    /// - Returns: what was written.
    /// - Throws: a ``ServiceError`` for an unknown team or a missing file, or an error of the file system.
    public func export(to folder: String, teams: Set<String>? = nil) async throws -> ExportSummary {
        var summary = ExportSummary()
        let names = try await database.read { connection in
            try connection.query("SELECT id FROM teams ORDER BY id").map { try $0.text("id") }
        }
        for name in teams ?? [] where !names.contains(name) { throw ServiceError.notFound("team \"\(name)\"") }
        for team in names where teams?.contains(team) ?? true {
            try await exportBlobs(of: team, to: folder, &summary)
            let documents = try await database.read { connection in try Self.documents(of: team, connection) }
            for (path, bytes) in documents.files {
                try Self.write(bytes, to: folder + path, &summary)
            }
            summary.expires = [summary.expires, documents.expires].compactMap { $0 }.min()
        }
        return summary
    }

    /// The signed documents of a team with their paths, in the order of writing, and when the first expires.
    private static func documents(of team: String, _ connection: any Connection) throws
        -> (files: [(path: String, bytes: [UInt8])], expires: Date?)
    {
        var (files, last): ([(String, [UInt8])], [(String, [UInt8])]) = ([], [])
        var expires: Date?
        for row in try connection.query(
            "SELECT r.* FROM releases r JOIN apps a ON a.id = r.app WHERE a.team = ? ORDER BY r.app, r.collection, r.number",
            team
        ) {
            let (app, collection) = (try row.text("app"), try row.text("collection"))
            let name = "\(try row.text("sha256")).\(try row.integer("number")).json"
            files.append(
                ("/v1/trust/\(team)/targets/apps/\(app)/collections/\(collection)/\(name)", try row.bytes("document"))
            )
        }
        for row in try connection.query("SELECT * FROM trust_metadata WHERE team = ? ORDER BY version", team) {
            let (name, version) = (try row.text("name"), try row.integer("version"))
            if try row.bool("is_current") { expires = [expires, try row.date("expires")].compactMap { $0 }.min() }
            if name == "timestamp" {
                guard try row.bool("is_current") else { continue }
                last.append(("/v1/trust/\(team)/metadata/timestamp.json", try row.bytes("signed")))
            } else {
                files.append(("/v1/trust/\(team)/metadata/\(version).\(name).json", try row.bytes("signed")))
            }
        }
        for row in try connection.query(
            "SELECT p.* FROM policies p JOIN apps a ON a.id = p.app WHERE a.team = ? ORDER BY p.app, p.collection, p.environment",
            team
        ) {
            let (app, environment) = (try row.text("app"), try row.text("environment"))
            expires = [expires, try row.date("expires")].compactMap { $0 }.min()
            last.append(
                (
                    "/v1/apps/\(app)/environments/\(environment)/collections/\(try row.text("collection"))/policy.json",
                    try row.bytes("signed")
                )
            )
        }
        // Timestamps before policies: a policy names releases that the metadata must vouch for.
        return (files + last, expires)
    }

    private func exportBlobs(of team: String, to folder: String, _ summary: inout ExportSummary) async throws {
        let hashes = try await database.read { connection in
            try connection.query(
                "SELECT sha256 FROM archives WHERE team = ? UNION SELECT sha256 FROM vectors WHERE team = ?",
                team,
                team
            ).map { try $0.text("sha256") }
        }
        for hash in hashes.sorted() {
            guard let digest = BlobDigest(hash), let byteCount = try await blobs.byteCount(digest) else {
                throw ServiceError(.unavailable, "The file sha256:\(hash) of the team \"\(team)\" is missing.")
            }
            let path = folder + "/b/sha256/" + hash
            if Self.byteCount(path) == byteCount {
                summary.kept += 1
                continue
            }
            try await Self.replace(path) { handle in
                var position = 0
                while position < byteCount {
                    let end = min(position + 1 << 20, byteCount)
                    try handle.write(contentsOf: Data(try await blobs.read(digest, position..<end)))
                    position = end
                }
            }
            summary.written += 1
            summary.byteCount += byteCount
        }
    }

    // MARK: Files

    private static func byteCount(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }

    private static func write(_ bytes: [UInt8], to path: String, _ summary: inout ExportSummary) throws {
        if FileManager.default.contents(atPath: path) == Data(bytes) {
            summary.kept += 1
            return
        }
        try makeFolder(of: path)
        try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        summary.written += 1
        summary.byteCount += bytes.count
    }

    private static func makeFolder(of path: String) throws {
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path,
            withIntermediateDirectories: true
        )
    }

    /// Writes a file beside its destination, and moves it there when it is complete.
    private static func replace(_ path: String, _ body: (FileHandle) async throws -> Void) async throws {
        try makeFolder(of: path)
        let temporary = path + ".partial"
        guard FileManager.default.createFile(atPath: temporary, contents: nil) else {
            throw ServiceError(.unavailable, "\(temporary) cannot be written.")
        }
        do {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: temporary))
            do { try await body(handle) } catch {
                try? handle.close()
                throw error
            }
            try handle.synchronize()
            try handle.close()
            guard rename(temporary, path) == 0 else {
                throw ServiceError(.unavailable, "\(path) cannot be written.")
            }
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }
}
