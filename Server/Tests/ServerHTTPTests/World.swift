import DeploymentKeys
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServerBlobs
import ServerCore
import ServerDatabase
import ServerHTTP
import ServerTesting
import UpdateFramework

/// A fetcher for tests that fetch nothing.
struct NoNetwork: DocumentFetcher {
    func fetch(_ url: URL, limit: Int) async throws -> [UInt8] { throw URLError(.cannotConnectToHost) }
}

/// A server with two teams and something of everything, whose folder can be copied.
struct World: Sendable {
    let folder: String
    let service: ServerCore.Service
    let database: SQLiteDatabase
    /// The values of the parameters in the paths of `openapi.yaml`.
    private(set) var names: [String: String] = [:]
    private(set) var credentials: [Credential] = []
    /// Tokens that are none, or none any more.
    private(set) var wrongTokens: [String: String] = [:]

    /// The caller.
    struct Credential: Sendable {
        enum Reach: Sendable, Equatable { case team, ownApp, otherApp, otherTeam, administrator }

        let reach: Reach
        /// `nil` for the administrator, who belongs to no team.
        let role: Role?
        let text: String

        var name: String { "\(role?.rawValue ?? "none") (\(reach))" }
    }

    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private init(folder: String, at time: Date, fetcher: any DocumentFetcher = NoNetwork()) async throws {
        self.folder = folder
        // Documents are as fresh as when they were read, however long a test takes.
        let uptime = ContinuousClock.now
        database = try SQLiteDatabase(path: folder + "/server.sqlite")
        service = try await ServerCore.Service(
            database: database,
            blobs: try FolderBlobStore(folder: folder + "/blobs"),
            keys: try SigningKeyFolder(folder: folder + "/keys"),
            vault: try KeyVault(folder: folder + "/vault", strength: .file),
            fetcher: fetcher,
            now: { time },
            uptime: { uptime }
        )
    }

    private static func freshFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/world-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Builds the world.
    static func make(fetcher: any DocumentFetcher = NoNetwork()) async throws -> World {
        let folder = try freshFolder()
        let expired = try await World(folder: folder, at: start.addingTimeInterval(-7200)).prepare()
        var world = try await World(folder: folder, at: start, fetcher: fetcher)
        (world.names, world.credentials, world.wrongTokens) = (expired.names, expired.credentials, expired.wrongTokens)
        return world
    }

