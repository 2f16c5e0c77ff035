import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import ServerBlobs
import ServerCore
import ServerDatabase
import ServerHTTP
import ServerSupport
import ServerTesting
import ServiceLifecycle
import Synchronization
import Testing

/// A server at a port of this machine, as the program makes one.
struct LiveServer {
    var options = Reception.Options()
    var proxies: TrustedProxies?
    var certificate: ServerCertificate?
    var measurements = Measurements(PrometheusRegistry())

    /// The lines of the measurements that count answers.
    var answerCounts: [Substring] {
        measurements.text([:]).split(separator: "\n").filter { $0.hasPrefix("coreml_http_requests_total") }
    }

    init() {
        options.sendsFiles = true
        options.serverName = "coreml-server"
    }

    /// Runs a server while `body` runs.
    @discardableResult
    func run<Result: Sendable>(
        _ service: ServerCore.Service,
        services: [any ServiceLifecycle.Service] = [],
        prepare: (Router<Context>) -> Void = { _ in },
        _ body: @escaping @Sendable (_ port: Int, _ reception: Reception) async throws -> Result
    ) async throws -> Result {
        let reception = Reception(service, proxies: proxies, options: options, measurements: measurements)
        let router = makeRouter(service, isSecure: certificate != nil, proxies: proxies, reception: reception)
        prepare(router)
        let server: (Logger, @escaping @Sendable (any Channel) async -> Void) -> any ServiceLifecycle.Service = {
            Application(
                router: router,
                server: reception.server(certificate),
                configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: options.serverName),
                services: services,
                onServerRunning: $1,
                logger: $0
            )
        }
        return try await serving(server) { port in try await body(port, reception) }
    }
}

extension World {
    /// A file of random bytes that devices may fetch.
    func addFile(byteCount: Int) async throws -> (bytes: [UInt8], path: String) {
        // A generator of Lehmer's kind, from a random beginning.
        var state = UInt64.random(in: 1...UInt64.max) | 1
        let bytes = (0..<byteCount).map { _ in
            state = state &* 0xDA94_2042_E4DD_58B5
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        let upload = try await FolderBlobStore(folder: folder + "/blobs", removesLeftovers: false).upload()
        try await upload.append(bytes)
        return (bytes, "/b/sha256/\(try await upload.finish(expecting: nil).digest)")
    }
}

/// The fast path between connections and routes.
@Suite(.serialized) struct ReceptionTests {
    private static let policy = "/v1/apps/shop/environments/production/collections/Flowers/policy.json"

    private func get(_ path: String, _ headers: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: x\r\n\(headers)\r\n"
    }

    @Test func `what is answered on the spot is what the routes answer`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let server = LiveServer()
        try await server.run(world.service) { port, _ in
            let connection = try RawConnection(port: port)
            let tag = try #require(try await connection.ask(get(Self.policy)).header("etag"))
            let requests = [
                get(Self.policy), get(Self.policy, "If-None-Match: \(tag)\r\n"),
                get(Self.policy, "If-None-Match: \"other\"\r\n"), get("/v1/trust/acme/metadata/timestamp.json"),
                get("/v1/trust/acme/metadata/1.root.json"), get("/v1/trust/acme/metadata/2.root.json"),
                get("/v1/trust/acme/metadata/1.root.json", "If-None-Match: \"0\"\r\n"),
            ]
            for request in requests {
                // Those that say what happens to the connection are left to the routes.
                let closing = request.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
                let byRoutes = try await RawConnection(port: port).ask(closing)
                _ = try await connection.ask(request)
                let before = server.answerCounts
                #expect(try await connection.ask(request) == byRoutes, "\(request)")
                #expect(server.answerCounts != before, "\(request) was not answered on the spot")
            }
            #expect(try await connection.ask(requests[1]).status == 304)
            #expect(try await connection.ask(requests[5]).status == 404)
        }
    }

