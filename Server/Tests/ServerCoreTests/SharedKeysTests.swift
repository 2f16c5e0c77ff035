import DeploymentKeys
import DeploymentPolicy
import Foundation
import ServerBlobs
import ServerCore
import ServerDatabase
import TestDatabases
import Testing
import UpdateFramework

/// Signing keys in the database, checks, and what a restored server does.
@Suite struct SharedKeysTests {
    private func service(_ server: SampleServer, vault: KeyVault, database: TestDatabase) async throws -> Service {
        let clock = server.clock
        return try await Service(
            database: try database.open(),
            blobs: try FolderBlobStore(folder: server.folder + "/blobs", removesLeftovers: false),
            keys: SealedSigningKeys(vault: vault),
            vault: vault,
            now: { clock.now }
        )
    }

    @Test func whatOneServerSignsAnotherWithTheSameVaultSignsOn() async throws {
        let server = try await SampleServer()
        let folder = server.folder + "/shared"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let database = try await TestDatabase(folder: folder)
        let vault = try KeyVault(folder: folder + "/first", strength: .file)
        let copy = try KeyVault.restore(
            vault.backup(passphrase: Array("a long passphrase".utf8)),
            passphrase: Array("a long passphrase".utf8),
            to: folder + "/second",
            strength: .file
        )
        let first = try await service(server, vault: vault, database: database)
        let second = try await service(server, vault: copy, database: database)
        let link = try #require(try await first.firstAdministratorLink())
        let session = try await first.signIn(link: link)
        let administrator = try await first.principal(session: session.secret).0
        _ = try await first.createTeam("acme", name: "", as: administrator)
        let owner = try await second.principal(session: session.secret).0
        _ = try await second.createApp("shop", team: "acme", name: "", as: owner)
        for (index, replica) in [first, second].enumerated() {
            _ = try await replica.createCollection(
                "C\(index)",
                app: "shop",
                description: "",
                models: ["M"],
                as: owner
            )
        }
        #expect(try await first.check().problems.isEmpty)
        #expect(try await second.check().problems.isEmpty)
        // Keys lie nowhere in the clear.
        let rows = try await database.open().read { try $0.query("SELECT sealed FROM signing_keys") }
        #expect(rows.count == 7)
        for row in rows {
            #expect(!String(decoding: try row.bytes("sealed"), as: UTF8.self).contains("PRIVATE"))
        }
        let other = try KeyVault(folder: folder + "/other", strength: .file)
        await #expect(throws: DeploymentKeyError.self) {
            _ = try await self.service(server, vault: other, database: database)
        }
    }

    @Test func aSealedKeyThatWasMovedToAnotherRoleDoesNotOpen() async throws {
        let server = try await SampleServer()
        let folder = server.folder + "/shared"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let database = try await TestDatabase(folder: folder)
        let vault = try KeyVault(folder: folder + "/vault", strength: .file)
        let service = try await service(server, vault: vault, database: database)
        let link = try #require(try await service.firstAdministratorLink())
        let administrator = try await service.principal(session: service.signIn(link: link).secret).0
        _ = try await service.createTeam("acme", name: "", as: administrator)
        try await database.open().write { connection in
            try connection.execute("DELETE FROM signing_keys WHERE role = 'timestamp'")
            try connection.execute("UPDATE signing_keys SET role = 'timestamp' WHERE role = 'snapshot'")
        }
        await #expect(throws: DatabaseError.self) { try await service.renewSignatures(margin: 48 * 3600) }
    }

    @Test func aCheckNamesWhatIsNotAsItMustBe() async throws {
        let server = try await SampleServer()
        let release = try await server.publish()
        _ = try await server.deploy(DeploymentDefinition(default: .release(1)))
        let report = try await server.service.check()
        #expect(report.problems.isEmpty)
        #expect(report.counts["files"] == 1)
        #expect(report.counts["releases"] == 1)
        #expect(report.counts["policies"] == 1)
        #expect(report.unreferenced.isEmpty)
        let name = release.models[0].archive
        let path = "\(server.folder)/blobs/\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try await server.service.check(readsFiles: false).problems.isEmpty)
        #expect(try await server.service.check().problems.count == 1)
        try FileManager.default.removeItem(atPath: path)
        #expect(try await server.service.check(readsFiles: false).problems.count == 1)
        let database = try server.database.open()
        try await database.write { connection in
            try connection.execute("UPDATE policies SET version = version - 1")
            try connection.execute("UPDATE collections SET releases = 2")
            try connection.execute("UPDATE audit SET action = 'x' WHERE sequence = 2")
            try connection.execute("UPDATE releases SET sha256 = ?", String(repeating: "0", count: 64))
        }
        let problems = try await server.service.check().problems
        #expect(problems.count == 5, "\(problems)")
    }

    /// A device that has seen what was signed after the backup takes what the restored server signs.
    @Test func devicesGoOnWithARestoredServer() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let deployment = try await server.deploy(DeploymentDefinition(default: .release(1)))
        let root = try #require(try await server.service.trustMetadata(team: "acme", file: "1.root.json"))
        func updater(_ service: Service) throws -> MetadataUpdater {
            MetadataUpdater(
                metadata: ServiceFetcher(service: service, folder: .metadata),
                targets: ServiceFetcher(service: service, folder: .targets),
                store: try FileMetadataStore(folder: server.folder + "/client"),
                bundledRoot: root
            )
        }
        func moment() -> UTCTime { UTCTime(secondsSince1970: Int64(server.clock.now.timeIntervalSince1970)) }
        // The backup: a copy of the database's rows that change.
        let database = try server.database.open()
        let tables = ["trust_metadata", "policies", "live"]
        try await database.write { connection in
            for table in tables { try connection.execute("CREATE TABLE saved_\(table) AS SELECT * FROM \(table)") }
        }
        for _ in 0..<5 {
            server.clock.advance(7200)
            try await server.service.renewSignatures()
        }
        _ = try await server.service.operate(.pause, deployment.id, as: server.admin)
        _ = try await updater(server.service).refresh(at: moment())
        let seen = try await server.policy().policy.version
        try await database.write { connection in
            for table in tables {
                try connection.execute("DELETE FROM \(table)")
                try connection.execute("INSERT INTO \(table) SELECT * FROM saved_\(table)")
            }
        }
        await #expect(throws: UpdateError.self) { _ = try await updater(server.service).refresh(at: moment()) }
        try await server.service.advanceVersions(by: 1000)
        _ = try await updater(server.service).refresh(at: moment())
        #expect(try await server.policy().policy.version > max(seen, 1000))
        let problems = try await server.service.check().problems
        #expect(problems.isEmpty, "\(problems)")
    }
}
