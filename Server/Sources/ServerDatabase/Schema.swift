/// A version of the tables: what turns those of the version before into them.
public struct Migration: Sendable {
    public let version: Int
    /// The statements, in the words of both dialects but for `BYTES`.
    public let statements: [String]

    public init(version: Int, _ statements: String...) {
        self.version = version
        self.statements = statements
    }
}

extension Database {
    /// Brings the tables to the last of `migrations`, all of them or none.
    /// - Parameter part: the name of tables that have versions of their own, of letters a–z.
    /// - Throws: when a newer server wrote the database.
    public func migrate(_ migrations: [Migration], of part: String = "schema") async throws {
        let (bytes, last) = (dialect.bytes, migrations.last?.version ?? 0)
        try await write { connection in
            try connection.execute("CREATE TABLE IF NOT EXISTS \(part)_version (version BIGINT NOT NULL)")
            let rows = try connection.query("SELECT version FROM \(part)_version")
            let found = try rows.first.map { try $0.integer("version") } ?? 0
            guard found <= last else { throw DatabaseError.newer(found: found, known: last) }
            for migration in migrations where migration.version > found {
                for statement in migration.statements {
                    try connection.execute(statement.replacing("BYTES", with: bytes))
                }
            }
            if rows.isEmpty {
                try connection.execute("INSERT INTO \(part)_version (version) VALUES (?)", last)
            } else {
                try connection.execute("UPDATE \(part)_version SET version = ?", last)
            }
        }
    }
}
