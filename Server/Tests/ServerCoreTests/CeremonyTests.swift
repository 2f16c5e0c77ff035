import Foundation
import ServerCore
import ServerTesting
import Testing
import UpdateFramework

/// Keys of people, and what they make of a team's metadata.
private struct Holders {
    let root = (0..<3).map { _ in SigningKey() }
    let targets = SigningKey()
    let publisher = SigningKey()

    /// The next root and targets, signed by those who have to.
    func ceremony(_ server: SampleServer, withPublisher: Bool, rootSigners: Int = 2) async throws -> [String: Data] {
        let metadata = try await server.metadata()
        let now = UTCTime(secondsSince1970: Int64(server.clock.now.timeIntervalSince1970))
        var root = try metadata.rootDraft(expires: now + UTCTime.days(365)) { root throws(UpdateError) in
            try root.setKeys(self.root.map(\.publicKey), threshold: 2, of: .root)
            try root.setKeys([targets.publicKey], threshold: 1, of: .targets)
        }
        for key in self.root.prefix(rootSigners) { try root.sign(with: key) }
        let role = "shop.Flowers"
        var top = try metadata.targetsDraft(expires: now + UTCTime.days(180)) { targets throws(UpdateError) in
            guard withPublisher else { return }
            try targets.delegate(
                to: role,
                keys: [publisher.publicKey],
                threshold: 1,
                paths: .patterns(["apps/shop/collections/Flowers/*"]),
                isTerminating: true
            )
        }
        try top.sign(with: targets)
        var files = ["root": Data(root.bytes), "targets": Data(top.bytes)]
        if withPublisher {
            var draft = try metadata.targetsDraft(role, expires: now + UTCTime.days(180))
            try draft.sign(with: publisher)
            files[role] = Data(draft.bytes)
        }
        return files
    }
}

extension SampleServer {
    /// A file of the newest version.
    fileprivate func newest(_ role: String) async throws -> SignedDocument {
        var (version, found) = (1, [UInt8]())
        while let bytes = try await service.trustMetadata(team: "acme", file: "\(version).\(role).json") {
            (version, found) = (version + 1, bytes)
        }
        return try SignedDocument(parsing: found, role: role)
    }

    fileprivate func metadata() async throws -> RepositoryMetadata {
        let timestamp = try #require(try await service.trustMetadata(team: "acme", file: "timestamp.json"))
        return try RepositoryMetadata(
            root: try await newest("root"),
            targets: ["targets": try await newest("targets"), "shop.Flowers": try await newest("shop.Flowers")],
            snapshot: try await newest("snapshot"),
            timestamp: try SignedDocument(parsing: timestamp, role: "timestamp")
        )
    }

    fileprivate func keyFiles(_ role: String) throws -> [String] {
        let place = folder + "/keys/acme/" + role
        return try FileManager.default.contentsOfDirectory(atPath: place).filter { $0.hasSuffix(".pem") }
    }

    fileprivate func addRelease() async throws -> Release {
        let archive = try await upload(SampleArchive.bytes("plain"))
        return try await service.createRelease(
            NewRelease(models: ["Classifier": .init(archive: archive.sha256)]),
            app: "shop",
            collection: "Flowers",
            as: admin
        )
    }
}

@Suite struct CeremonyTests {
    @Test func aCeremonyTakesRootAndTargetsOffTheServer() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let first = try await server.newest("root")
        #expect(try await server.service.trustStatus(of: "acme", as: server.admin).level == .server)
        let files = try await Holders().ceremony(server, withPublisher: false)
        let status = try await server.service.replaceTrust(of: "acme", with: files, as: server.admin)
        #expect(status.level == .releases)
        let root = try #require(status.roles.first { $0.name == "root" })
        #expect((root.threshold, root.keys.count, root.held) == (2, 3, 0))
        #expect(try server.keyFiles("root").isEmpty)
        #expect(try server.keyFiles("targets").isEmpty)
        // Devices that carry the first root follow.
        let now = UTCTime(secondsSince1970: Int64(server.clock.now.timeIntervalSince1970))
        try await server.metadata().verify(trustedRoot: first, at: now)
        // The server goes on with what it may: releases, policies, timestamps.
        _ = try await server.addRelease()
        let deployment = try await server.deploy(DeploymentDefinition(default: .release(2)))
        #expect(deployment.state == .active)
        server.clock.advance(86_000)
        try await server.service.renewSignatures()
        // The holders of the targets keys authorise new collections.
        _ = try await server.service.createCollection(
            "Birds",
            app: "shop",
            description: "",
            models: ["A"],
            as: server.admin
        )
        #expect(try await server.service.trustDrafts(of: "acme", as: server.admin).map(\.role) == ["targets"])
    }

    @Test func aReleaseWaitsForItsPublisher() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let holders = Holders()
        let files = try await holders.ceremony(server, withPublisher: true)
        let status = try await server.service.replaceTrust(of: "acme", with: files, as: server.admin)
        #expect(status.roles.first { $0.name == "shop.Flowers" }?.held == 0)
        #expect(try server.keyFiles("shop.Flowers").isEmpty)
        let release = try await server.addRelease()
        #expect(release.number == 2)
        #expect(await code { _ = try await server.deploy(DeploymentDefinition(default: .release(2))) } == .conflict)
        let draft = try #require(try await server.service.trustDrafts(of: "acme", as: server.admin).first)
        #expect((draft.role, draft.missing) == ("shop.Flowers", 1))
        var document = try SignedDocument(parsing: Array(draft.document), role: draft.role)
        // Another person's signature does not count.
        try document.sign(with: SigningKey())
        _ = try await server.service.signReleases(
            of: "acme",
            with: [draft.role: Data(document.bytes)],
            as: server.admin
        )
        #expect(try await server.service.trustDrafts(of: "acme", as: server.admin).count == 1)
        try document.sign(with: holders.publisher)
        _ = try await server.service.signReleases(
            of: "acme",
            with: [draft.role: Data(document.bytes)],
            as: server.admin
        )
        #expect(try await server.service.trustDrafts(of: "acme", as: server.admin).isEmpty)
        #expect(try await server.deploy(DeploymentDefinition(default: .release(2))).state == .active)
    }

    @Test func tooFewSignaturesChangeNothing() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let before = try await server.newest("root").bytes
        let files = try await Holders().ceremony(server, withPublisher: false, rootSigners: 1)
        #expect(
            await code { _ = try await server.service.replaceTrust(of: "acme", with: files, as: server.admin) }
                == .invalid
        )
        #expect(try await server.newest("root").bytes == before)
        #expect(try server.keyFiles("root").count == 1)
        #expect(try await server.service.trustStatus(of: "acme", as: server.admin).level == .server)
        // Nor does a root that leaves targets to a key that has not signed them.
        var alone = try await Holders().ceremony(server, withPublisher: false)
        alone["targets"] = nil
        #expect(
            await code { _ = try await server.service.replaceTrust(of: "acme", with: alone, as: server.admin) }
                == .invalid
        )
        #expect(try await server.newest("root").bytes == before)
    }
}
