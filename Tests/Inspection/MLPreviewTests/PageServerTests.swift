import Dispatch
import Glibc
import MLNumerics
import MLPreview
import Synchronization
import Testing

/// A client that sends bytes as they are.
private struct RawClient {
    let socket: Int32

    init(_ port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let status = withUnsafePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0)
    }

    func send(_ text: String) {
        let bytes = Array(text.replacing("\n", with: "\r\n").utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Everything up to the end of the connection.
    func answer() -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            all += buffer[..<count]
        }
        return String(decoding: all, as: UTF8.self)
    }

    func close() { Glibc.close(socket) }
}

/// A server that runs while a test asks it.
private final class Running: Sendable {
    let server: PageServer
    private let isOver = Atomic(false)
    private let isDone = Atomic(false)
    let cancelled = Atomic(0)
    /// Signalled when a slow answer begins, and when its connection is found closed: for the answer, and for the test.
    let (begun, left, told) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    init(_ limits: PageServer.Limits = PageServer.Limits()) throws {
        server = try PageServer(limits: limits)
        let box = Unmanaged.passRetained(self)
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { pointer in
                if let pointer { Unmanaged<Running>.fromOpaque(pointer).takeRetainedValue().run() }
                return nil
            },
            box.toOpaque()
        )
        pthread_detach(thread)
    }

    private func run() {
        server.run(until: { isOver.load(ordering: .relaxed) }) { [self] request, body, connection in
            switch request.path {
            case "/slow":
                connection.watching({
                    self.cancelled.add(1, ordering: .relaxed)
                    self.left.signal()
                    self.told.signal()
                }) {
                    begun.signal()
                    _ = left.wait(timeout: .now() + 120)
                }
                return .response(PageResponse(200, text: "slow"))
            case "/events":
                return .events { events in for number in 0..<3 { events.send("step", "\(number)") } }
            default: return .response(PageResponse(200, text: "\(request.method.rawValue) \(body.count)"))
            }
        }
        isDone.store(true, ordering: .relaxed)
    }

    func stop() { isOver.store(true, ordering: .relaxed) }

    var port: UInt16 { server.access.port }
    var token: String { server.access.token }

    func ask(_ head: String, body: String = "") throws -> String {
        let client = try RawClient(port)
        defer { client.close() }
        client.send(head)
        if !body.isEmpty { client.send(body) }
        return client.answer()
    }

    /// Asks until the answer has this status, at most a hundred thousand times.
    func ask(_ head: String, body: String = "", until status: Int) throws -> Bool {
        for _ in 0..<100_000 where try ask(head, body: body).hasPrefix("HTTP/1.1 \(status) ") { return true }
        return false
    }

    /// The additional headers of a page's own request.
    var ownHeaders: String {
        "Host: 127.0.0.1:\(port)\nCookie: a=b; coreml-preview-\(port)=\(token)\nOrigin: http://127.0.0.1:\(port)\n"
    }
}

