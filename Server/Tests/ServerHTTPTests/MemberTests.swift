import DeploymentKeys
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServerCore
import ServerDatabase
import Testing

/// Members, invitations, sessions and enrolment tokens, as programs use them.
@Suite struct MemberTests {
    private typealias Client = any TestClientProtocol

    /// Runs a test with a world, its owner's token and a client.
    private func withWorld(_ body: @escaping @Sendable (World, String, any TestClientProtocol) async throws -> Void)
        async throws
    {
        let world = try await World.make()
        defer { world.remove() }
        let owner = try #require(world.credentials.first { $0.role == .owner && $0.reach == .team }).text
        try await world.run { client in try await body(world, owner, client) }
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ token: String?,
        _ body: String? = nil,
        _ client: Client
    ) async throws -> (status: HTTPResponse.Status, json: [String: Any]) {
        var headers: HTTPFields = [:]
        if let token { headers[.authorization] = "Bearer \(token)" }
        let answer = try await client.execute(
            uri: "/api/v1/" + path,
            method: method,
            headers: headers,
            body: body.map { ByteBuffer(string: $0) }
        )
        let json = try? JSONSerialization.jsonObject(with: Data(Array(buffer: answer.body)))
        return (answer.status, json as? [String: Any] ?? ["list": json as Any])
    }

    private func message(_ json: [String: Any]) -> String {
        (json["error"] as? [String: Any])?["message"] as? String ?? ""
    }

