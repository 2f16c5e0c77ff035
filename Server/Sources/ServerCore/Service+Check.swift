import Crypto
import DeploymentPolicy
import Foundation
public import ServerBlobs
import ServerDatabase
import UpdateFramework

/// The result of checking everything that the server stores.
public struct CheckReport: Sendable {
    /// The problems that were found; empty when there are none.
    public internal(set) var problems: [String] = []
    /// The number of checked objects of each kind.
    public internal(set) var counts: [String: Int] = [:]
    /// Files that no record names, left by uploads that a crash interrupted.
    public internal(set) var unreferenced: [BlobDigest] = []
}

extension Service {
    /// Checks all records, files and signatures.
    ///
    /// If `readsFiles` is true (the default), files are read and their hashes compared, not only their lengths.
    /// Throws only when the database cannot be read.
    public func check(readsFiles: Bool = true) async throws -> CheckReport {
        var report = CheckReport()
        do { try await verifyAudit() } catch let error as ServiceError { report.problems.append(error.description) }
        let audit = try await database.read { try $0.first("SELECT COUNT(*) AS n FROM audit")?.integer("n") ?? 0 }
        report.counts["entries of the audit log"] = audit
        try await checkFiles(readsFiles, &report)
        let (keys, vault, role, time) = (keys, vault, role, now())
        if role == .control {
            let found: [String] = try await askKeyService(.check, as: .server)
            report.problems += found.map { "key service: \($0)" }
            for team in try await database.read({ try $0.query("SELECT id FROM teams").map { try $0.text("id") } }) {
                let known: [ServiceKeyText] = try await askKeyService(.serviceKeys(team: team), as: .server)
                if known.isEmpty { report.problems.append("team \(team): the key service has none of its keys") }
            }
        }
        let records = try await database.read { connection in
            var report = CheckReport()
            for row in try connection.query("SELECT id FROM teams ORDER BY id") {
                let team = try row.text("id")
                report.counts["teams", default: 0] += 1
                if role != .control {
                    report.note("team \(team), keys of models") {
                        guard try Self.ring(of: team, vault, connection) != nil else {
                            throw ServiceError.notFound("key ring")
                        }
                    }
                }
                guard role != .keys else { continue }
                report.note("team \(team), signed metadata") {
                    try TeamTrust(team: team, connection, keys: keys, at: time).verify()
                }
            }
            try Self.checkReleases(connection, &report)
            try Self.checkPolicies(connection, keys, at: time, &report)
            return report
        }
        report.problems += records.problems
        report.counts.merge(records.counts) { $0 + $1 }
        return report
    }

    // MARK: Files

    private func checkFiles(_ readsFiles: Bool, _ report: inout CheckReport) async throws {
        let named = try await database.read { connection in
            try connection.query(
                "SELECT sha256, byte_count, team FROM archives UNION SELECT sha256, byte_count, team FROM vectors"
            ).map { (try $0.text("sha256"), try $0.integer("byte_count"), try $0.text("team")) }
        }
        var seen: Set<BlobDigest> = []
        for (name, byteCount, team) in named {
            guard let digest = BlobDigest(name) else {
                report.problems.append("team \(team): \"\(name)\" is not a hash")
                continue
            }
            guard seen.insert(digest).inserted else { continue }
            report.counts["files", default: 0] += 1
            do { try await checkFile(digest, byteCount, readsFiles) } catch let error as BlobError {
                report.problems.append("team \(team): \(error)")
            }
        }
        report.unreferenced = try await blobs.digests().filter { !seen.contains($0) }
    }

    private func checkFile(_ digest: BlobDigest, _ byteCount: Int, _ readsFile: Bool) async throws {
        guard let found = try await blobs.byteCount(digest) else { throw BlobError.missing(digest) }
        guard found == byteCount else {
            throw BlobError.failure("the file sha256:\(digest) has \(found) bytes, not \(byteCount)")
        }
        guard readsFile else { return }
        var hash = SHA256()
        var position = 0
        while position < byteCount {
            let end = min(position + 4 << 20, byteCount)
            hash.update(data: try await blobs.read(digest, position..<end))
            position = end
        }
        let right = BlobDigest(hash: hash.finalize())
        guard right == digest else { throw BlobError.wrongDigest(expected: digest, found: right) }
    }

    // MARK: Releases and policies

    private static func checkReleases(_ connection: any Connection, _ report: inout CheckReport) throws {
        for row in try connection.query("SELECT app, id, releases FROM collections ORDER BY app, id") {
            let (app, id) = (try row.text("app"), try row.text("id"))
            report.counts["collections", default: 0] += 1
            let releases = try connection.query(
                "SELECT number, document, sha256 FROM releases WHERE app = ? AND collection = ? ORDER BY number",
                app,
                id
            )
            let count = try row.integer("releases")
            if try releases.map({ try $0.integer("number") }) != Array(0..<count).map({ $0 + 1 }) {
                report.problems.append("collection \(app)/\(id): its releases are not 1 to \(count)")
            }
            for release in releases {
                report.counts["releases", default: 0] += 1
                let number = try release.integer("number")
                report.note("release \(app)/\(id)/\(number)") {
                    let bytes = try release.bytes("document")
                    guard try sha256(bytes) == release.text("sha256") else {
                        throw ServiceError(.conflict, "Its document does not have the hash in its record.")
                    }
                    let archives = Set(try ReleaseDocument(bytes).models.map(\.archive.sha256))
                    let named = try connection.query(
                        "SELECT sha256 FROM release_archives WHERE app = ? AND collection = ? AND number = ?",
                        app,
                        id,
                        number
                    ).map { try $0.text("sha256") }
                    guard Set(named) == archives else {
                        throw ServiceError(.conflict, "Its archives are not those of its document.")
                    }
                }
            }
        }
    }

    private static func checkPolicies(
        _ connection: any Connection,
        _ keys: any SigningKeyStore,
        at time: Date,
        _ report: inout CheckReport
    ) throws {
        for row in try connection.query("SELECT * FROM policies ORDER BY app, collection, environment") {
            let place = try ["app", "collection", "environment"].map { try row.text($0) }
            report.counts["policies", default: 0] += 1
            report.note("policy \(place.joined(separator: "/"))") {
                guard let app = try app(place[0], connection) else { throw ServiceError.notFound("app \(place[0])") }
                let document = try SignedDocument(parsing: try row.bytes("signed"), role: "policy")
                let policy = try Policy(try document.message(of: "policy"))
                let trust = try TeamTrust(team: app.team, connection, keys: keys, at: time)
                try document.verify(try trust.keys(ofDelegated: TeamTrust.directorRole(app.id)))
                let stored = try connection.first("SELECT id FROM deployments WHERE id = ?", policy.deployment)
                guard try policy.version == row.integer("version"), stored != nil,
                    try policy.deployment == row.text("deployment")
                else { throw ServiceError(.conflict, "It differs from its record.") }
                let newest = try connection.first(
                    "SELECT MAX(version) AS n FROM live WHERE app = ? AND collection = ? AND environment = ?",
                    place[0],
                    place[1],
                    place[2]
                )
                guard try newest?.optionalInteger("n") ?? 0 <= policy.version else {
                    throw ServiceError(.conflict, "A later one was live already.")
                }
            }
        }
    }
}

extension CheckReport {
    /// Records an error that `body` throws as a problem of `subject`.
    fileprivate mutating func note(_ subject: String, _ body: () throws -> Void) {
        do { try body() } catch { problems.append("\(subject): \(error)") }
    }
}
