/// Access control: requests need the token and must come from the page itself.
///
/// Other users of the machine and other pages in the same browser can reach the port, too. The former lack the token;
/// the latter are recognised by `Host` (a domain of theirs that resolves to this machine), `Origin` and
/// `Sec-Fetch-Site`.
package struct PageAccess: Sendable {
    /// 128 random bits in hexadecimal digits.
    package let token: String
    package let port: UInt16

    package init(port: UInt16) {
        // The system's generator is cryptographically secure.
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        self.init(port: port, token: bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    init(port: UInt16, token: String) { (self.port, self.token) = (port, token) }

    package var link: String { "http://127.0.0.1:\(port)/?token=\(token)" }

    /// Cookies are shared by all ports of a host: each server has its own cookie name.
    private var cookieName: String { "coreml-preview-\(port)" }

    /// The cookie that the page's response sets, so that the browser sends the token from then on.
    var cookie: String { "\(cookieName)=\(token); Path=/; HttpOnly; SameSite=Strict" }

    func check(_ request: PageRequest) throws(PageRequest.Refusal) {
        let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
        guard let host = request.headers["host"], hosts.contains(host.lowercased()) else {
            throw PageRequest.Refusal(403, "This host is not served here.")
        }
        let isDirect = hasBearer(request)
        guard isDirect || isNamed(request.query["token"]) && request.path == "/" || hasCookie(request) else {
            throw PageRequest.Refusal(
                403,
                "The token is missing or wrong. Open the link that 'coreml preview' printed; it holds the token."
            )
        }
        if let site = request.headers["sec-fetch-site"], !["same-origin", "none"].contains(site) {
            // The link may be anywhere, such as in a chat; other pages may request nothing else.
            guard request.method == .get, request.path == "/", request.headers["sec-fetch-mode"] == "navigate" else {
                throw PageRequest.Refusal(403, "Requests from other pages are refused.")
            }
        }
        if let origin = request.headers["origin"] {
            guard hosts.contains(where: { origin.lowercased() == "http://\($0)" }) else {
                throw PageRequest.Refusal(403, "Requests from other pages are refused.")
            }
        } else if request.method == .post, !isDirect {
            throw PageRequest.Refusal(403, "The request does not state the page that it comes from.")
        }
    }

    private func hasBearer(_ request: PageRequest) -> Bool {
        guard let value = request.headers["authorization"], value.hasPrefix("Bearer ") else { return false }
        return isNamed(String(value.dropFirst(7)))
    }

    private func hasCookie(_ request: PageRequest) -> Bool {
        guard let cookies = request.headers["cookie"] else { return false }
        return cookies.utf8.split(separator: UInt8(ascii: ";")).contains { cookie in
            let parts = String(decoding: cookie.drop { $0 == 32 }, as: UTF8.self).utf8
                .split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 && parts[0].elementsEqual(cookieName.utf8)
                && isNamed(String(decoding: parts[1], as: UTF8.self))
        }
    }

    /// Whether a text is the token, compared in constant time for texts of its length.
    private func isNamed(_ text: String?) -> Bool {
        guard let text, text.utf8.count == token.utf8.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(text.utf8, token.utf8) { difference |= left ^ right }
        return difference == 0
    }
}
