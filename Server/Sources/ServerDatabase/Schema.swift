/// The statements that turn the previous version of the tables into the next.
public struct Migration: Sendable {
    /// The version of the tables after the migration.
    public let version: Int
    /// The statements in both dialects' common SQL, with `BYTES` for the type of bytes.
    public let statements: [String]

    /// Creates a migration.
    public init(version: Int, _ statements: String...) {
        self.version = version
        self.statements = statements
    }
}

extension Database {
    /// Brings the tables to the last of `migrations`, all of them or none.
    ///
    /// `part` names tables that have versions of their own, in letters a–z; by default `schema`. Throws
    /// ``DatabaseError/newer(found:known:)`` when a newer server wrote the database.
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
