/// A complete response.
package struct PageResponse: Sendable {
    package var status: Int
    package var type: String
    package var body: [UInt8]
    /// Headers in addition to those of every response.
    package var headers: [(name: String, value: String)] = []

    package init(_ status: Int = 200, type: String, _ body: [UInt8]) {
        (self.status, self.type, self.body) = (status, type, body)
    }

    /// A response with a sentence, for people and programs.
    package init(_ status: Int, text: String) {
        self.init(status, type: "text/plain; charset=utf-8", Array("\(text)\n".utf8))
    }

    /// The security headers of every response: nothing is loaded from elsewhere, cached, framed, sniffed or disclosed
    /// to other sites; camera and microphone are available to this page alone.
    static let commonHeaders: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
                + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Embedder-Policy", "require-corp"),
        (
            "Permissions-Policy",
            "camera=(self), microphone=(self), geolocation=(), payment=(), usb=(), serial=(), hid=(), display-capture=()"
        ),
        ("Connection", "close"),
    ]

    /// The status line and the header fields, with the blank line that ends them.
    ///
    /// - Parameter length: The length of the body; `nil` when it ends with the connection.
    /// - Returns: The bytes to send.
    func head(length: Int?) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status) \(Self.phrase(status))", "Content-Type: \(type)"]
        if let length { lines.append("Content-Length: \(length)") }
        if status == 405 { lines.append("Allow: GET, POST") }
        for header in Self.commonHeaders + headers { lines.append("\(header.name): \(header.value)") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private static func phrase(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 422: "Unprocessable Content"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Internal Server Error"
        }
    }
}
