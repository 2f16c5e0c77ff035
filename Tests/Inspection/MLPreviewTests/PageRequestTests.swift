import MLPreview
import Testing

@Suite("Heads of requests")
struct PageRequestTests {
    private func head(_ text: String) throws -> PageRequest {
        try PageRequest(head: Array(text.replacing("\n", with: "\r\n").utf8))
    }

    private func status(_ bytes: [UInt8]) -> Int? {
        do { _ = try PageRequest(head: bytes) } catch { return error.status }
        return nil
    }

    private func status(_ text: String) -> Int? { status(Array(text.replacing("\n", with: "\r\n").utf8)) }

    @Test func `a browser's request is read`() throws {
        let request = try head(
            "POST /api/predict?token=ab&x HTTP/1.1\nHost: 127.0.0.1:80\nContent-Length: 12\nX-Empty:\nAccept:  */* \n\n"
        )
        #expect(request.method == .post)
        #expect(request.path == "/api/predict")
        #expect(request.query == ["token": "ab", "x": ""])
        #expect(request.contentLength == 12)
        #expect(request.headers["accept"] == "*/*")
        #expect(request.headers["x-empty"] == "")
    }

    @Test(
        arguments: [
            ("GET /\n\n", 400), ("GET  / HTTP/1.1\n\n", 400), ("get / HTTP/1.1\n\n", 405), ("PUT / HTTP/1.1\n\n", 405),
            ("GET / HTTP/2.0\n\n", 505), ("GET http://x/ HTTP/1.1\n\n", 400), ("GET /%2e%2e/etc HTTP/1.1\n\n", 404),
            ("GET /?a=1&a=2 HTTP/1.1\n\n", 400), ("GET / HTTP/1.1\nHost: a\nhost: b\n\n", 400),
            ("GET / HTTP/1.1\n Host: a\n\n", 400), ("GET / HTTP/1.1\nHost : a\n\n", 400),
            ("GET / HTTP/1.1\n: a\n\n", 400), ("POST / HTTP/1.1\n\n", 411),
            ("POST / HTTP/1.1\nContent-Length: -1\n\n", 400), ("POST / HTTP/1.1\nContent-Length: 0x10\n\n", 400),
            ("POST / HTTP/1.1\nContent-Length: 99999999999999999999\n\n", 400),
            ("POST / HTTP/1.1\nContent-Length: 1, 2\n\n", 400),
            ("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n", 501),
            ("GET / HTTP/1.1\nHost: a", 400),
        ]
    )
    func `what can be read in two ways is refused`(_ text: String, _ expected: Int) {
        #expect(status(text) == expected)
    }

    @Test func `bare line feeds, carriage returns and control characters are refused`() {
        #expect(status(Array("GET / HTTP/1.1\nHost: a\r\n\r\n".utf8)) == 400)
        #expect(status(Array("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n".utf8)) == 400)
        #expect(status(Array("GET / HTTP/1.1\r\nHost: \u{0}a\r\n\r\n".utf8)) == 400)
        let many = "GET / HTTP/1.1\n" + (0...100).map { "h\($0): 1\n" }.joined() + "\n"
        #expect(status(many) == 431)
    }

    @Test func `no bytes bring the reader down`() {
        var generator = SystemRandomNumberGenerator()
        let seed = Array(
            "POST /api/x?a=b HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: 3\r\nCookie: a=b; c=d\r\n\r\n".utf8
        )
        for _ in 0..<20_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let location = bytes.indices.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[location] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.removeSubrange(location..<min(location + 5, bytes.count))
                default: bytes.insert(contentsOf: bytes[location..<min(location + 9, bytes.count)], at: location)
                }
                if bytes.isEmpty { bytes = seed }
            }
            _ = status(bytes)
        }
    }
}
