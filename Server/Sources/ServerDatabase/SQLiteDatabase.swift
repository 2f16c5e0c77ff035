import Foundation
import GRDB

/// A database in one file, for servers that stand alone.
public final class SQLiteDatabase: Database {
    private let pool: DatabasePool
    private let path: String

    public init(path: String) throws {
        self.path = path
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            // What was removed, such as keys that moved, is overwritten in the file.
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        configuration.busyMode = .timeout(10)
        pool = try translating {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // What is acknowledged outlives a crash of the machine.  Not in `prepareDatabase`: the pool sets NORMAL after that.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return pool
        }
    }

    public var dialect: Dialect { Dialect(bytes: "BLOB") }

    public func read<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R {
        try await translating { try await pool.read { database in try body(SQLiteConnection(database: database)) } }
    }

    public func write<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R {
        try await translating { try await pool.write { database in try body(SQLiteConnection(database: database)) } }
    }

    public func exclusively<R: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R? {
        guard let lock = try FileLock(path: "\(path)-\(name).lock") else { return nil }
        defer { withExtendedLifetime(lock) {} }
        return try await body()
    }

    /// Writes what was written ahead into the file, where what was removed is overwritten.
    /// - Throws: when somebody else uses the database.
    public func settle() async throws {
        _ = try translating { try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
    }

    public func close() async throws { try translating { try pool.close() } }

    /// Copies the database, as it is at one moment, to a new file while it is used.
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

/// Runs `body`; SQLite's errors leave it as the server's.
private func translating<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as GRDB.DatabaseError { throw DatabaseError(error) }
}

/// Runs `body`; SQLite's errors leave it as the server's.
private func translating<R: Sendable>(_ body: () async throws -> R) async throws -> R {
    do { return try await body() } catch let error as GRDB.DatabaseError { throw DatabaseError(error) }
}

extension DatabaseError {
    fileprivate init(_ error: GRDB.DatabaseError) {
        let message = error.message ?? "\(error.resultCode)"
        self = error.resultCode == .SQLITE_CONSTRAINT ? .constraint(message) : .failure(message)
    }
}
