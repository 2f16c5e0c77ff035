import Foundation
import ServerDatabase
import TestDatabases
import Testing

/// Properties specific to PostgreSQL.
@Suite struct PostgreSQLTests {
    @Test(arguments: [
        "postgres://u:secret@[broken", "postgres://u:secret@h/d?nonsense=1", "mysql://u:secret@h/d",
        "host=h password=secret nonsense", "", "postgres://u:secret%zz@h/d",
    ])
    func addressesThatAreNoneAreRefusedWithoutTheirPassword(_ text: String) {
        let error = #expect(throws: DatabaseError.self) { try PostgreSQLDatabase(text) }
        #expect(error?.description.contains("secret") == false)
    }

    @Test func aServerThatIsNotThereIsNamedWithoutThePassword() async throws {
        let database = try PostgreSQLDatabase("postgres://user:secret@127.0.0.1:9/models?connect_timeout=2")
        let error = await #expect(throws: DatabaseError.self) {
            try await database.read { _ = try $0.query("SELECT 1 AS a") }
        }
        #expect(error?.description.contains("127.0.0.1:9/models") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(.enabled(if: TestDatabase.server != nil))
    func connectionsThatWereEndedAreMadeAnew() async throws {
        let database = try PostgreSQLDatabase(try #require(TestDatabase.server), connections: 1)
        func process() async throws -> Int {
            try await database.read { try $0.first("SELECT pg_backend_pid() AS id")?.integer("id") ?? 0 }
        }
        func end(_ process: Int) async throws {
            let other = try PostgreSQLDatabase(try #require(TestDatabase.server), connections: 1)
            // It returns when the process has ended, or after two minutes.
            let ended = try await other.read {
                try $0.first(
                    "SELECT CAST(pg_terminate_backend(CAST(? AS INT), 120000) AS TEXT) AS ended",
                    process
                )?.text("ended")
            }
            #expect(ended == "true")
        }
        let first = try await process()
        try await end(first)
        let second = try await process()
        #expect(second != first)
        // In the middle of a transaction: it begins again as a whole.
        let place = try await TestDatabase(.postgreSQL, folder: "")
        let filled = try place.open(connections: 1)
        try await filled.write { _ = try $0.execute("CREATE TABLE n (i BIGINT NOT NULL)") }
        let server = try PostgreSQLDatabase(try #require(TestDatabase.server), connections: 1)
        let attempts = Counter()
        try await filled.write { connection in
            try connection.execute("INSERT INTO n (i) VALUES (1)")
            if attempts.add(1) == 1 {
                _ = try connection.query("SELECT pg_terminate_backend(pg_backend_pid()) AS ended")
            }
        }
        #expect(attempts.value == 2)
        #expect(try await filled.read { try $0.query("SELECT i FROM n").count } == 1)
        try await server.close()
    }

    @Test(.enabled(if: TestDatabase.server != nil))
    func moreTransactionsThanConnectionsWaitForTheirTurn() async throws {
        let database = try PostgreSQLDatabase(try #require(TestDatabase.server), connections: 2)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<100 {
                group.addTask {
                    try await database.read { try $0.first("SELECT CAST(? AS BIGINT) AS n", index)?.integer("n") ?? 0 }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 4950)
    }

    /// As while one server is replaced by a newer one.
    @Test(.enabled(if: TestDatabase.server != nil))
    func statementsThatWereMadeForOlderTablesAreMadeAnew() async throws {
        let place = try await TestDatabase(.postgreSQL, folder: "")
        let (old, new) = (try place.open(connections: 1), try place.open(connections: 1))
        try await old.write { connection in
            try connection.execute("CREATE TABLE n (i BIGINT NOT NULL)")
            try connection.execute("INSERT INTO n (i) VALUES (1)")
        }
        for _ in 0..<6 { _ = try await old.read { try $0.query("SELECT * FROM n") } }
        try await new.write { _ = try $0.execute("ALTER TABLE n ADD COLUMN note TEXT") }
        let row = try #require(try await old.read { try $0.first("SELECT * FROM n") })
        #expect(try row["note"] == .null)
    }

    @Test(.enabled(if: TestDatabase.server != nil))
    func textsWithNULAreRefused() async throws {
        let database = try PostgreSQLDatabase(try #require(TestDatabase.server), connections: 1)
        await #expect(throws: DatabaseError.self) {
            try await database.read { _ = try $0.query("SELECT CAST(? AS TEXT) AS t", "a\0b") }
        }
    }
}
