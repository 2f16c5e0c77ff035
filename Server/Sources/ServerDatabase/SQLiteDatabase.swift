import Foundation
import GRDB

/// A database in one file, for a single server.
public final class SQLiteDatabase: Database {
    private let pool: DatabasePool
    private let path: String

    /// Opens the database in a file, which is created when it does not exist.
    ///
    /// Writers wait up to 10 seconds for each other, and every transaction is flushed to the disk.
    public init(path: String) throws {
        self.path = path
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            // Removed records, such as keys that were moved, are overwritten in the file.
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        configuration.busyMode = .timeout(10)
        pool = try translating {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // Acknowledged changes survive a crash of the machine. Not in `prepareDatabase`, after which the pool sets
            // NORMAL.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return pool
        }
    }

    /// The names of SQLite's column types.
    public var dialect: Dialect { Dialect(bytes: "BLOB") }

    /// Runs `body` on a snapshot of the database.
    public func read<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R {
        try await translating { try await pool.read { database in try body(SQLiteConnection(database: database)) } }
    }

    /// Runs `body` in a transaction, one at a time.
    public func write<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R {
        try await translating { try await pool.write { database in try body(SQLiteConnection(database: database)) } }
    }

    /// Runs `body` while a lock file beside the database is held; `nil` when another holds it.
    public func exclusively<R: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R? {
        guard let lock = try FileLock(path: "\(path)-\(name).lock") else { return nil }
        defer { withExtendedLifetime(lock) {} }
        return try await body()
    }

    /// Writes the write-ahead log back to the file, where removed records are overwritten.
    ///
    /// Throws if another connection uses the database.
    public func settle() async throws {
        _ = try translating { try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
    }

    /// Closes the database.
    public func close() async throws { try translating { try pool.close() } }

    /// Copies a consistent state of the database to a new file while the database is in use.
    public func backUp(to path: String) throws {
        try translating {
            let target = try DatabaseQueue(path: path)
            try pool.backup(to: target)
            try target.close()
        }
    }
}

private struct SQLiteConnection: Connection {
    let database: GRDB.Database

    func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        try translating {
            try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments.map(\.stored)))
            return database.changesCount
        }
    }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        try translating {
            let statement = try database.cachedStatement(sql: sql)
            let names = Dictionary(statement.columnNames.enumerated().map { ($1, $0) }) { first, _ in first }
            let rows = try GRDB.Row.fetchCursor(statement, arguments: StatementArguments(arguments.map(\.stored)))
            var result: [Row] = []
            while let row = try rows.next() {
                result.append(Row(names: names, values: row.databaseValues.map(Value.init)))
            }
            return result
        }
    }
}

extension Value {
    fileprivate var stored: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .bytes(let value): Data(value).databaseValue
        }
    }

    fileprivate init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let value): self = .integer(value)
        case .double(let value): self = .real(value)
        case .string(let value): self = .text(value)
        case .blob(let value): self = .bytes(Array(value))
        }
    }
}

/// Runs `body` and turns SQLite's errors into the server's.
private func translating<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as GRDB.DatabaseError { throw DatabaseError(error) }
}

/// Runs `body` and turns SQLite's errors into the server's.
private func translating<R: Sendable>(_ body: () async throws -> R) async throws -> R {
    do { return try await body() } catch let error as GRDB.DatabaseError { throw DatabaseError(error) }
}

extension DatabaseError {
    fileprivate init(_ error: GRDB.DatabaseError) {
        let message = error.message ?? "\(error.resultCode)"
        self = error.resultCode == .SQLITE_CONSTRAINT ? .constraint(message) : .failure(message)
    }
}
