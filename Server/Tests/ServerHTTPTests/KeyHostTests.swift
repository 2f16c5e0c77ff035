import DeploymentKeys
import Foundation
import Hummingbird
import HummingbirdTesting
import ServerBlobs
import ServerCore
import ServerDatabase
import ServerHTTP
import ServerTesting
import Synchronization
import Testing

/// A deployment server and a key service, each with records of its own.
@Suite struct KeyHostTests {
    private final class Wire: Sendable {
        let host = Mutex<KeyHost?>(nil)
        let messages = Mutex<[[UInt8]]>([])
        /// The change of an answer in transit.
        let change = Mutex<(@Sendable ([UInt8]) -> [UInt8])?>(nil)

        var router: Router<BasicRequestContext> {
            let router = Router()
            router.post("v1/link") { request, _ -> Response in
                let message = Array(buffer: try await request.body.collect(upTo: 1 << 20))
                self.messages.withLock { $0.append(message) }
                guard let host = self.host.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
                let (status, body) = await host.answer(message)
                let changed = self.change.withLock { $0 }?(body) ?? body
                return Response(status: .init(code: status), body: .init(byteBuffer: ByteBuffer(bytes: changed)))
            }
            return router
        }
    }

    private struct Both: Sendable {
        let folder: String
        let control: ServerCore.Service
        let wire: Wire
        let admin: Principal
        let address: URL
        let controlDatabase: SQLiteDatabase
        let keyDatabase: SQLiteDatabase

        func host(holdsEnrolment: Bool = false, now: @escaping @Sendable () -> Date = { Date() }) async throws
            -> KeyHost
        {
            try await KeyHost(
                database: keyDatabase,
                vault: try KeyVault(folder: folder + "/keys/vault", strength: .file),
                secret: KeyLinkSecret(contentsOf: folder + "/secret"),
                holdsEnrolment: holdsEnrolment,
                now: now
            )
        }

        /// Uploads an encrypted model and makes a release of it.
        func publishEncryptedModel() async throws -> StoredArchive {
            _ = try await control.createCollection("Flowers", app: "shop", description: "", models: ["A"], as: admin)
            let upload = try await control.uploadArchive(team: "acme", as: admin)
            try await upload.append(SampleArchive.bytes("encrypted"))
            let archive = try await control.finishArchive(
                upload,
                team: "acme",
                fileName: "a",
                expecting: nil,
                as: admin
            )
            let release = NewRelease(models: ["A": .init(archive: archive.sha256)])
            _ = try await control.createRelease(release, app: "shop", collection: "Flowers", as: admin)
            return archive
        }

        /// Gives the release to all devices.
        func deploy() async throws {
            let deployment = try await control.createDeployment(
                DeploymentDefinition(default: .release(1)),
                name: "",
                app: "shop",
                collection: "Flowers",
                environment: "production",
                as: admin
            )
            _ = try await control.operate(.activate, deployment.id, as: admin)
        }

        /// A column of the key service's records.
        func keyRecords(_ column: String, of table: String) async throws -> [String] {
            try await keyDatabase.read { connection in
                try connection.query("SELECT \(column) FROM \(table)").map { try $0.text(column) }
            }
        }

        func code(_ body: () async throws -> Void) async -> ServiceError.Code? {
            do {
                try await body()
                return nil
            } catch { return (error as? ServiceError)?.code }
        }
    }

    /// A device that reaches the key service through the deployment server.
    private struct Device {
        let identity: DeviceIdentity
        let keys: [SigningPublicKey]
        let client: any TestClientProtocol

