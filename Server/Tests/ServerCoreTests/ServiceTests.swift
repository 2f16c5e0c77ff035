import DeploymentKeys
import DeploymentPolicy
import Foundation
import ServerBlobs
import ServerCore
import ServerDatabase
import ServerTesting
import Synchronization
import TestDatabases
import Testing
import UpdateFramework

/// A server without a network, in a folder of its own.
final class SampleServer {
    let folder: String
    let database: TestDatabase
    let service: Service
    let clock = Clock()
    private(set) var admin = Principal.server

    final class Clock: Sendable {
        private let seconds = Mutex(1_800_000_000.0)
        var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }
        func advance(_ interval: Double) { seconds.withLock { $0 += interval } }
    }

    init() async throws {
        folder = FileManager.default.temporaryDirectory.path + "/server-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try await TestDatabase(folder: folder)
        let clock = clock
        service = try await Service(
            database: try database.open(),
            blobs: try FolderBlobStore(folder: folder + "/blobs"),
            keys: try SigningKeyFolder(folder: folder + "/keys"),
            vault: try KeyVault(folder: folder + "/vault", strength: .file),
            now: { clock.now }
        )
        let link = try #require(try await service.firstAdministratorLink())
        let session = try await service.signIn(link: link)
        admin = try await service.principal(session: session.secret).0
        _ = try await service.createTeam("acme", name: "Acme", as: admin)
        // The membership that making a team gave.
        admin = try await service.principal(session: session.secret).0
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func upload(_ bytes: [UInt8], team: String = "acme", as actor: Principal? = nil) async throws -> StoredArchive {
        let actor = actor ?? admin
        let upload = try await service.uploadArchive(team: team, as: actor)
        try await upload.append(bytes)
        return try await service.finishArchive(upload, team: team, fileName: "a.mlarchive", expecting: nil, as: actor)
    }

    /// An app with a collection of one model and a release of it.
    func publish() async throws -> Release {
        _ = try await service.createApp("shop", team: "acme", name: "Shop", as: admin)
        _ = try await service.createCollection(
            "Flowers",
            app: "shop",
            description: "",
            models: ["Classifier"],
            as: admin
        )
        let archive = try await upload(SampleArchive.bytes("plain"))
        return try await service.createRelease(
            NewRelease(models: ["Classifier": .init(archive: archive.sha256)]),
            app: "shop",
            collection: "Flowers",
            as: admin
        )
    }

    func deploy(_ definition: DeploymentDefinition) async throws -> Deployment {
        let deployment = try await service.createDeployment(
            definition,
            name: "",
            app: "shop",
            collection: "Flowers",
            environment: "production",
            as: admin
        )
        return try await service.operate(.activate, deployment.id, as: admin)
    }

    func policy() async throws -> (policy: Policy, document: SignedDocument) {
        let bytes = try #require(
            try await service.signedPolicy(app: "shop", collection: "Flowers", environment: "production")
        )
        let document = try SignedDocument(parsing: bytes, role: "policy")
        return (try Policy(try document.message(of: "policy")), document)
    }

    /// A token of the team with one role.
    func token(_ role: Role, app: String? = nil) async throws -> Principal {
        let (_, text) = try await service.createToken(team: "acme", app: app, name: "t", roles: [role], as: admin)
        return try await service.principal(token: text)
    }
}

/// The code of the error that `body` ends with.
func code(_ body: () async throws -> Void) async -> ServiceError.Code? {
    do {
        try await body()
        return nil
    } catch { return (error as? ServiceError)?.code }
}

