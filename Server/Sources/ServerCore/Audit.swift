import Crypto
public import Foundation
import ServerDatabase

/// An entry of the audit log: who did what, when.
public struct AuditEntry: Sendable, Codable {
    public let sequence: Int
    public let at: Date
    public let team: String
    public let actor: String
    public let action: String
    public let subject: String
    /// The values before and after, and the reasons given.
    public let detail: [String: String]
    /// SHA-256 of the entry and of the hash of the one before it.
    public let hash: String
}

/// What was found when the chain of the audit log was computed anew.
public struct AuditVerification: Sendable, Codable {
    /// How many entries a team has.
    public let entries: Int
    /// The number and the hash of its last one: whoever keeps them can tell later whether anything before was rewritten.
    public let sequence: Int
    public let hash: String
}

/// The audit log: each entry carries the hash of the one before, so that none can be changed or taken out unseen.
enum Audit {
    static func record(
        _ connection: any Connection,
        at time: Date,
        _ actor: Principal,
        team: String,
        _ action: String,
        _ subject: String,
        _ detail: [String: String] = [:]
    ) throws {
        let last = try connection.first("SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1")
        let sequence = try (last?.integer("sequence") ?? 0) + 1
        let previous = try last?.bytes("hash") ?? [UInt8](repeating: 0, count: 32)
        let text = try JSON.text(detail)
        let milliseconds = time.milliseconds
        let hash = hash(
            previous,
            [String(sequence), String(milliseconds), team, actor.name, action, subject, text]
        )
        try connection.execute(
            "INSERT INTO audit (sequence, at, team, actor, action, subject, detail, previous, hash) "
                + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            sequence,
            milliseconds,
            team,
            actor.name,
            action,
            subject,
            text,
            previous,
            hash
        )
        try tellWebhooks(connection, at: time, actor, team: team, action, subject, detail, sequence: sequence)
    }

    /// SHA-256 of the hash before, and of each field after its length.
    private static func hash(_ previous: [UInt8], _ fields: [String]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: previous)
        for field in fields {
            hash.update(data: withUnsafeBytes(of: UInt64(field.utf8.count).bigEndian) { Array($0) })
            hash.update(data: Array(field.utf8))
        }
        return Array(hash.finalize())
    }

    static func entry(_ row: Row) throws -> AuditEntry {
        AuditEntry(
            sequence: try row.integer("sequence"),
            at: try row.date("at"),
            team: try row.text("team"),
            actor: try row.text("actor"),
            action: try row.text("action"),
            subject: try row.text("subject"),
            detail: try JSON.read([String: String].self, row.text("detail")),
            hash: try row.bytes("hash").hexadecimal
        )
    }

    /// Throws at the first entry that is not what was written.
    /// - Returns: what is known of a team's entries.
    @discardableResult
    static func verify(of team: String = "", _ connection: any Connection) throws -> AuditVerification {
        var last = AuditVerification(entries: 0, sequence: 0, hash: String(repeating: "0", count: 64))
        var previous = [UInt8](repeating: 0, count: 32)
        var sequence = 0
        for row in try connection.query("SELECT * FROM audit ORDER BY sequence") {
            sequence += 1
            let right = hash(
                previous,
                [
                    String(sequence), String(try row.integer("at")), try row.text("team"), try row.text("actor"),
                    try row.text("action"), try row.text("subject"), try row.text("detail"),
                ]
            )
            guard try row.integer("sequence") == sequence, try row.bytes("hash") == right else {
                throw ServiceError(
                    .conflict,
                    "The audit log was changed at its entry \(sequence) by something else than the server."
                )
            }
            previous = right
            if try row.text("team") == team {
                last = AuditVerification(entries: last.entries + 1, sequence: sequence, hash: right.hexadecimal)
            }
        }
        return last
    }
}
