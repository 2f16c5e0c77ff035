import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOSSL
import ServerHTTP
import Testing

/// Clients that let the server wait, and those that only seem to.
///
/// The times pass on the clock: the server's patience is a timer of its event loops, and clients differ by the pace at
/// which they send and take bytes of real connections.
@Suite(.serialized) struct SlowClientTests {
    private static let policy = "/v1/apps/shop/environments/production/collections/Flowers/policy.json"
    private static let patience = Duration.milliseconds(500)

    private func server() -> LiveServer {
        var server = LiveServer()
        server.options.patience = Self.patience
        return server
    }

    /// Whether the server closes a connection before 20 s are over, on which a client sends `first`, and `rest`
    /// repeatedly.
    private func isClosed(_ port: Int, _ first: String, _ rest: String) async throws -> Bool {
        let connection = try RawConnection(port: port)
        try await connection.send(first)
        let sender = Task {
            while !rest.isEmpty, !Task.isCancelled, (try? await connection.send(rest)) != nil {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        let start = ContinuousClock.now
        _ = await connection.receive(0)
        sender.cancel()
        return ContinuousClock.now - start < .seconds(10)
    }

    private static let body = "POST \(policy) HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"

    @Test(arguments: [
        ("says nothing", "", ""), ("begins a head", "GET /health HTTP/1.1\r\nHost:", ""),
        ("sends a head letter by letter", "GET /health HTTP/1.1\r\nHost: ", "x"), ("begins a body", body + "x", ""),
        ("sends a body letter by letter", body, "x"),
        ("has what it asked for", "GET /health HTTP/1.1\r\nHost: x\r\n\r\n", ""),
        ("has what it asked for, on the spot", "GET \(policy) HTTP/1.1\r\nHost: x\r\n\r\n", ""),
    ])
    func `a client is cut off that`(_ name: String, _ first: String, _ rest: String) async throws {
        let world = try await World.make()
        defer { world.remove() }
        try await server().run(world.service) { port, _ in
            let isCutOff = try await isClosed(port, first, rest)
            #expect(isCutOff, "\(name)")
        }
    }

    @Test func `a client that asks by TLS is cut off before its handshake has ended, too`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        var server = server()
        let authority = try Authority()
        try authority.issue(world.folder)
        server.certificate = try serverCertificate(world.folder)
        try await server.run(world.service) { port, _ in
            for first in ["", "\u{16}\u{3}\u{1}\u{1}"] {
                let isCutOff = try await isClosed(port, first, "")
                #expect(isCutOff)
            }
        }
    }

    @Test func `clients that wait for the server, ask now and then, or send a body slowly are not cut off`()
        async throws
    {
        let world = try await World.make()
        defer { world.remove() }
        try await server().run(world.service) { router in
            router.get("slow") { _, _ in
                try await Task.sleep(for: .seconds(3))
                return Response(status: .noContent)
            }
            router.post("body") { request, _ in
                let body = try await request.body.collect(upTo: 1 << 20)
                return Response(
                    status: .ok,
                    body: ResponseBody(byteBuffer: ByteBuffer(string: "\(body.readableBytes)"))
                )
            }
        } _: { port, _ in
            async let slow = RawConnection(port: port).ask("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
            let now = try RawConnection(port: port)
            let body = try RawConnection(port: port)
            try await body.send("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n")
            for _ in 0..<30 {
                #expect(try await now.ask("GET \(Self.policy) HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
                try await body.send(String(repeating: "x", count: 1000))
                try await Task.sleep(for: .milliseconds(100))
            }
            let answer = try await body.answers(1)[0]
            #expect(String(decoding: answer.body, as: UTF8.self) == "30000")
            let last = try await slow
            #expect(last.status == 204)
        }
    }

    // MARK: Answers that nobody takes

    @Test(arguments: [true, false])
    func `a client that takes nothing of a file is cut off, one that takes it slowly is not`(_ isSent: Bool)
        async throws
    {
        let world = try await World.make()
        defer { world.remove() }
        let (bytes, path) = try await world.addFile(byteCount: 8 << 20)
        var server = server()
        server.options.sendsFiles = isSent
        try await server.run(world.service) { port, _ in
            let request = "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
            let still = try RawConnection(port: port, keptByteCount: 1 << 16)
            try await still.send(request)
            let slow = try RawConnection(port: port, keptByteCount: 1 << 16)
            let start = ContinuousClock.now
            let taken = try await {
                try await slow.send(request)
                return await slow.receive([UInt8]()) { all, new in
                    all += new
                    usleep(UInt32(new.count / 3))
                    return all.count > bytes.count
                }
            }()
            // It took many times the server's patience, in which the other one took nothing.
            #expect(ContinuousClock.now - start > Self.patience * 4)
            #expect(Array(taken.suffix(bytes.count)) == bytes)
            let rest = await still.receive(0) { count, new in
                count += new.count
                return count >= bytes.count
            }
            #expect(rest < bytes.count)
        }
    }

    @Test(arguments: [HTTPVersion.http2, .http1_1])
    func `by TLS, too, a client that takes nothing of a file is cut off`(_ version: HTTPVersion) async throws {
        let world = try await World.make()
        defer { world.remove() }
        let (bytes, path) = try await world.addFile(byteCount: 24 << 20)
        var server = server()
        server.options.sendsFiles = false
        let authority = try Authority()
        try authority.issue(world.folder)
        server.certificate = try serverCertificate(world.folder)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try authority.root])
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        if version == .http1_1 { configuration.httpVersion = .http1Only }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await server.run(world.service) { port, _ in
                let request = HTTPClientRequest(url: "https://localhost:\(port)\(path)")
                let whole = try await client.execute(request, timeout: .seconds(20))
                #expect(whole.version == version)
                #expect(try await whole.body.collect(upTo: 32 << 20).readableBytes == bytes.count)
                let still = try await client.execute(request, timeout: .seconds(20))
                try await Task.sleep(for: Self.patience * 6)
                await #expect(throws: (any Error).self) { try await still.body.collect(upTo: 32 << 20) }
            }
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}