@Suite("The server of the page", .serialized)
struct PageServerTests {
    private func status(_ answer: String) -> Int? {
        answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst(9).prefix(3)) : nil
    }

    @Test func `whoever has the link gets the page and a cookie that no script reads`() throws {
        let running = try Running()
        defer { running.stop() }
        let answer = try running.ask("GET /?token=\(running.token) HTTP/1.1\nHost: 127.0.0.1:\(running.port)\n\n")
        #expect(status(answer) == 200)
        #expect(
            answer.contains(
                "Set-Cookie: coreml-preview-\(running.port)=\(running.token); Path=/; HttpOnly; SameSite=Strict"
            )
        )
        #expect(answer.contains("Content-Security-Policy: default-src 'none'; script-src 'self';"))
        #expect(!answer.contains("unsafe-inline") && !answer.contains("unsafe-eval"))
        for header in ["Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"] {
            #expect(answer.contains(header))
        }
        #expect(running.token.count == 32)
        #expect(running.server.access.link == "http://127.0.0.1:\(running.port)/?token=\(running.token)")
    }

    @Test func `nobody else gets anything`() throws {
        let running = try Running()
        defer { running.stop() }
        let (port, token) = (running.port, running.token)
        let host = "Host: 127.0.0.1:\(port)\n"
        let wrong = String(token.reversed().map { $0 == "0" ? "1" : "0" })
        for head in [
            "GET / HTTP/1.1\n\(host)\n", "GET /?token=\(wrong) HTTP/1.1\n\(host)\n", "GET /?token= HTTP/1.1\n\(host)\n",
            "GET /?token=\(token.dropLast()) HTTP/1.1\n\(host)\n",
            // The token in the address opens the page alone.
            "GET /api/model?token=\(token) HTTP/1.1\n\(host)\n",
            "GET / HTTP/1.1\n\(host)Cookie: coreml-preview-\(port)=\(wrong)\n\n",
            "GET / HTTP/1.1\n\(host)Cookie: other=\(token)\n\n",
            // A foreign host name that leads here.
            "GET /?token=\(token) HTTP/1.1\nHost: evil.example:\(port)\n\n", "GET /?token=\(token) HTTP/1.1\n\n",
            // Another page in the same browser.
            "POST /api/predict HTTP/1.1\n\(host)Cookie: coreml-preview-\(port)=\(token)\nContent-Length: 0\n\n",
            "POST /api/predict HTTP/1.1\n\(host)Cookie: coreml-preview-\(port)=\(token)\nOrigin: http://127.0.0.1:1\nContent-Length: 0\n\n",
            "POST /api/predict HTTP/1.1\n\(host)Cookie: coreml-preview-\(port)=\(token)\nOrigin: null\nContent-Length: 0\n\n",
            "GET /api/model HTTP/1.1\n\(host)Cookie: coreml-preview-\(port)=\(token)\nSec-Fetch-Site: cross-site\n\n",
            "GET /api/model HTTP/1.1\n\(host)Authorization: Bearer \(wrong)\n\n",
        ] {
            let answer = try running.ask(head)
            #expect(status(answer) == 403, "\(head)")
            #expect(!answer.contains(token))
            #expect(!answer.contains("Set-Cookie"))
        }
    }

    @Test func `the page's own requests and programs with the token are answered`() throws {
        let running = try Running()
        defer { running.stop() }
        let own = try running.ask("POST /x HTTP/1.1\n\(running.ownHeaders)Content-Length: 5\n\n", body: "hello")
        #expect(own.hasSuffix("POST 5\n"))
        let program = try running.ask(
            "POST /x HTTP/1.1\nHost: localhost:\(running.port)\nAuthorization: Bearer \(running.token)\nContent-Length: 0\n\n"
        )
        #expect(program.hasSuffix("POST 0\n"))
        let events = try running.ask("GET /events HTTP/1.1\n\(running.ownHeaders)\n")
        #expect(events.hasSuffix("event: step\ndata: 0\n\nevent: step\ndata: 1\n\nevent: step\ndata: 2\n\n"))
    }

    @Test func `bodies and heads that are too long are refused before they are read`() throws {
        var limits = PageServer.Limits()
        limits.bodyBytes = 1000
        limits.allBodyBytes = 1500
        let running = try Running(limits)
        defer { running.stop() }
        #expect(status(try running.ask("POST /x HTTP/1.1\n\(running.ownHeaders)Content-Length: 1001\n\n")) == 413)
        let client = try RawClient(running.port)
        defer { client.close() }
        client.send("GET /" + String(repeating: "a", count: 40_000))
        #expect(status(client.answer()) == 431)
        // Two bodies that are too much together; the first one's bytes count until its response is sent.
        let first = try RawClient(running.port)
        first.send("POST /slow HTTP/1.1\n\(running.ownHeaders)Content-Length: 900\n\n")
        first.send(String(repeating: "a", count: 900))
        #expect(running.begun.wait(timeout: .now() + 120) == .success)
        #expect(status(try running.ask("POST /x HTTP/1.1\n\(running.ownHeaders)Content-Length: 700\n\n")) == 503)
        first.close()
    }

    @Test func `slow clients and clients that say nothing lose their connection`() throws {
        var limits = PageServer.Limits()
        limits.headSeconds = 0.4
        limits.bodySeconds = 0.4
        let running = try Running(limits)
        defer { running.stop() }
        let silent = try RawClient(running.port)
        let slow = try RawClient(running.port)
        slow.send("GET / HTTP/1.1\nHo")
        let halfway = try RawClient(running.port)
        halfway.send("POST /x HTTP/1.1\n\(running.ownHeaders)Content-Length: 10\n\nabc")
        for client in [silent, slow, halfway] {
            #expect(status(client.answer()) == 408)
            client.close()
        }
    }

    @Test func `a crowd is turned away and the next one served`() throws {
        var limits = PageServer.Limits()
        limits.connections = 8
        limits.headSeconds = 120
        let running = try Running(limits)
        defer { running.stop() }
        let crowd = try (0..<30).map { _ in try RawClient(running.port) }
        let request = "GET /?token=\(running.token) HTTP/1.1\nHost: 127.0.0.1:\(running.port)\n\n"
        #expect(try running.ask(request, until: 503))
        for client in crowd { client.close() }
        #expect(try running.ask(request, until: 200))
    }

    @Test func `what nobody waits for any more is cancelled`() throws {
        let running = try Running()
        defer { running.stop() }
        let client = try RawClient(running.port)
        client.send("GET /slow HTTP/1.1\n\(running.ownHeaders)\n")
        #expect(running.begun.wait(timeout: .now() + 120) == .success)
        client.close()
        #expect(running.told.wait(timeout: .now() + 120) == .success)
        #expect(running.cancelled.load(ordering: .relaxed) == 1)
    }

    @Test func `nothing that follows a request is another one`() throws {
        let running = try Running()
        defer { running.stop() }
        let answer = try running.ask(
            "POST /x HTTP/1.1\n\(running.ownHeaders)Content-Length: 3\n\nabcGET /y HTTP/1.1\n\(running.ownHeaders)\n"
        )
        #expect(answer.components(of: "HTTP/1.1 ") == 1)
    }

    @Test func `a port that is taken is an error that names it`() throws {
        let running = try Running()
        defer { running.stop() }
        do {
            _ = try PageServer(port: running.port)
            Issue.record("two servers share a port")
        } catch { #expect(error.description.contains("\(running.port)")) }
    }
}

extension String {
    /// The number of occurrences of a text in this one.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
