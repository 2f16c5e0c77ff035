import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServerBlobs
import ServerCore
import ServerHTTP
import Testing

/// Attacks without any permission: excessive requests, and timing of answers.
@Suite(.serialized) struct AbuseTests {
    private static let forwarded = HTTPField.Name("X-Forwarded-For")!

    /// Runs a test with a world behind a proxy, which says where requests come from.
    private func behindProxy<Result: Sendable>(
        _ world: World,
        _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Result
    ) async throws -> Result {
        // Requests of the tests come from nowhere, which is written as this.
        let proxies = try TrustedProxies(["0.0.0.0/0", "::/0"])
        var options = Reception.Options()
        // No bucket fills while a test asks.
        options.uptime = { 0 }
        let reception = Reception(world.service, proxies: proxies, options: options)
        let router = makeRouter(world.service, proxies: proxies, reception: reception)
        return try await Application(router: router).test(.live) { client in try await body(client) }
    }

    private func statuses(_ count: Int, _ send: (Int) async throws -> TestResponse) async throws -> [Int: Int] {
        var statuses: [Int: Int] = [:]
        for index in 0..<count { statuses[Int(try await send(index).status.code), default: 0] += 1 }
        return statuses
    }

    @Test func `of ten thousand enrolments of one address within an hour ten are looked at`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let (seen, others) = try await behindProxy(world) { client in
            let seen = try await statuses(10_000) { _ in
                try await client.execute(
                    uri: "/v1/enroll",
                    method: .post,
                    headers: [Self.forwarded: "203.0.113.7"],
                    body: ByteBuffer(string: "{}")
                )
            }
            let other = try await client.execute(
                uri: "/v1/enroll",
                method: .post,
                headers: [Self.forwarded: "203.0.113.8"],
                body: ByteBuffer(string: "{}")
            )
            return (seen, Int(other.status.code))
        }
        #expect(seen == [400: 10, 429: 9990])
        #expect(others == 400)
        print("S11: 10,000 enrolments of one address in an hour: \(seen[429] ?? 0) refused, 10 looked at")
    }

    @Test func `sign-ins and checks are limited by address, and by the one that the proxy names`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        try await behindProxy(world) { client in
            func signIn(_ address: String, _ path: String = "/api/v1/sessions") async throws -> TestResponse {
                try await client.execute(
                    uri: path,
                    method: .post,
                    headers: [Self.forwarded: address],
                    body: ByteBuffer(string: #"{"link":"0"}"#)
                )
            }
            #expect(try await statuses(20) { _ in try await signIn("203.0.113.7") } == [401: 5, 429: 15])
            let refused = try await signIn("203.0.113.7")
            #expect((1...12).contains(Int(refused.headers[.retryAfter] ?? "") ?? 0))
            // However the address is written that leads to the same route.
            let paths = ["/api/v1/sessions/", "//api/v1/sessions", "/api//v1/sessions"]
            #expect(try await statuses(20) { try await signIn("203.0.113.8", paths[$0 % 3]) } == [401: 5, 429: 15])
            // One client has a whole network of IPv6.
            #expect(try await statuses(20) { try await signIn("2001:db8::\($0 + 1)") } == [401: 5, 429: 15])
            let policy = "/v1/apps/shop/environments/production/collections/Flowers/policy.json"
            let answers = try await statuses(200) { index in
                let uri = index % 2 == 0 ? policy : "/" + policy
                return try await client.execute(uri: uri, method: .get, headers: [Self.forwarded: "203.0.113.9"])
            }
            #expect(answers == [200: 120, 429: 80])
        }
    }

    @Test func `without a trusted proxy nobody's word on an address counts`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let answers = try await Application(router: makeRouter(world.service)).test(.live) { client -> [Int: Int] in
            try await self.statuses(20) { index in
                try await client.execute(
                    uri: "/api/v1/sessions",
                    method: .post,
                    headers: [Self.forwarded: "203.0.113.\(index)"],
                    body: ByteBuffer(string: #"{"link":"0"}"#)
                )
            }
        }
        // The machine itself is not limited.
        #expect(answers == [401: 20])
    }

    @Test func `a team uploads four files at once`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let actor = Principal(kind: .server, name: "test")
        var uploads: [any BlobUpload] = []
        for _ in 0..<4 { uploads.append(try await world.service.uploadArchive(team: "acme", as: actor)) }
        let refused = await #expect(throws: ServiceError.self) {
            _ = try await world.service.uploadArchive(team: "acme", as: actor)
        }
        #expect(refused?.code == .rateLimited && refused?.retryAfter != nil)
        _ = try await world.service.uploadArchive(team: "other", as: actor)
        await uploads.removeLast().cancel()
        _ = try await world.service.uploadArchive(team: "acme", as: actor)
    }

    @Test func `how long a refusal takes does not tell whether there is something`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let stranger = try #require(world.credentials.first { $0.role == .owner && $0.reach == .otherTeam }).text
        let known = try #require(world.credentials.first { $0.role == .owner && $0.reach == .team }).text
        let deployment = world.names["deployment"] ?? ""
        // Existing names, and missing ones.
        let pairs: [(String, [(path: String, token: String)])] = [
            ("teams", [("teams/acme", stranger), ("teams/none", stranger)]),
            ("apps", [("apps/shop", stranger), ("apps/none", stranger)]),
            ("deployments", [("deployments/\(deployment)", stranger), ("deployments/0000000000000000", stranger)]),
            ("tokens", [("me", Self.altered(known)), ("me", Self.altered(known, id: true))]),
        ]
        for (name, pair) in pairs {
            let difference = try await world.run { client in
                var times: [[Double]] = [[], []]
                for round in 0..<600 {
                    for side in round % 2 == 0 ? [0, 1] : [1, 0] {
                        let start = ContinuousClock.now
                        let answer = try await client.execute(
                            uri: "/api/v1/" + pair[side].path,
                            method: .get,
                            headers: [.authorization: "Bearer " + pair[side].token]
                        )
                        let time = start.duration(to: .now) / .milliseconds(1)
                        #expect(answer.status == (name == "tokens" ? .unauthorized : .notFound))
                        if round >= 100 { times[side].append(time) }
                    }
                }
                return quickTime(times[0]) - quickTime(times[1])
            }
            print(
                "S10: \(name): an answer takes \(String(format: "%+.3f", difference)) ms longer when there is something"
            )
            #expect(abs(difference) < 1, "\(name)")
        }
    }

    /// A token with another secret, or another name, whose check is right.
    private static func altered(_ token: String, id: Bool = false) -> String {
        var parts = token.split(separator: "_").map(String.init)
        if id { parts[2] = String(parts[2].reversed()) }
        parts[3] = String(parts[3].prefix(64).reversed())
        let start = parts.joined(separator: "_")
        var sum: UInt32 = ~0
        for byte in start.utf8 {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        let digits = String(~sum, radix: 16)
        return start + String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// The time that a tenth of the answers did not exceed: that of answers which nothing else held up.
///
/// What is judged is a time of the clock, the one that attackers measure.
func quickTime(_ times: [Double]) -> Double { times.sorted()[times.count / 10] }