        init(_ both: Both, _ client: any TestClientProtocol) async throws {
            self.client = client
            let sealed = try await both.keyDatabase.read { connection in
                try connection.first("SELECT sealed FROM key_rings WHERE team = 'acme'")?.bytes("sealed")
            }
            keys = try KeyVault(folder: both.folder + "/keys/vault").open(try #require(sealed)).serviceKeys
            let folder = both.folder + "/device"
            identity = try DeviceIdentity.make(in: folder, team: "acme", app: "shop", strength: .file)
        }

        private func post(_ path: String, _ body: [UInt8]) async throws -> [UInt8] {
            Array(buffer: try await client.execute(uri: path, method: .post, body: ByteBuffer(bytes: body)).body)
        }

        /// - Returns: why it was refused.
        func enrol(_ token: EnrolmentToken?) async throws -> DeploymentKeyError.Code? {
            let (body, nonce) = identity.challengeRequest()
            let challenge = try identity.acceptChallenge(
                try await post("/v1/challenge", body),
                for: nonce,
                trusting: keys
            )
            let draft = identity.enrolment(challenge)
            let request = try identity.enrolmentRequest(draft, try token?.evidence(binding: draft.binding) ?? .none)
            let answer = try await post("/v1/enroll", request.body)
            do throws(DeploymentKeyError) { try identity.accept(answer, for: request, trusting: keys) } catch {
                return error.code
            }
            return nil
        }

        /// Asks for the key of a content.
        func release(_ key: String, _ content: String) async throws -> DeploymentKeyError.Code? {
            let model = try WrappedContentKey(
                keyID: try #require(KeyIdentifier(key)),
                content: try #require(ContentIdentifier(content)),
                wrapped: [UInt8](repeating: 7, count: 60)
            )
            let request = try identity.releaseRequest(model)
            let answer = try await post("/v1/keys/\(key)/release", request.body)
            do throws(DeploymentKeyError) { try identity.accept(answer, for: request, trusting: keys) } catch {
                return error.code
            }
            return nil
        }
    }

    private func run(_ body: @escaping @Sendable (Both) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/pair-\(UUID().uuidString)"
        for part in ["control", "keys"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + part, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try KeyLinkSecret.make(at: folder + "/secret")
        let wire = Wire()
        try await Application(router: wire.router).test(.live) { client in
            let port = try #require(client.port)
            let address = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let databases = try ["control", "keys"].map { try SQLiteDatabase(path: folder + "/\($0)/server.sqlite") }
            let control = try await ServerCore.Service(
                database: databases[0],
                blobs: try FolderBlobStore(folder: folder + "/control/blobs"),
                keys: try SigningKeyFolder(folder: folder + "/control/keys"),
                vault: try KeyVault(folder: folder + "/control/vault", strength: .file),
                role: .control,
                keyService: try KeyServiceLink(address, KeyLinkSecret(contentsOf: folder + "/secret"))
            )
            let link = try #require(try await control.firstAdministratorLink())
            let session = try await control.signIn(link: link)
            let first = Both(
                folder: folder,
                control: control,
                wire: wire,
                admin: try await control.principal(session: session.secret).0,
                address: address,
                controlDatabase: databases[0],
                keyDatabase: databases[1]
            )
            let host = try await first.host()
            wire.host.withLock { $0 = host }
            _ = try await control.createTeam("acme", name: "Acme", as: first.admin)
            let owner = try await control.principal(session: session.secret).0
            _ = try await control.createApp("shop", team: "acme", name: "", as: owner)
            try await body(
                Both(
                    folder: folder,
                    control: control,
                    wire: wire,
                    admin: owner,
                    address: address,
                    controlDatabase: databases[0],
                    keyDatabase: databases[1]
                )
            )
        }
    }

    @Test func `the deployment server makes, rotates and revokes keys that it does not have`() async throws {
        try await run { both in
            let first = try await both.control.keys(of: "acme", as: both.admin)
            #expect(first.map(\.state) == ["active"])
            let second = try await both.control.rotateKey(of: "acme", as: both.admin)
            #expect(try await both.control.keys(of: "acme", as: both.admin).map(\.state) == ["retired", "active"])
            let file = String(
                decoding: try await both.control.publicKey(nil, of: "acme", as: both.admin),
                as: UTF8.self
            )
            #expect(file.contains(second.id) && file.contains(#""kind":"public""#))
            #expect(try await both.control.revokeKey(first[0].id, of: "acme", as: both.admin).state == "revoked")
            #expect(
                await both.code { _ = try await both.control.publicKey(first[0].id, of: "acme", as: both.admin) }
                    == .notFound
            )
            // Nothing of it lies with the deployment server.
            let rows = try await both.controlDatabase.read { try $0.query("SELECT team FROM key_rings") }
            #expect(rows.isEmpty)
            let storage = try await both.control.keyStorage(of: "acme", as: both.admin)
            #expect(storage.isApart && storage.address == both.address.absoluteString && !storage.holdsEnrolment)
            let report = try await both.control.check()
            #expect(report.problems.isEmpty, "\(report.problems)")
            // Both audit logs say who wanted it.
            let log = try await both.keyDatabase.read { connection in
                try connection.query("SELECT actor FROM audit WHERE action = 'key.rotate'").map { try $0.text("actor") }
            }
            #expect(log == ["admin@localhost at the deployment server"])
            var keyChanges = AuditFilter()
            keyChanges.action = "key."
            #expect(
                try await both.control.audit(of: "acme", matching: keyChanges, as: both.admin).count == 2
            )
            // A caller without permission is refused here, too: the key service is not even asked.
            let viewer = Principal(kind: .token(id: "x"), name: "viewer", roles: ["acme": [.viewer]])
            let asked = both.wire.messages.withLock { $0.count }
            #expect(await both.code { _ = try await both.control.rotateKey(of: "acme", as: viewer) } == .forbidden)
            #expect(both.wire.messages.withLock { $0.count } == asked)
        }
    }

