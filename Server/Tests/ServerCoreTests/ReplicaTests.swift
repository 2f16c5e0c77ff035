import DeploymentKeys
import DeploymentPolicy
import Foundation
import ServerBlobs
import ServerCore
import ServerDatabase
import TestDatabases
import Testing
import UpdateFramework

/// Two servers over one database, one store of files and one set of keys.
@Suite struct ReplicaTests {
    private func replicas(of server: SampleServer) async throws -> [Service] {
        let clock = server.clock
        let second = try await Service(
            database: try server.database.open(),
            blobs: try FolderBlobStore(folder: server.folder + "/blobs"),
            keys: try SigningKeyFolder(folder: server.folder + "/keys"),
            vault: try KeyVault(folder: server.folder + "/vault", strength: .file),
            now: { clock.now }
        )
        return [server.service, second]
    }

    /// Releases, policies, signatures and the audit log that two servers write at once are those of one.
    @Test func twoServersThatWriteAtOnceCountAsOne() async throws {
        let server = try await SampleServer()
        let first = try await server.publish()
        let deployment = try await server.deploy(DeploymentDefinition(default: .release(1)))
        let replicas = try await replicas(of: server)
        let archive = try #require(first.models.first?.archive)
        let admin = server.admin
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<2 {
                let replica = replicas[index]
                group.addTask {
                    for _ in 0..<8 {
                        _ = try await replica.createRelease(
                            NewRelease(models: ["Classifier": .init(archive: archive)]),
                            app: "shop",
                            collection: "Flowers",
                            as: admin
                        )
                    }
                }
                group.addTask {
                    for _ in 0..<8 {
                        _ = try await replica.createToken(
                            team: "acme",
                            app: nil,
                            name: "t",
                            roles: [.viewer],
                            as: admin
                        )
                    }
                }
                group.addTask {
                    for _ in 0..<4 { try await replica.renewSignatures(margin: 25 * 3600) }
                }
            }
            // One server pauses what the other resumes.
            group.addTask {
                var done = 0
                while done < 8 {
                    let operation = done.isMultiple(of: 2) ? Service.Operation.pause : .resume
                    _ = try await replicas[done / 2 % 2].operate(operation, deployment.id, as: admin)
                    done += 1
                }
            }
            try await group.waitForAll()
        }
        try await server.service.verifyAudit()
        let releases = try await replicas[1].releases(app: "shop", collection: "Flowers", as: server.admin)
        #expect(releases.map(\.number) == Array((1...17).reversed()))
        let entries = try await replicas[1].audit(of: "acme", limit: 1000, as: server.admin)
        #expect(entries.filter { $0.action == "release.create" }.count == 17)
        #expect(entries.filter { $0.action == "token.create" }.count == 16)
        let history = try await replicas[0].history(
            app: "shop",
            collection: "Flowers",
            environment: "production",
            as: server.admin
        )
        #expect(history.count == 9)
        #expect(Set(history.map(\.version)).count == 9)
        let policy = try await server.policy().policy
        #expect(policy.version >= 9)
        try await verifyAsClientsDo(server, releases: 17)
    }

    /// A device's checks: every release is signed, by metadata that belongs together.
    private func verifyAsClientsDo(_ server: SampleServer, releases: Int) async throws {
        let root = try #require(try await server.service.trustMetadata(team: "acme", file: "1.root.json"))
        let updater = MetadataUpdater(
            metadata: ServiceFetcher(service: server.service, folder: .metadata),
            targets: ServiceFetcher(service: server.service, folder: .targets),
            store: try FileMetadataStore(folder: server.folder + "/client"),
            bundledRoot: root
        )
        var trusted = try await updater.refresh(
            at: UTCTime(secondsSince1970: Int64(server.clock.now.timeIntervalSince1970))
        )
        for number in 1...releases {
            #expect(
                try await updater.target("apps/shop/collections/Flowers/\(number).json", in: &trusted) != nil,
                "release \(number)"
            )
        }
    }
}
