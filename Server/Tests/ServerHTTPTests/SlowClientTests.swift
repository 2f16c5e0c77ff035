import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOSSL
import ServerHTTP
import ServerSupport
import Testing

/// Clients that let the server wait, and those that only seem to.
///
/// Connections are real; the server's patience ends when a test says so.  A connection has a timer as long as it lives, and
/// another one while the server cannot write what it wants to.
@Suite(.serialized, .timeLimit(.minutes(20))) struct SlowClientTests {
    private static let policy = "/v1/apps/shop/environments/production/collections/Flowers/policy.json"
    private static let patience = Duration.seconds(60)
    private let timers = ManualTimers()

    private func server() -> LiveServer {
        var server = LiveServer()
        (server.options.patience, server.options.timers) = (Self.patience, timers)
        return server
    }

    /// Returns once the server has closed a connection on which a client sends `first`, and `rest` once in each span of the
    /// server's patience.
    private func isClosed(_ port: Int, _ first: String, _ rest: String) async throws {
        let connection = try RawConnection(port: port)
        try await connection.send(first)
        await timers.areSet(1)
        while timers.count > 0 {
            // The server may have closed it.
            if !rest.isEmpty { await connection.offer(rest) }
            try await timers.advance(by: Self.patience)
        }
        _ = await connection.receive(0)
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
        try await server().run(world.service) { port, _ in try await isClosed(port, first, rest) }
    }

    @Test func `a client that asks by TLS is cut off before its handshake has ended, too`() async throws {
        let world = try await World.make()
        defer { world.remove() }
        var server = server()
        let authority = try Authority()
        try authority.issue(world.folder)
        server.certificate = try serverCertificate(world.folder)
        try await server.run(world.service) { port, _ in
            for first in ["", "\u{16}\u{3}\u{1}\u{1}"] { try await isClosed(port, first, "") }
        }
    }

    @Test func `clients that wait for the server, ask now and then, or send a body slowly are not cut off`()
        async throws
    {
        let world = try await World.make()
        defer { world.remove() }
        let gate = Gate()
        let (counts, counted) = AsyncStream<Int>.makeStream()
        try await server().run(world.service) { router in
            router.get("slow") { _, _ in
                await gate.wait()
                return Response(status: .noContent)
            }
            router.post("body") { request, _ in
                var count = 0
                for try await piece in request.body {
                    count += piece.readableBytes
                    counted.yield(count)
                }
                return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "\(count)")))
            }
        } _: { port, _ in
            let slow = try RawConnection(port: port)
            try await slow.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
            await gate.isReached(by: 1)
            let now = try RawConnection(port: port)
            let body = try RawConnection(port: port)
            // In each span the least that is not too slow: 500 bytes a second.
            let (pieces, piece) = (5, 30_000)
            try await body.send("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: \(pieces * piece)\r\n\r\n")
            var arrived = counts.makeAsyncIterator()
            for number in 1...pieces {
                #expect(try await now.ask("GET \(Self.policy) HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
                try await body.send(String(repeating: "x", count: piece))
                while let count = await arrived.next(), count < number * piece {}
                #expect(timers.count == 3)
                try await timers.advance(by: Self.patience)
            }
            let answer = try await body.answers(1)[0]
            #expect(String(decoding: answer.body, as: UTF8.self) == "\(pieces * piece)")
            gate.open()
            #expect(try await slow.answers(1)[0].status == 204)
        }
    }

    @Test func `the time of an event loop passes by its clock`() throws {
        let channel = EmbeddedChannel(handler: SlowClientHandler(patience: Patience(Self.patience)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.read()
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
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
            try await slow.send(request)
            var taken: [UInt8] = []
            // Each time it takes more than the system keeps of a connection, so that the server has written in between.
            for number in 1...3 {
                taken = await slow.receive(taken) { all, new in
                    all += new
                    return all.count >= number * (2 << 20)
                }
                try await timers.advance(by: Self.patience)
            }
            taken = await slow.receive(taken) { all, new in
                all += new
                return all.count > bytes.count && all.suffix(bytes.count).elementsEqual(bytes)
            }
            #expect(taken.suffix(bytes.count).elementsEqual(bytes))
            try await timers.advanceToTheEnd(by: Self.patience)
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
                let whole = try await client.execute(request, timeout: .minutes(2))
                #expect(whole.version == version)
                #expect(try await whole.body.collect(upTo: 32 << 20).readableBytes == bytes.count)
                let still = try await client.execute(request, timeout: .minutes(2))
                try await timers.advanceToTheEnd(by: Self.patience)
                await #expect(throws: (any Error).self) { try await still.body.collect(upTo: 32 << 20) }
            }
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}