    /// The same world in a folder of its own.
    func copy() async throws -> World {
        // SQLite's write-ahead log is written into the file first.
        let other = try Self.freshFolder()
        try database.backUp(to: other + "/server.sqlite")
        for part in ["blobs", "keys", "vault"] {
            try FileManager.default.copyItem(atPath: folder + "/" + part, toPath: other + "/" + part)
        }
        var world = try await World(folder: other, at: Self.start)
        (world.names, world.credentials, world.wrongTokens) = (names, credentials, wrongTokens)
        return world
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    // MARK: Building

    private func prepare() async throws -> World {
        var world = self
        let link = try await service.firstAdministratorLink() ?? ""
        let session = try await service.signIn(link: link)
        for (team, app) in [("acme", "shop"), ("other", "chess")] {
            _ = try await service.createTeam(team, name: "", as: try await service.principal(session: session.secret).0)
            let owner = try await service.principal(session: session.secret).0
            _ = try await service.createApp(app, team: team, name: "", as: owner)
        }
        let owner = try await service.principal(session: session.secret).0
        _ = try await service.createApp("game", team: "acme", name: "", as: owner)
        try await world.addContents(as: owner)
        try await world.addCredentials(session: session.secret, as: owner)
        return world
    }

    private mutating func addContents(as owner: Principal) async throws {
        _ = try await service.createCollection(
            "Flowers",
            app: "shop",
            description: "",
            models: ["Classifier"],
            as: owner
        )
        let upload = try await service.uploadArchive(team: "acme", as: owner)
        try await upload.append(SampleArchive.bytes("plain"))
        let archive = try await service.finishArchive(upload, team: "acme", fileName: "a", expecting: nil, as: owner)
        let second = try await service.uploadArchive(team: "acme", as: owner)
        try await second.append(SampleArchive.bytes("small pieces"))
        _ = try await service.finishArchive(second, team: "acme", fileName: "b", expecting: nil, as: owner)
        let release = try await service.createRelease(
            NewRelease(models: ["Classifier": .init(archive: archive.sha256)]),
            app: "shop",
            collection: "Flowers",
            as: owner
        )
        var definition = DeploymentDefinition(default: .release(1))
        definition.rollout = .init(steps: [.init(percentage: 1), .init(percentage: 100)])
        let draft = try await service.createDeployment(
            definition,
            name: "",
            app: "shop",
            collection: "Flowers",
            environment: "production",
            as: owner
        )
        let (webhook, _) = try await service.createWebhook(
            "https://chat.example.org/hook",
            actions: ["nothing"],
            team: "acme",
            as: owner
        )
        let deployment = try await service.createDeployment(
            definition,
            name: "",
            app: "shop",
            collection: "Flowers",
            environment: "production",
            as: owner
        )
        _ = try await service.operate(.activate, deployment.id, as: owner)
        let (_, secret) = try await service.invite(
            "kim@example.org",
            name: "Kim",
            roles: [.viewer],
            to: "acme",
            as: owner
        )
        _ = try await service.signIn(link: secret)
        let kim = try await service.members(of: "acme", as: owner).first { $0.email == "kim@example.org" }
        let (invitation, _) = try await service.invite(
            "lou@example.org",
            name: "",
            roles: [.viewer],
            to: "acme",
            as: owner
        )
        let (enrolment, _) = try await service.createEnrolmentToken(
            team: "acme",
            app: nil,
            uses: nil,
            lifetime: 86_400,
            as: owner
        )
        let (token, _) = try await service.createToken(team: "acme", app: nil, name: "", roles: [.viewer], as: owner)
        let trust = try await service.trustWorkloads(
            named: "CI",
            issuer: "https://issuer.example",
            audience: "coreml",
            subject: "repo:acme/*",
            roles: [.publisher],
            app: "shop",
            in: "acme",
            as: owner
        )
        names = [
            "draft": draft.id, "trust": trust.id, "webhook": webhook.id, "team": "acme", "app": "shop",
            "collection": "Flowers",
            "number": "1", "deployment": deployment.id,
            "sha256": archive.sha256, "digest": archive.sha256, "member": kim?.id ?? "", "invitation": invitation.id,
            "token": token.id, "enrolment": enrolment.id, "operation": "pause", "environment": "production",
            "key": try await service.keys(of: "acme", as: owner)[0].id, "file": "timestamp.json",
            "path": "apps/shop/collections/Flowers/\(release.sha256).1.json",
        ]
        try await draftTrust()
    }

    private mutating func addCredentials(session: String, as owner: Principal) async throws {
        func make(_ team: String, _ app: String?, _ role: Role, days: Double = 90) async throws -> (Token, text: String)
        {
            try await service.createToken(
                team: team,
                app: app,
                name: role.rawValue,
                roles: [role],
                lifetime: days * 86_400,
                as: owner
            )
        }
        for role in Role.allCases {
            let reaches: [(Credential.Reach, String, String?)] = [
                (.team, "acme", nil), (.ownApp, "acme", "shop"), (.otherApp, "acme", "game"),
                (.otherTeam, "other", nil),
            ]
            for (reach, team, app) in reaches {
                credentials.append(.init(reach: reach, role: role, text: try await make(team, app, role).text))
            }
        }
        // The administrator may make teams, and nothing in teams of others.
        let root = try await service.administratorLink()
        credentials.append(.init(reach: .administrator, role: nil, text: try await service.signIn(link: root).secret))
        try await database.write { connection in
            _ = try connection.execute(
                "DELETE FROM memberships WHERE account = (SELECT id FROM accounts WHERE email = ?)",
                "admin@localhost"
            )
        }
        let (revoked, text) = try await make("acme", nil, .owner)
        try await service.revokeToken(revoked.id, team: "acme", as: owner)
        let good = try await make("acme", nil, .owner).text
        wrongTokens = [
            "revoked": text,
            "expired": try await make("acme", nil, .owner, days: 1.0 / 24).text,
            "mistyped": String(good.dropLast()) + (good.last == "0" ? "1" : "0"),
            "of another kind": good.replacing("mlk_api_", with: "mlk_session_"),
            "without its secret": String(good.prefix(24)),
            "empty": "",
            "only a prefix": "mlk_",
            "SQL": "mlk_api_' OR 1=1 --_" + good.suffix(72),
            "huge": "mlk_api_" + String(repeating: "a", count: 100_000),
            "of someone who is not signed in": "mlk_session_0000000000000000_" + String(repeating: "0", count: 72),
        ]
    }

    /// The next root and the next metadata of the collection, unsigned: the server has the keys.
    private mutating func draftTrust() async throws {
        func newest(_ role: String) async throws -> SignedDocument {
            var (version, found) = (1, [UInt8]())
            while let bytes = try await service.trustMetadata(team: "acme", file: "\(version).\(role).json") {
                (version, found) = (version + 1, bytes)
            }
            return try SignedDocument(parsing: found, role: role)
        }
        let role = "\(names["app"] ?? "").\(names["collection"] ?? "")"
        let metadata = try RepositoryMetadata(
            root: try await newest("root"),
            targets: ["targets": try await newest("targets"), role: try await newest(role)],
            snapshot: nil,
            timestamp: nil
        )
        let expires = UTCTime(secondsSince1970: Int64(Self.start.timeIntervalSince1970)) + UTCTime.days(90)
        names["nextRoot"] = Data(try metadata.rootDraft(expires: expires).bytes).base64EncodedString()
        names["nextRelease"] = Data(try metadata.targetsDraft(role, expires: expires).bytes).base64EncodedString()
    }

    // MARK: Asking

    /// The path parameters of an operation: its possible objects.
    func names(for operation: APIOperation) -> [String: String] {
        var names = names
        if operation.path.contains("enrolment-tokens") { names["token"] = names["enrolment"] }
        if ["editDeployment", "approve"].contains(operation.id) { names["deployment"] = names["draft"] }
        return names
    }

    /// The request of an operation, with everything that the world has.
    func request(_ operation: APIOperation, names other: [String: String] = [:]) throws -> (uri: String, body: [UInt8])
    {
        let names = names(for: operation).merging(other) { $1 }
        var (path, text) = (operation.path, operation.body?.example ?? "")
        for (name, value) in names {
            path = path.replacing("{\(name)}", with: value)
            text = text.replacing("{\(name)}", with: value)
        }
        let body: [UInt8] =
            switch operation.id {
            case "uploadArchive": try SampleArchive.bytes("signed")
            case "uploadDelta": try SampleArchive.delta("copies")
            case "uploadVectors": [0x50, 0x4B, 0x03, 0x04, 0]
            default: Array(text.utf8)
            }
        return (path, body)
    }

    /// Sends an operation.
    /// - Parameter token: what stands behind `Bearer`; `nil` for no header.
    func send(
        _ operation: APIOperation,
        _ token: String?,
        names: [String: String] = [:],
        _ client: any TestClientProtocol
    ) async throws -> TestResponse {
        let (uri, body) = try request(operation, names: names)
        var headers: HTTPFields = [:]
        if let token { headers[.authorization] = "Bearer \(token)" }
        if let type = operation.body?.type { headers[.contentType] = type }
        return try await client.execute(
            uri: uri,
            method: operation.method,
            headers: headers,
            body: operation.body == nil ? nil : ByteBuffer(bytes: body)
        )
    }

    /// Runs `body` with a client of the server.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Result
    ) async throws -> Result {
        try await Application(router: makeRouter(service)).test(.router) { client in try await body(client) }
    }

