import Foundation
public import ServerDatabase

/// The kinds of database that tests run over.
public enum DatabaseKind: String, Sendable, CaseIterable {
    case sqlite = "SQLite"
    case postgreSQL = "PostgreSQL"

    /// Both where `COREML_TEST_POSTGRESQL` names a database of PostgreSQL that tests may fill (`scripts/checks/postgres-tests`
    /// makes one), else SQLite.
    public static let available: [DatabaseKind] = TestDatabase.server == nil ? [.sqlite] : [.sqlite, .postgreSQL]

    /// The kind that tests use that are not about databases: PostgreSQL where there is one.
    public static let usual: DatabaseKind = TestDatabase.server == nil ? .sqlite : .postgreSQL
}

/// An empty database of a test, which several servers can open.
public struct TestDatabase: Sendable {
    public static let server = ProcessInfo.processInfo.environment["COREML_TEST_POSTGRESQL"]

    public let kind: DatabaseKind
    /// The path of the file, or the address of PostgreSQL with a schema of the test's own.
    public let place: String

    /// - Parameter folder: where a file is made.
    public init(_ kind: DatabaseKind = .usual, folder: String) async throws {
        self.kind = kind
        switch (kind, Self.server) {
        case (.postgreSQL, let server?):
            let schema = "t" + UUID().uuidString.replacing("-", with: "").lowercased()
            let database = try PostgreSQLDatabase(server, connections: 1)
            try await database.write { connection in _ = try connection.execute("CREATE SCHEMA \(schema)") }
            try await database.close()
            place = server + (server.contains("?") ? "&" : "?") + "options=-csearch_path%3D\(schema)"
        case (.postgreSQL, nil): preconditionFailure("COREML_TEST_POSTGRESQL is not set")
        case (.sqlite, _): place = folder + "/server.sqlite"
        }
    }

    /// Opens the database, as another server would.
    public func open(connections: Int = 4) throws -> any ServerDatabase.Database {
        switch kind {
        case .sqlite: try SQLiteDatabase(path: place)
        case .postgreSQL: try PostgreSQLDatabase(place, connections: connections)
        }
    }
}