    @Test func `messages that were recorded, changed or made with another secret do nothing`() async throws {
        try await run { both in
            let host = try #require(both.wire.host.withLock { $0 })
            _ = try await both.control.rotateKey(of: "acme", as: both.admin)
            let recorded = try #require(both.wire.messages.withLock { $0.last })
            #expect(await host.answer(recorded).status == 403)
            // Every byte counts.
            for index in stride(from: 0, to: recorded.count, by: 7) {
                var changed = recorded
                changed[index] ^= 1
                #expect([401, 409].contains(await host.answer(changed).status))
            }
            #expect(await host.answer([]).status == 400)
            #expect(await host.answer([UInt8](repeating: 0, count: 32)).status == 400)
            // Nothing in a message can be read.
            for message in both.wire.messages.withLock({ $0 }) {
                #expect(!String(decoding: message, as: UTF8.self).contains("acme"))
            }
            // A service that was started anew knows nothing of what it had let in, and refuses it all the same.
            let second = try await both.host()
            #expect(await second.answer(recorded).status == 409)
            both.wire.host.withLock { $0 = second }
            #expect(try await both.control.keys(of: "acme", as: both.admin).count == 2)
            // One whose clock is far away says so.
            let late = try await both.host(now: { Date().addingTimeInterval(3600) })
            both.wire.host.withLock { $0 = late }
            #expect(await both.code { _ = try await both.control.keys(of: "acme", as: both.admin) } == .unavailable)
            both.wire.host.withLock { $0 = second }
            // An answer that was changed, or is another request's, is none.
            both.wire.change.withLock { $0 = { $0.count > 16 ? Array($0.dropLast()) + [($0.last ?? 0) ^ 1] : $0 } }
            #expect(await both.code { _ = try await both.control.keys(of: "acme", as: both.admin) } == .unavailable)
            let old = Mutex<[UInt8]?>(nil)
            both.wire.change.withLock {
                $0 = { answer in
                    guard answer.count > 16 else { return answer }
                    return old.withLock { kept in
                        defer { kept = kept ?? answer }
                        return kept ?? answer
                    }
                }
            }
            _ = try await both.control.keys(of: "acme", as: both.admin)
            #expect(await both.code { _ = try await both.control.keys(of: "acme", as: both.admin) } == .unavailable)
            both.wire.change.withLock { $0 = nil }
            // Another secret.
            try KeyLinkSecret.make(at: both.folder + "/other")
            let stranger = try await ServerCore.Service(
                database: both.controlDatabase,
                blobs: try FolderBlobStore(folder: both.folder + "/control/blobs", removesLeftovers: false),
                keys: try SigningKeyFolder(folder: both.folder + "/control/keys"),
                vault: try KeyVault(folder: both.folder + "/control/vault"),
                role: .control,
                keyService: try KeyServiceLink(both.address, KeyLinkSecret(contentsOf: both.folder + "/other"))
            )
            #expect(await both.code { _ = try await stranger.keys(of: "acme", as: both.admin) } == .unavailable)
        }
    }

