import Crypto
public import Foundation
import ServerDatabase

/// An entry of the audit log: who did what, and when.
public struct AuditEntry: Sendable, Codable {
    /// The entry's number in the server's log, from 1 on.
    public let sequence: Int
    /// The date of the action.
    public let at: Date
    /// The team that the action concerns; empty for actions on the whole server.
    public let team: String
    /// The name of who acted.
    public let actor: String
    /// The action, such as `deployment.pause`.
    public let action: String
    /// The identifier of the object of the action.
    public let subject: String
    /// Values before and after, and reasons given.
    public let detail: [String: String]
    /// The SHA-256, in hexadecimal digits, of the previous entry's hash and this entry's fields.
    public let hash: String
}

/// The result of verifying the hash chain of the audit log.
public struct AuditVerification: Sendable, Codable {
    /// The number of the team's entries.
    public let entries: Int
    /// The number of its last entry.
    ///
    /// With this number and the hash, later changes to earlier entries can be detected.
    public let sequence: Int
    /// The hash of its last entry, in hexadecimal digits.
    public let hash: String
}

/// The audit log, in which each entry contains the hash of the previous one, so that no change goes unnoticed.
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

    /// The SHA-256 of the previous hash, and of each field preceded by its length.
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

    /// Verifies the whole chain, and returns the number and the last of a team's entries.
    ///
    /// Throws at the first entry that differs from what was written.
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
                    "Entry \(sequence) of the audit log was not written by the server."
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
