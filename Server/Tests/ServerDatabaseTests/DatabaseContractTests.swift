import Foundation
import ServerDatabase
import TestDatabases
import Testing

/// The server's requirements of every kind of database.
@Suite struct DatabaseContractTests {
    /// A database with a table of counters.
    final class Sample {
        let folder: String
        let place: TestDatabase
        let database: any Database

        init(_ kind: DatabaseKind) async throws {
            folder = FileManager.default.temporaryDirectory.path + "/database-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            place = try await TestDatabase(kind, folder: folder)
            database = try place.open()
            try await database.migrate(Self.migrations)
        }

        static let migrations = [
            Migration(
                version: 1,
                "CREATE TABLE counters (id TEXT NOT NULL PRIMARY KEY, count BIGINT NOT NULL)",
                """
                CREATE TABLE things (
                    id BIGINT NOT NULL PRIMARY KEY, words TEXT, content BYTES, share DOUBLE PRECISION,
                    counter TEXT REFERENCES counters (id)
                )
                """
            )
        ]

        static let second = Migration(version: 2, "ALTER TABLE counters ADD COLUMN note TEXT")

        deinit { try? FileManager.default.removeItem(atPath: folder) }
    }

    @Test func whatSQLiteAcknowledgesIsOnTheDisk() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/durable-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let database = try SQLiteDatabase(path: path)
        let level = try await database.write { try $0.first("PRAGMA synchronous")?.integer("synchronous") }
        // 2: FULL, which synchronizes the log at each commit.
        #expect(level == 2)
        try await database.close()
    }

    @Test(arguments: DatabaseKind.available)
    func valuesComeBackAsTheyWere(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        let texts: [String?] = [
            nil, "", "it's \"quoted\" \\ ? $1 -- /*", "äöü 花 🌷 \u{7f}", String(repeating: "x", count: 1 << 20),
        ]
        let contents: [[UInt8]?] = [
            nil, [], [0], Array(0...255), [0x5C, 0x78, 0x30, 0x30], [UInt8](repeating: 7, count: 3 << 20),
        ]
        let numbers: [Int64] = [0, 1, -1, .max, .min, 1 << 53]
        let shares: [Double?] = [nil, 0, -0.1, 1e300, .leastNonzeroMagnitude, .pi]
        for (index, number) in numbers.enumerated() {
            let (text, content) = (texts[index % texts.count], contents[index % contents.count])
            let share = shares[index % shares.count]
            let row = try await database.write { connection in
                try connection.execute(
                    "INSERT INTO things (id, words, content, share) VALUES (?, ?, ?, ?)",
                    number,
                    text,
                    content,
                    share
                )
                return try #require(try connection.first("SELECT * FROM things WHERE id = ?", number))
            }
            #expect(try row["id"] == .integer(number))
            #expect(try row.optionalText("words") == text)
            #expect(try row.optionalBytes("content") == content)
            #expect(try row["share"] == share.map { .real($0) } ?? .null)
            #expect(try row["counter"] == .null)
        }
    }

    @Test(arguments: DatabaseKind.available)
    func questionMarksInLiteralsAreNoArguments(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        let row = try await database.read { connection in
            try connection.first(
                "SELECT 'a?''?' AS \"is it?\", CAST(? AS BIGINT) AS n -- why?\n WHERE ? = 'x?'",
                7,
                "x?"
            )
        }
        #expect(try row?["is it?"] == .text("a?'?"))
        #expect(try row?["n"] == .integer(7))
    }

    @Test(arguments: DatabaseKind.available)
    func statementsSayHowManyRowsTheyChange(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        let counts = try await database.write { connection in
            var counts: [Int] = []
            for id in ["a", "b"] {
                counts.append(try connection.execute("INSERT INTO counters (id, count) VALUES (?, 1)", id))
            }
            counts.append(try connection.execute("UPDATE counters SET count = count + 1"))
            counts.append(try connection.execute("UPDATE counters SET count = 0 WHERE id = 'none'"))
            counts.append(
                try connection.execute(
                    "INSERT INTO counters (id, count) VALUES ('a', 5) ON CONFLICT (id) DO UPDATE "
                        + "SET count = counters.count + excluded.count"
                )
            )
            counts.append(try connection.execute("DELETE FROM counters WHERE id = 'b'"))
            return counts
        }
        #expect(counts == [1, 1, 2, 0, 1, 1])
        let row = try await database.read { connection in
            try connection.first("SELECT COUNT(*) AS n, SUM(count) AS total FROM counters")
        }
        #expect(try row?.integer("n") == 1)
        #expect(try row?.integer("total") == 7)
    }

    @Test(arguments: DatabaseKind.available)
    func whatThrowsChangesNothing(_ kind: DatabaseKind) async throws {
        struct Stop: Error {}
        let sample = try await Sample(kind)
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        await #expect(throws: Stop.self) {
            try await database.write { connection in
                try connection.execute("INSERT INTO counters (id, count) VALUES ('a', 1)")
                throw Stop()
            }
        }
        let rows = try await database.read { connection in try connection.query("SELECT * FROM counters") }
        #expect(rows.isEmpty)
    }

    @Test(arguments: DatabaseKind.available)
    func refusedRecordsAreNamedAsSuch(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        let statements = [
            "INSERT INTO counters (id, count) VALUES ('a', 1)", "INSERT INTO things (id, counter) VALUES (1, 'none')",
            "INSERT INTO counters (id, count) VALUES ('b', NULL)",
        ]
        try await database.write { connection in _ = try connection.execute(statements[0]) }
        for statement in statements {
            let error = await #expect(throws: DatabaseError.self) {
                try await database.write { connection in _ = try connection.execute(statement) }
            }
            guard case .constraint = error else {
                Issue.record("\(statement): \(String(describing: error))")
                continue
            }
        }
        // The database goes on.
        #expect(try await database.read { try $0.query("SELECT * FROM counters").count } == 1)
    }

    @Test(arguments: DatabaseKind.available)
    func mistakesInStatementsAreErrors(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        for statement in ["SELECT * FROM nothing", "SELEKT", "SELECT 1 AS a WHERE"] {
            await #expect(throws: DatabaseError.self) { try await database.read { _ = try $0.query(statement) } }
        }
        await #expect(throws: DatabaseError.self) {
            try await database.read { _ = try $0.execute("INSERT INTO counters (id, count) VALUES ('a', 1)") }
        }
        #expect(try await database.read { try $0.query("SELECT * FROM counters").isEmpty })
    }

    @Test(arguments: DatabaseKind.available)
    func readersSeeOneState(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        let (database, other) = (sample.database, try sample.place.open())
        try await database.write { connection in
            for id in ["a", "b"] { try connection.execute("INSERT INTO counters (id, count) VALUES (?, 50)", id) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<100 {
                    try await other.write { connection in
                        try connection.execute("UPDATE counters SET count = count - 1 WHERE id = 'a'")
                        try connection.execute("UPDATE counters SET count = count + 1 WHERE id = 'b'")
                    }
                }
            }
            group.addTask {
                for _ in 0..<100 {
                    let sum = try await database.read { connection in
                        try ["a", "b"].map {
                            try connection.first("SELECT count FROM counters WHERE id = ?", $0)?.integer("count") ?? 0
                        }.reduce(0, +)
                    }
                    #expect(sum == 100)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: DatabaseKind.available)
    func writersOfTwoServersContradictEachOtherNever(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        let databases = [sample.database, try sample.place.open()]
        try await databases[0].write { connection in
            _ = try connection.execute("INSERT INTO counters (id, count) VALUES ('n', 0)")
        }
        // Writes depend on reads: lost updates and duplicate rows would show.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<16 {
                let database = databases[index % 2]
                group.addTask {
                    for _ in 0..<12 {
                        try await database.write { connection in
                            let row = try connection.first("SELECT count FROM counters WHERE id = 'n'")
                            let next = try (row?.integer("count") ?? 0) + 1
                            try connection.execute("UPDATE counters SET count = ? WHERE id = 'n'", next)
                            try connection.execute("INSERT INTO things (id) VALUES (?)", next)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let rows = try await databases[1].read { try $0.query("SELECT id FROM things ORDER BY id") }
        #expect(try rows.map { try $0.integer("id") } == Array(1...192))
    }

    @Test(arguments: DatabaseKind.available)
    func serversThatStartTogetherMigrateOnce(_ kind: DatabaseKind) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/database-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let place = try await TestDatabase(kind, folder: folder)
        let databases = try (0..<4).map { _ in try place.open(connections: 1) }
        // The order in which two servers create parts of a table is arbitrary; all must be there.
        for part in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let migrations = [Migration(version: 1, "CREATE TABLE \(part)_things (id BIGINT PRIMARY KEY)")]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for database in databases { group.addTask { try await database.migrate(migrations, of: part) } }
                try await group.waitForAll()
            }
            let rows = try await databases[0].read { try $0.query("SELECT version FROM \(part)_version") }
            #expect(try rows.map { try $0.integer("version") } == [1])
        }
        try await databases[0].migrate(Sample.migrations)
        try await databases[0].migrate(Sample.migrations + [Sample.second])
        await #expect(throws: DatabaseError.self) { try await databases[1].migrate(Sample.migrations) }
    }

    @Test(arguments: DatabaseKind.available)
    func whatIsExclusiveRunsOnceAtATime(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        let databases = [sample.database, try sample.place.open()]
        let (inside, runs) = (Counter(), Counter())
        // Opens when everybody has entered or been sent away: until then the first stays inside.
        let everybody = Barrier(12)
        let skipped = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<12 {
                let database = databases[index % 2]
                group.addTask {
                    var isSentAway = true
                    defer { if isSentAway { everybody.arrive() } }
                    let done = try await database.exclusively("renewal") {
                        #expect(inside.add(1) == 1)
                        await everybody.pass()
                        _ = inside.add(-1)
                        _ = runs.add(1)
                        return true
                    }
                    isSentAway = done == nil
                    return done == nil
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(runs.value == 1)
        #expect(skipped == 11)
        let other = databases[1]
        let both = try await databases[0].exclusively("renewal") {
            try await other.exclusively("rollouts") { "different names do not meet" }
        }
        #expect(both == "different names do not meet")
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await other.exclusively("renewal") { throw Stop() } }
        #expect(try await databases[0].exclusively("renewal") { 1 } == 1)
    }

    @Test(arguments: DatabaseKind.available)
    func aClosedDatabaseSaysSo(_ kind: DatabaseKind) async throws {
        let sample = try await Sample(kind)
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        try await database.close()
        await #expect(throws: (any Error).self) { try await database.read { _ = try $0.query("SELECT 1 AS a") } }
    }
}