    @Test func `a secret that others can read is refused`() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/secret-\(UUID().uuidString)"
        defer { unlink(path) }
        try KeyLinkSecret.make(at: path)
        _ = try KeyLinkSecret(contentsOf: path)
        #expect(throws: ServiceError.self) { try KeyLinkSecret.make(at: path) }
        for mode: mode_t in [0o640, 0o440, 0o604] {
            chmod(path, mode)
            #expect(throws: ServiceError.self) { _ = try KeyLinkSecret(contentsOf: path) }
        }
        // As systemd gives it to a service.
        let folder = FileManager.default.temporaryDirectory.path
        chmod(path, 0o440)
        _ = try KeyLinkSecret(contentsOf: path, credentials: folder)
        chmod(path, 0o444)
        #expect(throws: ServiceError.self) { _ = try KeyLinkSecret(contentsOf: path, credentials: folder) }
    }

    @Test func `devices are answered while the key service lives, and told to come later while it does not`()
        async throws
    {
        try await run { both in
            let host = try #require(both.wire.host.withLock { $0 })
            let router = makeRouter(both.control)
            let service = try await both.control.trustMetadata(team: "acme", file: "timestamp.json")
            #expect(service != nil)
            let challenge = try challengeRequest("acme")
            @Sendable func ask(_ client: any TestClientProtocol) async throws -> TestResponse {
                try await client.execute(uri: "/v1/challenge", method: .post, body: ByteBuffer(bytes: challenge))
            }
            try await Application(router: router).test(.router) { client in
                #expect(try await ask(client).status == .ok)
                let revocations = try await client.execute(uri: "/v1/revocations/acme", method: .get)
                #expect(revocations.status == .ok)
                both.wire.host.withLock { $0 = nil }
                let answer = try await ask(client)
                #expect(answer.status == .serviceUnavailable)
                #expect(String(buffer: answer.body).contains(#""retry":"later""#))
                // Everything else goes on.
                let metadata = try await client.execute(uri: "/v1/trust/acme/metadata/timestamp.json", method: .get)
                #expect(metadata.status == .ok)
                both.wire.host.withLock { $0 = host }
                #expect(try await ask(client).status == .ok)
            }
            // A team is not made without keys.
            both.wire.host.withLock { $0 = nil }
            #expect(
                await both.code { _ = try await both.control.createTeam("two", name: "", as: both.admin) }
                    == .unavailable
            )
            both.wire.host.withLock { $0 = host }
            _ = try await both.control.createTeam("two", name: "", as: both.admin)
        }
    }

    @Test func `who may enrol is decided where the keys are, when they hold that`() async throws {
        try await run { both in
            let conditions = EnrolmentConditions(requiresToken: true, deviceLimit: 3)
            _ = try await both.control.setEnrolmentConditions(conditions, of: "shop", as: both.admin)
            #expect(try await both.control.enrolmentConditions(of: "shop", as: both.admin) == conditions)
            let (token, _) = try await both.control.createEnrolmentToken(
                team: "acme",
                app: "shop",
                uses: 2,
                lifetime: 86_400,
                as: both.admin
            )
            #expect(try await both.control.enrolmentTokens(of: "acme", as: both.admin).map(\.id) == [token.id])
            try await both.control.removeEnrolmentToken(token.id, team: "acme", as: both.admin)
            #expect(try await both.control.enrolmentTokens(of: "acme", as: both.admin).isEmpty)
            #expect(try await both.controlDatabase.read { try $0.query("SELECT id FROM enrolment_tokens") }.isEmpty)
            let holding = try await both.host(holdsEnrolment: true)
            both.wire.host.withLock { $0 = holding }
            let refused: [() async throws -> Void] = [
                {
                    _ = try await both.control.setEnrolmentConditions(EnrolmentConditions(), of: "shop", as: both.admin)
                },
                {
                    _ = try await both.control.createEnrolmentToken(
                        team: "acme",
                        app: nil,
                        uses: nil,
                        lifetime: 1000,
                        as: both.admin
                    )
                },
            ]
            for change in refused { #expect(await both.code(change) == .forbidden) }
            // An app that nobody has said anything about demands a token.
            _ = try await both.control.createApp("game", team: "acme", name: "", as: both.admin)
            #expect(try await both.control.enrolmentConditions(of: "game", as: both.admin).requiresToken)
        }
    }

    @Test func `what an app may have says the deployment server, who is a device the key service`() async throws {
        try await run { both in
            let encryption = try #require(try await both.publishEncryptedModel().summary.encryption)
            let (key, content) = (encryption.keyID, encryption.contentID)
            let holding = try await both.host(holdsEnrolment: true)
            both.wire.host.withLock { $0 = holding }
            let beside = try await KeyHost.service(
                database: both.keyDatabase,
                vault: try KeyVault(folder: both.folder + "/keys/vault"),
                holdsEnrolment: true
            )
            let custodian = Principal(kind: .token(id: "x"), name: "custodian", roles: ["acme": [.owner]])
            try await beside.mirror("shop", of: "acme")
            let (_, text) = try await beside.createEnrolmentToken(
                team: "acme",
                app: "shop",
                uses: nil,
                lifetime: 1000,
                as: custodian
            )
            try await Application(router: makeRouter(both.control)).test(.router) { client in
                let device = try await Device(both, client)
                // A deployment server that was taken over has no token to give.
                #expect(try await device.enrol(nil) == .attestationRequired)
                #expect(try await device.enrol(EnrolmentToken(text)) == nil)
                // No deployment has the model yet; then one has, and the request goes as far as the key, which is
                // another team's.
                #expect(try await device.release(key, content) == .notEntitled)
                #expect(try await both.keyRecords("content", of: "key_grants").isEmpty)
                try await both.deploy()
                #expect(try await device.release(key, content) == .unknownKey)
                #expect(try await both.keyRecords("content", of: "key_grants") == [content])
                #expect(try await device.release(key, String(repeating: "0", count: 32)) == .notEntitled)
                #expect(try await both.keyRecords("action", of: "audit WHERE subject = '\(content)'") == ["key.grant"])
                // The deployment server has no record of the device, and cannot make one.
                let here = try await both.controlDatabase.read { try $0.query("SELECT device FROM devices") }
                #expect(here.isEmpty)
                #expect(try await both.keyRecords("device", of: "devices").count == 1)
            }
        }
    }

    @Test func `a key service that goes away meanwhile signs with its new key when it is back`() async throws {
        try await run { both in
            func active() async throws -> String? {
                let sealed = try await both.keyDatabase.read { connection in
                    try connection.first("SELECT sealed FROM key_rings WHERE team = 'acme'")?.bytes("sealed")
                }
                let ring = try KeyVault(folder: both.folder + "/keys/vault").open(try #require(sealed))
                return ring.activeServiceKey?.bytes.map { String(format: "%02x", $0) }.joined()
            }
            func pending() async throws -> [String] {
                try await both.controlDatabase.read { connection in
                    try connection.query("SELECT key_id FROM pending_service_keys").map { try $0.text("key_id") }
                }
            }
            let (host, before) = (both.wire.host.withLock { $0 }, try await active())
            // It makes the key, and is gone.
            both.wire.change.withLock {
                $0 = { answer in
                    if answer.count > 16 { both.wire.host.withLock { $0 = nil } }
                    return answer
                }
            }
            #expect(try await both.control.replaceOnlineKeys(of: "acme", as: both.admin).isEmpty)
            let named = try await pending()
            #expect(named.count == 1 && named.first != before)
            #expect(try await active() == before)
            both.wire.change.withLock { $0 = nil }
            // Policies and metadata are renewed all the same.
            #expect(await both.code { try await both.control.renewSignatures() } == .unavailable)
            both.wire.host.withLock { $0 = host }
            try await both.control.renewSignatures()
            #expect(try await active() == named.first)
            #expect(try await pending().isEmpty)
        }
    }

    @Test func `a database says what it is for`() async throws {
        try await run { both in
            func open(_ role: ServerRole, _ database: SQLiteDatabase) async throws {
                _ = try await ServerCore.Service(
                    database: database,
                    blobs: try FolderBlobStore(folder: both.folder + "/control/blobs", removesLeftovers: false),
                    keys: try SigningKeyFolder(folder: both.folder + "/control/keys"),
                    vault: try KeyVault(folder: both.folder + "/control/vault"),
                    role: role
                )
            }
            #expect(await both.code { try await open(.all, both.controlDatabase) } == .conflict)
            #expect(await both.code { try await open(.keys, both.controlDatabase) } == .conflict)
            #expect(await both.code { try await open(.all, both.keyDatabase) } == .conflict)
            #expect(await both.code { try await open(.control, both.keyDatabase) } == .conflict)
            #expect(await both.code { try await open(.control, both.controlDatabase) } == nil)
        }
    }

    @Test func `keys move from a server that did everything, and devices stay enrolled`() async throws {
        let original = try await World.make()
        defer { original.remove() }
        let world = try await original.copy()
        defer { world.remove() }
        let owner = Principal(kind: .token(id: "x"), name: "owner", roles: ["acme": [.owner]])
        let before = try await world.service.keys(of: "acme", as: owner)
        try await world.database.write { connection in
            _ = try connection.execute(
                "INSERT INTO devices (team, device, app, status, record, enrolled) VALUES ('acme', 'd', 'shop', 'active', ?, 1)",
                [UInt8]([1, 2, 3])
            )
        }
        let folder = world.folder + "/apart"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let target = try SQLiteDatabase(path: folder + "/server.sqlite")
        let vault = try KeyVault(folder: folder + "/vault", strength: .file)
        let old = try KeyVault(folder: world.folder + "/vault")
        let sealed = try await world.database.read { connection in
            try #require(try connection.first("SELECT sealed FROM key_rings WHERE team = 'acme'")).bytes("sealed")
        }
        #expect(try await KeyHost.move(from: world.database, vault: old, to: target, vault: vault) == 2)
        let service = try await KeyHost.service(database: target, vault: vault)
        #expect(try await service.keys(of: "acme", as: owner) == before)
        let check = try await service.check()
        #expect(check.problems.isEmpty, "\(check.problems)")
        let (moved, left) = (
            try await target.read { try $0.query("SELECT record FROM devices").map { try $0.bytes("record") } },
            try await world.database.read { connection in
                try ["key_rings", "devices", "enrolment_tokens"].map {
                    try connection.query("SELECT * FROM \($0)").count
                }
            }
        )
        #expect(moved == [[1, 2, 3]])
        #expect(left == [0, 0, 0])
        await #expect(throws: ServiceError.self) {
            _ = try await KeyHost.move(from: world.database, vault: old, to: target, vault: vault)
        }
        // Removed records are not in the file any more.
        for name in ["server.sqlite", "server.sqlite-wal"] {
            let file = try Data(contentsOf: URL(fileURLWithPath: world.folder + "/" + name))
            #expect(file.range(of: Data(sealed)) == nil, "\(name)")
        }
    }

    @Test func `keys do not move onto others of a team that is called the same, or from nothing`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        try await run { both in
            let old = try KeyVault(folder: world.folder + "/vault")
            let new = try KeyVault(folder: both.folder + "/keys/vault")
            let before = try await both.keyRecords("team", of: "key_rings")
            func move(from source: any ServerDatabase.Database) async -> ServiceError.Code? {
                await both.code {
                    _ = try await KeyHost.move(from: source, vault: old, to: both.keyDatabase, vault: new)
                }
            }
            #expect(await move(from: world.database) == .conflict)
            #expect(try await world.database.read { try $0.query("SELECT team FROM key_rings").count } == 2)
            #expect(try await both.keyRecords("team", of: "key_rings") == before)
            #expect(await move(from: try SQLiteDatabase(path: both.folder + "/none.sqlite")) == .conflict)
            #expect(await move(from: both.keyDatabase) == .conflict)
        }
    }

    private func challengeRequest(_ team: String) throws -> [UInt8] {
        Array(
            #"{"format":1,"nonce":"\#(String(repeating: "ab", count: 16))","team":"\#(team)","type":"mlk-challenge-request"}"#
                .utf8
        )
    }
}
