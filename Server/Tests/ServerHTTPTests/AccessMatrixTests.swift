import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServerCore
import ServerHTTP
import Testing

/// Every operation of `openapi.yaml`, asked by everybody.
@Suite struct AccessMatrixTests {
    /// The expected answer to a caller.
    private enum Verdict: Equatable { case allowed, forbidden, hidden }

    private func verdict(_ operation: APIOperation, _ credential: World.Credential) -> Verdict {
        let permission: Permission
        switch operation.demand {
        case .none, .identified: return .allowed
        case .administrator: return credential.reach == .administrator ? .allowed : .forbidden
        case .permission(let demand): permission = demand
        }
        guard let role = credential.role else { return .hidden }
        let may = role.permissions.contains(permission)
        switch (operation.scope, credential.reach) {
        case (_, .otherTeam), (_, .administrator): return .hidden
        case (_, .team): return may ? .allowed : .forbidden
        case (.team, _):
            let isForApps = permission == .view || operation.isForAppTokens
            return may && isForApps ? .allowed : .forbidden
        case (_, .ownApp): return may ? .allowed : .forbidden
        case (_, .otherApp): return .hidden
        }
    }

    /// The answer to an allowed operation: sign-out is for sessions.
    private func success(_ operation: APIOperation, _ credential: World.Credential) -> Set<Int> {
        operation.id == "signOut" && credential.role != nil
            ? [409] : operation.statuses.filter { (200..<300).contains($0) }
    }

    @Test func `the file and the router list the same routes`() async throws {
        let documented = Set(try OpenAPIFile.operations().map(\.description))
        let world = try await World.make()
        defer { world.remove() }
        let served = makeRoutes(world.service).routes.map { route in
            let parts = route.path.description.split(separator: "/").map { part in
                part == "**" ? "{path}" : part.hasPrefix(":") ? "{\(part.dropFirst())}" : String(part)
            }
            return "\(route.method) /" + parts.joined(separator: "/")
        }
        #expect(Set(served).subtracting(documented).isEmpty, "routes that openapi.yaml lacks")
        #expect(documented.subtracting(served).isEmpty, "routes of openapi.yaml that are not served")
    }

    @Test func `every route refuses whoever may not use it, and every refusal is in the audit log`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let before = try await world.contents()
        let requests = try await world.run { client in
            var (requests, audited) = (0, try await world.auditedDenials())
            for operation in try OpenAPIFile.operations() where operation.demand != .none {
                var refusals = 0
                for credential in world.credentials {
                    let verdict = verdict(operation, credential)
                    guard verdict != .allowed else { continue }
                    let answer = try await world.send(operation, credential.text, client)
                    #expect(
                        answer.status.code == (verdict == .hidden ? 404 : 403),
                        "\(operation) by \(credential.name): \(String(buffer: answer.body))"
                    )
                    (requests, refusals) = (requests + 1, refusals + 1)
                }
                for (name, token) in world.wrongTokens {
                    let answer = try await world.send(operation, token, client)
                    #expect(answer.status == .unauthorized, "\(operation) with a token that is \(name)")
                    #expect(answer.headers[.wwwAuthenticate] == "Bearer")
                    requests += 1
                    if ["revoked", "expired"].contains(name) { refusals += 1 }
                }
                #expect(try await world.send(operation, nil, client).status == .unauthorized, "\(operation) by nobody")
                let now = try await world.auditedDenials()
                #expect(now - audited == refusals, "refusals of \(operation) in the audit log")
                (requests, audited) = (requests + 1, now)
            }
            return requests
        }
        #expect(try await world.contents() == before, "a request that was refused has changed something")
        try await world.service.verifyAudit()
        #expect(requests > 1000)
        print("access matrix: \(requests) requests refused")
    }

    @Test func `every route lets in whoever may use it`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        var requests = 0
        for operation in try OpenAPIFile.operations() where operation.demand != .none {
            for credential in world.credentials where verdict(operation, credential) == .allowed {
                let place = operation.isChange ? try await world.copy() : world
                defer { if operation.isChange { place.remove() } }
                let answer = try await place.run { try await place.send(operation, credential.text, $0) }
                #expect(
                    success(operation, credential).contains(Int(answer.status.code)),
                    "\(operation) by \(credential.name): \(answer.status) \(String(buffer: answer.body))"
                )
                requests += 1
            }
        }
        #expect(requests > 300)
        print("access matrix: \(requests) requests allowed")
    }

    @Test func `what is hidden is told apart from what does not exist by nothing`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let missing = ["team": "none", "app": "nope", "deployment": "0000000000000000"]
        try await world.run { client in
            for operation in try OpenAPIFile.operations() {
                for credential in world.credentials where verdict(operation, credential) == .hidden {
                    let hidden = try await world.send(operation, credential.text, client)
                    let absent = try await world.send(operation, credential.text, names: missing, client)
                    var text = String(buffer: absent.body)
                    for (name, value) in missing {
                        text = text.replacing(
                            "\"\(value)\\\"",
                            with: "\"\(world.names(for: operation)[name] ?? "")\\\""
                        )
                    }
                    #expect(text == String(buffer: hidden.body), "\(operation) by \(credential.name)")
                    #expect(hidden.status == absent.status && hidden.headers == absent.headers, "\(operation)")
                }
            }
        }
    }

    @Test func `open routes take no token`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        try await world.run { client in
            for operation in try OpenAPIFile.operations() where operation.demand == .none {
                let answer = try await world.send(operation, nil, client)
                // Only what is sent as a proof can be wrong: a link that is none, a message that a device did not sign.
                let isProof = ["signIn", "exchangeToken", "challenge", "enroll", "renew", "releaseKey"].contains(
                    operation.id
                )
                #expect(isProof || (200..<300).contains(answer.status.code), "\(operation): \(answer.status)")
                #expect(operation.statuses.contains(Int(answer.status.code)), "\(operation): \(answer.status)")
            }
        }
    }

    @Test func `other methods on a path are answered with what is allowed`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        try await world.run { client in
            let answer = try await client.execute(uri: "/api/v1/teams/acme", method: .delete)
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.headers[.allow] == "GET")
        }
    }
}
