import DeploymentPolicy
import Foundation
import ServerCore
import ServerTesting
import Testing
import UpdateFramework

/// New keys for what the server signs by itself, and apps that are made while the targets keys lie with people.
@Suite struct OnlineKeyTests {
    /// The holders of root and targets.
    private struct Holders {
        let root = SigningKey()
        let targets = SigningKey()

        /// Signs every draft of root and targets, and gives them to the server.
        func sign(_ server: SampleServer) async throws {
            var files: [String: Data] = [:]
            for draft in try await server.service.trustDrafts(of: "acme", as: server.admin) {
                guard let key = ["root": root, "targets": targets][draft.role] else { continue }
                #expect(draft.waitsFor == [try key.publicKey.id])
                var document = try SignedDocument(parsing: Array(draft.document), role: draft.role)
                try document.sign(with: key)
                files[draft.role] = Data(document.bytes)
            }
            _ = try await server.service.replaceTrust(of: "acme", with: files, as: server.admin)
        }
    }

    private func newest(_ role: String, _ server: SampleServer) async throws -> SignedDocument? {
        var (version, found) = (1, [UInt8]?.none)
        while let bytes = try await server.service.trustMetadata(team: "acme", file: "\(version).\(role).json") {
            (version, found) = (version + 1, bytes)
        }
        return try found.map { try SignedDocument(parsing: $0, role: role) }
    }

    /// A server with a live deployment, whose root and targets lie with people.
    private func apart() async throws -> (SampleServer, Holders) {
        let server = try await SampleServer()
        _ = try await server.publish()
        _ = try await server.deploy(DeploymentDefinition(default: .release(1)))
        let holders = Holders()
        let root = try #require(try await newest("root", server))
        let targets = try #require(try await newest("targets", server))
        let metadata = try RepositoryMetadata(root: root, targets: ["targets": targets], snapshot: nil, timestamp: nil)
        let expires = UTCTime(secondsSince1970: Int64(server.clock.now.timeIntervalSince1970)) + UTCTime.days(90)
        var next = try metadata.rootDraft(expires: expires) { root throws(UpdateError) in
            try root.setKeys([holders.root.publicKey], threshold: 1, of: .root)
            try root.setKeys([holders.targets.publicKey], threshold: 1, of: .targets)
        }
        try next.sign(with: holders.root)
        var top = try metadata.targetsDraft(expires: expires)
        try top.sign(with: holders.targets)
        let files = ["root": Data(next.bytes), "targets": Data(top.bytes)]
        _ = try await server.service.replaceTrust(of: "acme", with: files, as: server.admin)
        return (server, holders)
    }

    /// The names of the keys that sign by the newest metadata.
    private func named(_ server: SampleServer) async throws -> [String: [String]] {
        let root = try Root(try #require(try await newest("root", server)).signed, role: "root")
        let targets = try Targets(try #require(try await newest("targets", server)).signed, role: "targets")
        var named = ["timestamp": root.keys(of: .timestamp).keyIDs, "snapshot": root.keys(of: .snapshot).keyIDs]
        for role in targets.delegations?.roles ?? [] { named[role.name] = targets.keys(ofDelegated: role.name)?.keyIDs }
        return named
    }

    private func files(_ server: SampleServer, _ role: String) throws -> Int {
        let place = server.folder + "/keys/acme/" + role
        return try FileManager.default.contentsOfDirectory(atPath: place).count { $0.hasSuffix(".pem") }
    }

    /// A client that has followed from the first root on.
    private func follow(_ server: SampleServer) async throws {
        let first = try #require(try await server.service.trustMetadata(team: "acme", file: "1.root.json"))
        let updater = MetadataUpdater(
            metadata: ServiceFetcher(service: server.service, folder: .metadata),
            targets: ServiceFetcher(service: server.service, folder: .targets),
            store: try FileMetadataStore(folder: server.folder + "/client"),
            bundledRoot: first
        )
        let now = UTCTime(secondsSince1970: Int64(server.clock.now.timeIntervalSince1970))
        var trusted = try await updater.refresh(at: now)
        let release = try await updater.target("apps/shop/collections/Flowers/1.json", in: &trusted)
        #expect(release != nil)
        let policy = try #require(
            try await server.service.signedPolicy(app: "shop", collection: "Flowers", environment: "production")
        )
        let director = try #require(trusted.keys(ofDelegated: "shop@director"))
        try SignedDocument(parsing: policy, role: "policy").verify(director)
    }

    @Test func newOnlineKeysAreInUseAtOnceWhereTheServerHoldsTheRoot() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        _ = try await server.deploy(DeploymentDefinition(default: .release(1)))
        try await follow(server)
        let before = try await named(server)
        let version = try await server.policy().policy.version
        #expect(try await server.service.replaceOnlineKeys(of: "acme", as: server.admin).isEmpty)
        let after = try await named(server)
        #expect(Set(after.keys) == ["timestamp", "snapshot", "acme@keys", "shop@director", "shop.Flowers"])
        for (role, keys) in after { #expect(keys != before[role], "\(role)") }
        try await follow(server)
        // A thief of the old keys has nothing: they are gone here, and named no more.
        for role in ["timestamp", "snapshot", "shop@director", "shop.Flowers"] {
            #expect(try files(server, role) == 1, "\(role)")
        }
        #expect(try await server.policy().policy.version > version + 1000)
        let report = try await server.service.check()
        #expect(report.problems.isEmpty, "\(report.problems)")
        server.clock.advance(86_000)
        try await server.service.renewSignatures()
        try await follow(server)
    }

    @Test func newOnlineKeysWaitForTheHoldersAndTheOldOnesGoOn() async throws {
        let (server, holders) = try await apart()
        try await follow(server)
        let before = try await named(server)
        let drafts = try await server.service.replaceOnlineKeys(of: "acme", as: server.admin)
        #expect(drafts.map(\.role) == ["root", "targets"])
        #expect(drafts[0].changes == ["new keys of timestamp", "new keys of snapshot"])
        #expect(
            Set(drafts[1].changes) == [
                "new keys of the key service", "new keys of the app shop", "new keys of the collection shop.Flowers",
            ]
        )
        #expect(try await named(server) == before)
        server.clock.advance(86_000)
        try await server.service.renewSignatures()
        try await follow(server)
        // A second time makes others, and what the first has made is of no use.
        let stale = try await server.service.trustDrafts(of: "acme", as: server.admin)
        _ = try await server.service.replaceOnlineKeys(of: "acme", as: server.admin)
        var old = try SignedDocument(parsing: Array(stale[1].document), role: "targets")
        try old.sign(with: holders.targets)
        let stolen = Data(old.bytes)
        #expect(
            await code {
                _ = try await server.service.replaceTrust(of: "acme", with: ["targets": stolen], as: server.admin)
            } == .conflict
        )
        try await holders.sign(server)
        for (role, keys) in try await named(server) { #expect(keys != before[role], "\(role)") }
        #expect(try await server.service.trustDrafts(of: "acme", as: server.admin).isEmpty)
        for role in ["timestamp", "snapshot", "shop@director", "shop.Flowers"] {
            #expect(try files(server, role) == 1, "\(role)")
        }
        try await follow(server)
        let report = try await server.service.check()
        #expect(report.problems.isEmpty, "\(report.problems)")
    }