@Suite struct ServiceTests {
    @Test func whatIsDeployedIsSignedAndVerifiesAsClientsDo() async throws {
        let server = try await SampleServer()
        let release = try await server.publish()
        let deployment = try await server.deploy(DeploymentDefinition(default: .release(release.number)))
        #expect(deployment.state == .active)
        let fetcher = ServiceFetcher(service: server.service, folder: .metadata)
        let targets = ServiceFetcher(service: server.service, folder: .targets)
        let root = try #require(try await server.service.trustMetadata(team: "acme", file: "1.root.json"))
        let updater = MetadataUpdater(
            metadata: fetcher,
            targets: targets,
            store: try FileMetadataStore(folder: server.folder + "/client"),
            bundledRoot: root
        )
        let start = UTCTime(secondsSince1970: Int64(server.clock.now.timeIntervalSince1970))
        var trusted = try await updater.refresh(at: start)
        let (policy, document) = try await server.policy()
        try document.verify(try #require(trusted.keys(ofDelegated: "shop@director")))
        let reference = try #require(policy.releases.first)
        let target = try #require(try await updater.target(reference.target, in: &trusted))
        #expect(target.hashes.sha256 == reference.sha256)
        let bytes = try await updater.download(target, in: trusted)
        #expect(try ReleaseDocument(bytes).models.map(\.archive.sha256) == release.models.map(\.archive))
    }

    @Test func archivesThatAreNoneAreRefusedAndNotKept() async throws {
        let server = try await SampleServer()
        for name in ["changed file", "cut off", "a byte too many", "changed header", "path '../a'", "twins"] {
            let bytes = try SampleArchive.bytes(name)
            #expect(await code { _ = try await server.upload(bytes) } == .invalid, "\(name)")
        }
        #expect(try await server.service.archives(of: "acme", as: server.admin).isEmpty)
        #expect(try await FolderBlobStore(folder: server.folder + "/blobs").digests().isEmpty)
    }

    @Test func aReleaseHoldsEveryModelOfItsCollectionAndNoOther() async throws {
        let server = try await SampleServer()
        let release = try await server.publish()
        for models in [[:], ["Classifier": release.models[0].archive, "Other": release.models[0].archive]] {
            let new = NewRelease(models: models.mapValues { .init(archive: $0) })
            #expect(
                await code {
                    _ = try await server.service.createRelease(
                        new,
                        app: "shop",
                        collection: "Flowers",
                        as: server.admin
                    )
                } == .invalid
            )
        }
    }