    /// Invites a person and opens the link.
    private func join(_ email: String, _ role: Role, _ owner: String, _ client: Client) async throws -> String {
        let invited = try await send(
            .post,
            "teams/acme/invitations",
            owner,
            #"{"email":"\#(email)","roles":["\#(role.rawValue)"]}"#,
            client
        )
        #expect(invited.status == .created)
        let secret = try #require((invited.json["link"] as? String)?.split(separator: "/").last)
        let session = try await send(.post, "sessions", nil, #"{"link":"\#(secret)"}"#, client)
        #expect(session.status == .created)
        return try #require(session.json["text"] as? String)
    }

    private func id(of email: String, _ world: World) async throws -> String {
        let viewer = Principal(kind: .server, name: "test")
        return try #require(try await world.service.members(of: "acme", as: viewer).first { $0.email == email }).id
    }

    @Test func `an invitation makes an account, signs it in, and works once`() async throws {
        try await withWorld { world, owner, client in
            let invited = try await send(
                .post,
                "teams/acme/invitations",
                owner,
                #"{"email":"ada@example.org","name":"Ada","roles":["publisher"]}"#,
                client
            )
            let secret = try #require((invited.json["link"] as? String)?.split(separator: "/").last)
            let session = try await send(.post, "sessions", nil, #"{"link":"\#(secret)"}"#, client)
            let token = try #require(session.json["text"] as? String)
            let me = try await send(.get, "me", token, nil, client)
            #expect((me.json["teams"] as? [String: [String]]) == ["acme": ["publish", "view"]])
            #expect(try await send(.post, "sessions", nil, #"{"link":"\#(secret)"}"#, client).status == .unauthorized)
            #expect(try await send(.delete, "sessions/current", token, nil, client).status == .noContent)
            #expect(try await send(.get, "me", token, nil, client).status == .unauthorized)
            #expect(try await send(.delete, "sessions/current", owner, nil, client).status == .conflict)
        }
    }

    @Test func `an invitation of an account that exists lets nobody else into it`() async throws {
        try await withWorld { world, owner, client in
            let ada = try await join("ada@example.org", .viewer, owner, client)
            let other = try #require(world.credentials.first { $0.role == .owner && $0.reach == .otherTeam }).text
            let invited = try await send(
                .post,
                "teams/other/invitations",
                other,
                #"{"email":"ada@example.org","roles":["viewer"]}"#,
                client
            )
            let secret = try #require((invited.json["link"] as? String)?.split(separator: "/").last)
            let body = #"{"link":"\#(secret)"}"#
            #expect(try await send(.post, "sessions", nil, body, client).status == .conflict)
            let kim = try await join("kim2@example.org", .viewer, owner, client)
            #expect(try await send(.post, "sessions", kim, body, client).status == .conflict)
            #expect(try await send(.post, "sessions", ada, body, client).status == .created)
            let me = try await send(.get, "me", ada, nil, client)
            #expect(Set((me.json["teams"] as? [String: [String]] ?? [:]).keys) == ["acme", "other"])
            // An administrator of one team gets no link into an account that belongs to two.
            let member = try await id(of: "ada@example.org", world)
            #expect(try await send(.post, "teams/acme/members/\(member)/link", owner, nil, client).status == .forbidden)
        }
    }

    @Test func `nobody gives or takes more than they may themselves`() async throws {
        try await withWorld { world, owner, client in
            let boss = try await join("boss@example.org", .owner, owner, client)
            let admin = try await join("admin2@example.org", .admin, owner, client)
            let member = try await id(of: "boss@example.org", world)
            let grant = #"{"email":"eve@example.org","roles":["owner"]}"#
            #expect(try await send(.post, "teams/acme/invitations", admin, grant, client).status == .forbidden)
            let path = "teams/acme/members/\(member)"
            #expect(try await send(.put, path, admin, #"{"roles":["viewer"]}"#, client).status == .forbidden)
            #expect(try await send(.delete, path, admin, nil, client).status == .forbidden)
            #expect(try await send(.post, path + "/link", admin, nil, client).status == .forbidden)
            let own = try await id(of: "admin2@example.org", world)
            #expect(
                try await send(.put, "teams/acme/members/\(own)", admin, #"{"roles":["owner"]}"#, client).status
                    == .forbidden
            )
            #expect(
                try await send(.put, "teams/acme/members/\(own)", boss, #"{"roles":["viewer"]}"#, client).status == .ok
            )
            #expect(try await send(.get, "teams/acme/tokens", admin, nil, client).status == .forbidden)
        }
    }

    @Test func `a team always has an owner, and members may leave`() async throws {
        try await withWorld { world, owner, client in
            let ada = try await join("ada@example.org", .owner, owner, client)
            let member = try await id(of: "ada@example.org", world)
            let path = "teams/acme/members/\(member)"
            #expect(try await send(.delete, path, ada, nil, client).status == .conflict)
            #expect(try await send(.delete, path, owner, nil, client).status == .conflict)
            let demotion = try await send(.put, path, owner, #"{"roles":["viewer"]}"#, client)
            #expect(demotion.status == .conflict && message(demotion.json).contains("owner"))
            _ = try await join("bo@example.org", .owner, owner, client)
            #expect(try await send(.delete, path, ada, nil, client).status == .noContent)
            #expect(try await send(.get, "teams/acme", ada, nil, client).status == .notFound)
            let viewer = try await join("vi@example.org", .viewer, owner, client)
            let other = try await id(of: "bo@example.org", world)
            #expect(try await send(.delete, "teams/acme/members/\(other)", viewer, nil, client).status == .forbidden)
            let own = try await id(of: "vi@example.org", world)
            #expect(try await send(.delete, "teams/acme/members/\(own)", viewer, nil, client).status == .noContent)
            try await world.service.verifyAudit()
        }
    }

    @Test func `misspelled members of a request are refused by name`() async throws {
        try await withWorld { world, owner, client in
            let body =
                #"{"definition":{"default":1,"rules":[{"id":"a","when":{"always":true},"serve":1,"percentge":5}]}}"#
            let answer = try await send(.post, "apps/shop/collections/Flowers/deployments", owner, body, client)
            #expect(answer.status == .badRequest)
            #expect((answer.json["error"] as? [String: Any])?["field"] as? String == "definition.rules.[0].percentge")
        }
    }

    @Test func `a device enrols with a token, as often as the token says`() async throws {
        try await withWorld { world, owner, client in
            let conditions = try await send(.put, "apps/shop/enrolment", owner, #"{"requiresToken":true}"#, client)
            #expect(conditions.status == .ok)
            let made = try await send(.post, "teams/acme/enrolment-tokens", owner, #"{"app":"shop","uses":1}"#, client)
            #expect(made.status == .created)
            let token = try EnrolmentToken(try #require(made.json["text"] as? String))
            #expect(try await enrol("first", nil, world, client) == .attestationRequired)
            #expect(try await enrol("first", try EnrolmentToken(), world, client) == .tokenInvalid)
            #expect(try await enrol("first", token, world, client) == nil)
            #expect(try await enrol("second", token, world, client) == .tokenUsedUp)
            let list = try await world.service.enrolmentTokens(of: "acme", as: .server)
            #expect(list.first { $0.id == token.id }?.remaining == 0)
            let path = "teams/acme/enrolment-tokens/\(token.id)"
            #expect(try await send(.delete, path, owner, nil, client).status == .noContent)
            #expect(try await enrol("third", token, world, client) == .tokenInvalid)
        }
    }

    /// Enrols a device as devices do.
    /// - Returns: why it was refused.
    private func enrol(_ name: String, _ token: EnrolmentToken?, _ world: World, _ client: Client) async throws
        -> DeploymentKeyError.Code?
    {
        let sealed = try await world.database.read { connection in
            try connection.first("SELECT sealed FROM key_rings WHERE team = 'acme'")?.bytes("sealed")
        }
        let keys = try KeyVault(folder: world.folder + "/vault", strength: .file).open(try #require(sealed)).serviceKeys
        let device = try DeviceIdentity.make(
            in: world.folder + "/" + UUID().uuidString,
            team: "acme",
            app: "shop",
            strength: .file
        )
        func post(_ path: String, _ body: [UInt8]) async throws -> [UInt8] {
            Array(buffer: try await client.execute(uri: path, method: .post, body: ByteBuffer(bytes: body)).body)
        }
        let (body, nonce) = device.challengeRequest()
        let challenge = try device.acceptChallenge(try await post("/v1/challenge", body), for: nonce, trusting: keys)
        let draft = device.enrolment(challenge)
        let request = try device.enrolmentRequest(draft, try token?.evidence(binding: draft.binding) ?? .none)
        let answer = try await post("/v1/enroll", request.body)
        do throws(DeploymentKeyError) { try device.accept(answer, for: request, trusting: keys) } catch {
            return error.code
        }
        return nil
    }
}