    @Test func appsAndCollectionsThatAreMadeLaterWaitForTheTargetsKeys() async throws {
        let (server, holders) = try await apart()
        let service = server.service
        _ = try await service.createApp("game", team: "acme", name: "", as: server.admin)
        _ = try await service.createCollection("Birds", app: "game", description: "", models: ["A"], as: server.admin)
        _ = try await service.createCollection("Trees", app: "shop", description: "", models: ["A"], as: server.admin)
        let draft = try #require(try await service.trustDrafts(of: "acme", as: server.admin).first)
        #expect((draft.role, draft.missing) == ("targets", 1))
        #expect(
            draft.changes == [
                "adds the app game", "adds the collection game.Birds", "adds the collection shop.Trees",
            ]
        )
        let archive = try await server.upload(SampleArchive.bytes("plain"))
        let release = NewRelease(models: ["A": .init(archive: archive.sha256)])
        #expect(
            await code {
                _ = try await service.createRelease(release, app: "game", collection: "Birds", as: server.admin)
            }
                == .conflict
        )
        // Existing collections continue.
        _ = try await server.deploy(DeploymentDefinition(default: .release(1)))
        try await holders.sign(server)
        #expect(try await service.trustDrafts(of: "acme", as: server.admin).isEmpty)
        for (app, collection) in [("game", "Birds"), ("shop", "Trees")] {
            _ = try await service.createRelease(release, app: app, collection: collection, as: server.admin)
            let deployment = try await service.createDeployment(
                DeploymentDefinition(default: .release(1)),
                name: "",
                app: app,
                collection: collection,
                environment: "production",
                as: server.admin
            )
            #expect(try await service.operate(.activate, deployment.id, as: server.admin).state == .active)
        }
        try await follow(server)
        let report = try await service.check()
        #expect(report.problems.isEmpty, "\(report.problems)")
    }

    @Test func whatIsMadeWhileADraftIsSignedWaitsForTheNext() async throws {
        let (server, holders) = try await apart()
        let service = server.service
        _ = try await service.createCollection("Birds", app: "shop", description: "", models: ["A"], as: server.admin)
        let first = try #require(try await service.trustDrafts(of: "acme", as: server.admin).first)
        _ = try await service.createCollection("Trees", app: "shop", description: "", models: ["A"], as: server.admin)
        var document = try SignedDocument(parsing: Array(first.document), role: "targets")
        try document.sign(with: holders.targets)
        let signed = Data(document.bytes)
        _ = try await service.replaceTrust(of: "acme", with: ["targets": signed], as: server.admin)
        let second = try #require(try await service.trustDrafts(of: "acme", as: server.admin).first)
        #expect(second.changes == ["adds the collection shop.Trees"])
        try await holders.sign(server)
        #expect(try await service.trustDrafts(of: "acme", as: server.admin).isEmpty)
        let report = try await service.check()
        #expect(report.problems.isEmpty, "\(report.problems)")
    }
}