    /// All that the database holds but the audit log and the times of last use.
    func contents() async throws -> [String: [String]] {
        let ignored = ["audit", "sqlite_sequence"]
        return try await database.read { connection in
            let tables = try connection.query("SELECT name FROM sqlite_master WHERE type = 'table'").map {
                try $0.text("name")
            }
            var contents: [String: [String]] = [:]
            for table in tables where !ignored.contains(table) {
                let columns = try connection.query("SELECT name FROM pragma_table_info(?)", table).map {
                    try $0.text("name")
                }
                let kept = columns.filter { !["last_used", "seen"].contains($0) }
                contents[table] = try connection.query(
                    "SELECT \(kept.joined(separator: ", ")) FROM \(table)"
                ).map { row in try kept.map { "\(try row[$0])" }.joined(separator: "|") }.sorted()
            }
            return contents
        }
    }

    /// How many refusals the audit log has.
    func auditedDenials() async throws -> Int {
        try await service.writeDenials()
        return try await database.read { connection in
            try connection.query("SELECT detail FROM audit WHERE action = 'access.denied'").reduce(0) { sum, row in
                let detail = try JSONDecoder().decode([String: String].self, from: Data(row.text("detail").utf8))
                return sum + (Int(detail["count"] ?? "") ?? 0)
            }
        }
    }
}
