public import DeploymentKeys
import Foundation
public import ServerDatabase

extension KeyHost {
    /// The tables of a key service besides the key rings, in the order in which rows refer to each other.
    private static let tables: [(name: String, columns: [String], key: String)] = [
        ("devices", ["team", "device", "app", "status", "record", "enrolled"], "team, device"),
        ("key_holders", ["team", "key_id", "content", "device"], "team, key_id, content, device"),
        (
            "leases", ["serial", "team", "app", "device", "key_id", "content", "not_before", "not_after"], "serial"
        ),
        (
            "enrolment_tokens",
            [
                "team", "id", "app", "algorithm", "public_key", "not_after", "remaining", "created", "created_by",
            ], "team, id"
        ),
        ("enrolment_conditions", ["app", "requires_token", "device_limit"], "app"),
        ("revocations", ["team", "version", "changed", "devices", "keys", "leases"], "team"),
    ]

    /// Moves the keys of models and the records of devices from a server with both roles to a key service.
    ///
    /// Everything is in the new place before anything is removed from the old one.
    ///
    /// - Parameters:
    ///   - source: the database of the server.
    ///   - old: the vault of the server.
    ///   - target: the database of the key service.
    ///   - new: the vault of the key service.
    /// - Returns: the number of teams.
    /// - Throws: a ``ServiceError`` when a database has another role, or the key service has other keys of a team.
    public static func move(
        from source: any Database,
        vault old: KeyVault,
        to target: any Database,
        vault new: KeyVault
    ) async throws -> Int {
        switch try await Service.storedRole(source) {
        case .all: break
        case .control:
            throw ServiceError.conflict("The keys of this server's models are in a separate key service already.")
        case .keys: throw ServiceError.conflict("These are the records of a key service, which cannot be moved.")
        case nil: throw ServiceError.conflict("There is no database of a server to move keys from.")
        }
        // This refuses a target that is something else.
        _ = try await service(database: target, vault: new)
        let rows = try await source.read { connection in
            var rows = [
                "teams": try connection.query("SELECT id, name, created FROM teams"),
                "apps": try connection.query("SELECT id, team, name, environments, created FROM apps"),
                "key_rings": try connection.query("SELECT team, sealed FROM key_rings"),
            ]
            for table in tables {
                rows[table.name] = try connection.query(
                    "SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name)"
                )
            }
            return rows
        }
        try await target.write { connection in
            func insert(_ table: String, _ columns: [String], _ key: String) throws {
                let places = Array(repeating: "?", count: columns.count).joined(separator: ", ")
                for row in rows[table] ?? [] {
                    try connection.execute(
                        "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places)) "
                            + "ON CONFLICT (\(key)) DO NOTHING",
                        columns.map { try row[$0] }
                    )
                }
            }
            try insert("teams", ["id", "name", "created"], "id")
            try insert("apps", ["id", "team", "name", "environments", "created"], "id")
            for row in rows["key_rings"] ?? [] {
                let ring = try old.open(row.bytes("sealed"))
                guard let there = try Service.ring(of: ring.team, new, connection) else {
                    try Service.store(ring, new, connection)
                    continue
                }
                // Left by an interrupted move, or those of another server's team with the same name.
                guard there.epochs.map(\.keyID) == ring.epochs.map(\.keyID) else {
                    throw ServiceError.conflict("The key service has other keys of a team \"\(ring.team)\" already.")
                }
            }
            for table in tables { try insert(table.name, table.columns, table.key) }
        }
        let time = Date()
        let count = try await source.write { connection in
            let teams = try connection.query("SELECT id FROM teams").map { try $0.text("id") }
            for table in tables { try connection.execute("DELETE FROM \(table.name)") }
            try connection.execute("DELETE FROM key_rings")
            try connection.execute(
                "INSERT INTO server_role (id, role) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET role = excluded.role",
                ServerRole.control.rawValue
            )
            for team in teams { try Audit.record(connection, at: time, .server, team: team, "key.move", team) }
            return teams.count
        }
        try await (source as? SQLiteDatabase)?.settle()
        return count
    }
}
