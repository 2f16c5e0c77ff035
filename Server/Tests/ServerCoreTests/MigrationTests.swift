import DeploymentKeys
import Foundation
import ServerBlobs
import ServerCore
import ServerDatabase
import TestDatabases
import Testing

/// Databases of older servers.
@Suite struct MigrationTests {
    /// The contents that `version-1.sql` has put into the tables of the first version survive all later migrations.
    @Test func aDatabaseOfTheFirstVersionGoesOn() async throws {
        let server = try await SampleServer()
        let folder = server.folder + "/old"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let place = try await TestDatabase(folder: folder)
        let old = try place.open()
        try await old.migrate(Array(migrations.prefix(1)))
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("version-1.sql")
        let statements = try String(contentsOf: file, encoding: .utf8).split(separator: ";\n").map(String.init)
        try await old.write { connection in
            for statement in statements where !statement.allSatisfy(\.isWhitespace) {
                try connection.execute(statement)
            }
        }
        try await old.close()
        let service = try await Service(
            database: try place.open(),
            blobs: try FolderBlobStore(folder: folder + "/blobs"),
            keys: try SigningKeyFolder(folder: folder + "/keys"),
            vault: try KeyVault(folder: folder + "/vault", strength: .file)
        )
        #expect(try await service.firstAdministratorLink() != nil)
        let session = try await service.signIn(link: try await service.administratorLink())
        let administrator = try await service.principal(session: session.secret).0
        #expect(administrator.name == "admin@localhost")
        #expect(try await service.team("acme", as: administrator).name == "Acme")
        #expect(try await service.app("shop", as: administrator).environments == ["production", "staging"])
        let collection = try await service.collection("Flowers", app: "shop", as: administrator)
        #expect(collection.models == ["Classifier", "Effects"])
        #expect(collection.releases == 0)
        #expect(try await service.tokens(of: "acme", as: administrator).map(\.name) == ["ci"])
        let scope = try await place.open().read { connection in
            try connection.first("SELECT SUM(count) AS n FROM report_counts")?.integer("n")
        }
        #expect(scope == 42)
    }

    @Test func aDatabaseOfANewerServerIsLeftAlone() async throws {
        let server = try await SampleServer()
        let database = try server.database.open()
        try await database.write { _ = try $0.execute("UPDATE schema_version SET version = 1000") }
        await #expect(throws: DatabaseError.self) {
            _ = try await Service(
                database: database,
                blobs: try FolderBlobStore(folder: server.folder + "/blobs"),
                keys: try SigningKeyFolder(folder: server.folder + "/keys"),
                vault: try KeyVault(folder: server.folder + "/vault", strength: .file)
            )
        }
    }
}