    @Test func rulesAreCheckedWhenADeploymentIsMade() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        var definition = DeploymentDefinition(default: .release(1))
        definition.rules = [
            .init(
                id: "r",
                when: .object([
                    "attribute": .text("deviceClass"), "operator": .text("atLeast"), "values": .list([.text("tablet")]),
                ]),
                serve: .release(1)
            )
        ]
        #expect(await code { _ = try await server.deploy(definition) } == .invalid)
        #expect(await code { _ = try await server.deploy(DeploymentDefinition(default: .release(7))) } == .invalid)
    }

    @Test func policiesRiseInVersionAndAreRenewedBeforeTheyExpire() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let deployment = try await server.deploy(DeploymentDefinition(default: .release(1)))
        #expect(try await server.policy().policy.version == 1)
        server.clock.advance(7200)
        try await server.service.renewSignatures()
        let renewed = try await server.policy().policy
        #expect(renewed.version == 2)
        #expect(renewed.expires.secondsSince1970 > 1_800_000_000 + 86_400)
        _ = try await server.service.operate(.halt, deployment.id, as: server.admin)
        #expect(try await server.policy().policy.state == .halted)
        #expect(
            await code { _ = try await server.service.operate(.pause, deployment.id, as: server.admin) } == .conflict
        )
    }

    @Test func eachRoleMayDoWhatItIsFor() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let (service, viewer) = (server.service, try await server.token(.viewer))
        #expect(try await service.apps(of: "acme", as: viewer).count == 1)
        #expect(await code { _ = try await server.upload([], as: viewer) } == .forbidden)
        #expect(await code { _ = try await service.tokens(of: "acme", as: viewer) } == .forbidden)
        #expect(await code { _ = try await service.rotateKey(of: "acme", as: viewer) } == .forbidden)
        #expect(await code { _ = try await service.audit(of: "acme", as: viewer) } == .forbidden)
        let publisher = try await server.token(.publisher)
        #expect(try await server.upload(SampleArchive.bytes("signed"), as: publisher).createdBy == "token:t")
        #expect(
            await code {
                _ = try await service.createDeployment(
                    DeploymentDefinition(default: .bundled),
                    name: "",
                    app: "shop",
                    collection: "Flowers",
                    environment: "production",
                    as: publisher
                )
            } == .forbidden
        )
    }

    @Test func otherTeamsDoNotExistForATeam() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        let (service, mine) = (server.service, try await server.token(.owner))
        let link = try await service.administratorLink()
        let session = try await service.signIn(link: link)
        let administrator = try await service.principal(session: session.secret).0
        _ = try await service.createTeam("other", name: "", as: administrator)
        let other = try await service.principal(session: session.secret).0
        _ = try await service.createApp("game", team: "other", name: "", as: other)
        #expect(await code { _ = try await service.team("other", as: mine) } == .notFound)
        #expect(await code { _ = try await service.app("game", as: mine) } == .notFound)
        #expect(await code { _ = try await service.apps(of: "other", as: mine) } == .notFound)
        #expect(await code { _ = try await service.audit(of: "other", as: mine) } == .notFound)
        let limited = try await server.token(.owner, app: "shop")
        #expect(try await service.app("shop", as: limited).id == "shop")
        #expect(await code { _ = try await service.tokens(of: "acme", as: limited) } == .forbidden)
    }

    @Test(arguments: [[], [Role.publisher, .viewer, .publisher]])
    func aTokenNeedsRolesEachOnce(_ roles: [Role]) async throws {
        let server = try await SampleServer()
        let made = await code {
            _ = try await server.service.createToken(team: "acme", app: nil, name: "ci", roles: roles, as: server.admin)
        }
        #expect(made == .invalid)
        #expect(try await server.service.tokens(of: "acme", as: server.admin).isEmpty)
    }

    @Test func tokensEndWhenTheyAreRevokedOrExpire() async throws {
        let server = try await SampleServer()
        let (token, text) = try await server.service.createToken(
            team: "acme",
            app: nil,
            name: "ci",
            roles: [.publisher],
            lifetime: 3600,
            as: server.admin
        )
        #expect(try await server.service.principal(token: text).permissions(in: "acme") == [.view, .publish])
        for wrong in [text.dropLast() + "x", "mlk_api_x", "", text.replacing("api", with: "ap1")] {
            #expect(await code { _ = try await server.service.principal(token: String(wrong)) } == .unauthenticated)
        }
        server.clock.advance(3601)
        #expect(await code { _ = try await server.service.principal(token: text) } == .unauthenticated)
        try await server.service.revokeToken(token.id, team: "acme", as: server.admin)
    }

    @Test func aSignInLinkWorksOnce() async throws {
        let server = try await SampleServer()
        let link = try await server.service.administratorLink()
        _ = try await server.service.signIn(link: link)
        #expect(await code { _ = try await server.service.signIn(link: link) } == .unauthenticated)
        let late = try await server.service.administratorLink()
        server.clock.advance(901)
        #expect(await code { _ = try await server.service.signIn(link: late) } == .unauthenticated)
    }

    @Test func changingTheAuditLogIsNoticed() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        try await server.service.verifyAudit()
        let database = try server.database.open()
        try await database.write { connection in
            _ = try connection.execute("UPDATE audit SET actor = ? WHERE sequence = 2", "nobody")
        }
        #expect(await code { try await server.service.verifyAudit() } == .conflict)
    }

    @Test func keysOfModelsRotateAndAreRevoked() async throws {
        let server = try await SampleServer()
        let first = try await server.service.keys(of: "acme", as: server.admin)
        #expect(first.map(\.state) == ["active"])
        let second = try await server.service.rotateKey(of: "acme", as: server.admin)
        #expect(try await server.service.keys(of: "acme", as: server.admin).map(\.state) == ["retired", "active"])
        let text = try await server.service.publicKey(nil, of: "acme", as: server.admin)
        #expect(String(decoding: text, as: UTF8.self).contains("\"public\""))
        let revoked = try await server.service.revokeKey(second.id, of: "acme", as: server.admin)
        #expect(revoked.state == "revoked")
    }

    @Test func aServerThatIsStartedAgainGoesOn() async throws {
        let server = try await SampleServer()
        _ = try await server.publish()
        _ = try await server.deploy(DeploymentDefinition(default: .release(1)))
        let again = try await Service(
            database: try server.database.open(),
            blobs: try FolderBlobStore(folder: server.folder + "/blobs"),
            keys: try SigningKeyFolder(folder: server.folder + "/keys"),
            vault: try KeyVault(folder: server.folder + "/vault")
        )
        #expect(try await again.releases(app: "shop", collection: "Flowers", as: server.admin).count == 1)
        #expect(try await again.firstAdministratorLink() == nil)
        try await again.verifyAudit()
    }
}

/// The file that a client would fetch over a network.
struct ServiceFetcher: MetadataFetcher {
    enum Folder { case metadata, targets }

    let service: Service
    let folder: Folder

    func fetch(_ path: String, limit: Int) async throws -> [UInt8]? {
        let name = path.removingPercentEncoding ?? path
        switch folder {
        case .metadata: return try await service.trustMetadata(team: "acme", file: name)
        case .targets: return try await service.target(team: "acme", path: name)
        }
    }
}