    @Test func `a policy that changes is given at once`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let actor = Principal(kind: .server, name: "test", isAdministrator: true)
        try await LiveServer().run(world.service) { port, _ in
            let connection = try RawConnection(port: port)
            for round in 0..<10 {
                let before = try await connection.ask(get(Self.policy))
                #expect(try await connection.ask(get(Self.policy)) == before)
                let made = try await world.service.createDeployment(
                    DeploymentDefinition(default: .release(1)),
                    name: "\(round)",
                    app: "shop",
                    collection: "Flowers",
                    environment: "production",
                    as: actor
                )
                _ = try await world.service.operate(.activate, made.id, as: actor)
                #expect(try await connection.ask(get(Self.policy)).body != before.body)
            }
        }
    }

    @Test func `answers come in the order of requests, also when a client does not take them`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let timers = ManualTimers()
        var server = LiveServer()
        server.options.timers = timers
        try await server.run(world.service) { port, reception in
            let connection = try RawConnection(port: port, keptByteCount: 1 << 16)
            let tag = try #require(try await connection.ask(get(Self.policy)).header("etag"))
            let mixed = [get(Self.policy), get("/health"), get(Self.policy, "If-None-Match: \(tag)\r\n"), get("/none")]
            #expect(try await connection.ask(mixed).map(\.status) == [200, 200, 304, 404])
            // Far more than what the system keeps: the server stops to read, and goes on when the client takes answers.
            let count = 20_000
            let sender = Task { [request = get(Self.policy)] in
                try await connection.send(String(repeating: request, count: count))
            }
            // Beside the connection's own timer, that of a server that cannot write: the buffers of both sides are full.
            await timers.areSet(2)
            // One connection is never more than one that waits.
            #expect(reception.waitingRequests <= 1)
            // How many ends of heads have come, and how much of the next.
            let (heads, _) = await connection.receive((0, 0)) { state, bytes in
                let end: [UInt8] = [13, 10, 13, 10]
                for byte in bytes {
                    state.1 = byte == end[state.1] ? state.1 + 1 : byte == 13 ? 1 : 0
                    if state.1 == 4 { state = (state.0 + 1, 0) }
                }
                return state.0 >= count
            }
            try await sender.value
            #expect(heads == count)
        }
    }

    @Test func `on the spot, too, addresses that proxies name are limited`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        var server = LiveServer()
        server.proxies = try TrustedProxies(["127.0.0.0/8"])
        server.options.uptime = { 0 }
        try await server.run(world.service) { port, _ in
            let connection = try RawConnection(port: port)
            let request = get(Self.policy, "X-Forwarded-For: 203.0.113.9\r\n")
            var statuses: [Int] = []
            for _ in 0..<200 { statuses.append(try await connection.ask(request).status) }
            let good = statuses.count { $0 == 200 }
            #expect(good == 120 && statuses.count { $0 == 429 } == 80)
            #expect(try await connection.ask(get(Self.policy, "X-Forwarded-For: 203.0.113.10\r\n")).status == 200)
        }
    }

    // MARK: Reports

    private static let reports = "/v1/apps/shop/environments/production/collections/Flowers/reports"

    private static func report(id: String? = nil, release: Int = 1) -> String {
        let id = id ?? (0..<32).map { _ in String("0123456789abcdef".randomElement() ?? "0") }.joined()
        return #"{"counts":[{"event":"used","release":\#(release)}],"deviceClass":"phone","format":1,"id":"\#(id)","#
            + #""operatingSystem":"Linux"}"#
    }

    private static func post(_ path: String, _ body: String, _ headers: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    @Test func `reports are taken on the spot as the routes take them`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let server = LiveServer()
        let id = String(repeating: "ab", count: 16)
        let other = Self.reports.replacing("Flowers", with: "Trees")
        try await server.run(world.service) { port, _ in
            let connection = try RawConnection(port: port)
            let cases = [
                (Self.reports, Self.report(id: id), 204), (Self.reports, Self.report(release: 900), 400),
                (other, Self.report(), 404), (Self.reports, "", 400), (Self.reports, "{", 400),
                (Self.reports, Self.report(id: "x"), 400), (Self.reports, #"{"format":2}"#, 400),
            ]
            for (path, body, status) in cases {
                let byRoutes = try await RawConnection(port: port).ask(Self.post(path, body, "Connection: close\r\n"))
                #expect(try await connection.ask(Self.post(path, body)) == byRoutes, "\(path) \(body)")
                #expect(byRoutes.status == status, "\(path) \(body)")
            }
            let line =
                #"{method="POST",route="/v1/apps/{app}/environments/{environment}/collections/{collection}/reports","#
                + #"status="204"}"#
            #expect(server.measurements.text([:]).contains(line + " 1\n"))
            #expect(Measurements.shared.text([:]).contains(line))
        }
        // The report came twice, and counts once.
        let rows = try await world.database.read { try $0.query("SELECT count FROM report_counts") }
        #expect(try rows.map { try $0.integer("count") } == [1])
    }

    @Test func `reports that come in pieces, or with other requests, are answered in their order`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let reception = try await LiveServer().run(world.service) { port, reception in
            let connection = try RawConnection(port: port)
            _ = try await connection.ask(get(Self.policy))
            func post() -> String { Self.post(Self.reports, Self.report()) }
            let mixed = [
                post(), get(Self.policy), post(), post(), get("/health"), post(), get("/none"), post(), post(),
            ]
            for _ in 0..<20 {
                let statuses = try await connection.ask(mixed).map(\.status)
                #expect(statuses == [204, 200, 204, 204, 200, 204, 404, 204, 204])
            }
            let pieces = post()
            for end in stride(from: 20, to: pieces.count, by: 40) {
                // The answer to the request before it tells that the server has read the first piece.
                let pieces = post()
                #expect(try await connection.ask(get(Self.policy) + pieces.prefix(end)).status == 200)
                #expect(try await connection.ask(String(pieces.dropFirst(end))).status == 204)
            }
            for piece in stride(from: 0, to: pieces.count, by: 40) {
                try await connection.send(String(pieces.dropFirst(piece).prefix(40)))
            }
            #expect(try await connection.answers(1)[0].status == 204)
            // Connections that end in the middle.
            for end in [20, pieces.count - 5, pieces.count] {
                try await RawConnection(port: port).send(String(post().prefix(end)))
            }
            return reception
        }
        // The server has ended, and with it all connections.
        #expect(reception.waitingRequests == 0)
    }

    // MARK: Too much to do

    @Test func `when too many wait devices are told to come later, and people are not`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        var server = LiveServer()
        server.options.maximumQueueLength = 3
        let gate = Gate()
        let measurements = server.measurements
        try await server.run(world.service) { router in
            router.get("v1/slow") { _, _ in
                await gate.wait()
                return Response(status: .noContent)
            }
        } _: { port, reception in
            let slow = try (0..<3).map { _ in try RawConnection(port: port) }
            for connection in slow { try await connection.send(get("/v1/slow")) }
            await gate.isReached(by: 3)
            #expect(reception.waitingRequests == 3)
            let device = try RawConnection(port: port)
            let body = String(repeating: "x", count: 100_000)
            let reports = "/v1/apps/shop/environments/production/collections/Flowers/reports"
            let post = "POST \(reports) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            var refused = try await device.ask([
                get("/v1/trust/acme/metadata/timestamp.json"), post, get("/b/sha256/00"),
            ])
            refused.append(
                try await device.ask(post.replacing("\r\n\r\n", with: "\r\nExpect: 100-continue\r\n\r\n"))
            )
            let last = try RawConnection(port: port)
            refused.append(try await last.ask(get("/b/sha256/00", "Connection: close\r\n")))
            #expect(refused.last?.header("connection") == "close")
            #expect(
                await last.receive(0) { count, bytes in
                    count += bytes.count
                    return false
                } == 0
            )
            #expect(refused.map(\.status) == [503, 503, 503, 503, 503])
            for answer in refused {
                #expect((30...90).contains(Int(answer.header("retry-after") ?? "") ?? 0))
                #expect(String(decoding: answer.body, as: UTF8.self).contains("unavailable"))
            }
            #expect(try await device.ask([get("/health"), get("/api/v1/openapi.yaml")]).map(\.status) == [200, 200])
            for count in [
                #"{method="GET",route="busy",status="503"} 3"#, #"{method="POST",route="busy",status="503"} 2"#,
            ] {
                #expect(measurements.text([:]).contains(count))
            }
            // A request of which a part has come is refused at once and keeps nobody from anything.
            let parts = try (0..<5).map { _ in try RawConnection(port: port) }
            let part = "POST \(reports) HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"
            for connection in parts {
                #expect(try await connection.ask([get("/b/sha256/00"), part]).map(\.status) == [503, 503])
            }
            #expect(reception.waitingRequests == 3)
            gate.open()
            for connection in slow { #expect(try await connection.answers(1)[0].status == 204) }
            #expect(try await device.ask(get("/v1/trust/acme/metadata/timestamp.json")).status == 200)
            // A document that is known costs less than to say no.
            for connection in slow { try await connection.send(get("/v1/slow")) }
            await gate.isReached(by: 3)
            #expect(try await device.ask(get("/v1/trust/acme/metadata/timestamp.json")).status == 200)
            gate.open()
            for connection in slow { _ = try await connection.answers(1) }
            #expect(reception.waitingRequests == 0)
        }
    }

    @Test func `requests of connections that end do not go on waiting`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        let gate = Gate()
        let reception = try await LiveServer().run(world.service) { router in
            router.get("v1/slow") { _, _ in
                await gate.wait()
                return Response(status: .noContent)
            }
        } _: { port, reception in
            var connections = try (0..<5).map { _ in try RawConnection(port: port) }
            for connection in connections { try await connection.send(get("/v1/slow")) }
            await gate.isReached(by: 5)
            #expect(reception.waitingRequests == 5)
            connections = []
            gate.open()
            return reception
        }
        // The server has ended, and with it all connections.
        #expect(reception.waitingRequests == 0)
    }

    // MARK: Files

    @Test(arguments: [true, false])
    func `files arrive whole and in parts, sent by the system or read`(isSent: Bool) async throws {
        let world = try await World.make()
        defer { world.remove() }
        let (bytes, path) = try await world.addFile(byteCount: (5 << 20) + 13)
        var server = LiveServer()
        server.options.sendsFiles = isSent
        try await server.run(world.service) { port, _ in
            let connection = try RawConnection(port: port)
            let answers = try await connection.ask([
                get(path), get(path, "Range: bytes=1048570-3000000\r\n"), get(path, "Range: bytes=-1\r\n"),
                get("/health"),
            ])
            #expect(answers.map(\.status) == [200, 206, 206, 200])
            #expect(answers[0].body == bytes)
            #expect(answers[1].body == Array(bytes[1_048_570...3_000_000]))
            #expect(answers[2].body == [bytes[bytes.count - 1]])
        }
    }
}
