/// The head of a request, with the fields that this server uses.
package struct PageRequest: Sendable, Equatable {
    package enum Method: String, Sendable { case get = "GET", post = "POST" }

    package let method: Method
    /// Printable ASCII without percent signs, beginning with a slash.
    package let path: String
    /// The query parameters; each name occurs once.
    package let query: [String: String]
    /// The headers by names in lower case; each name occurs once.
    package let headers: [String: String]
    package let contentLength: Int

    /// The reason for rejecting a request, as a status and a sentence.
    package struct Refusal: Error, Equatable {
        package let status: Int
        package let reason: String

        package init(_ status: Int, _ reason: String) { (self.status, self.reason) = (status, reason) }
    }

    /// The maximum size of a head in bytes.
    package static let maximumHeadByteCount = 16_384
    private static let maximumHeaderCount = 100

    /// Parses a head that ends with an empty line.
    ///
    /// The syntax is stricter than RFC 9112 where browsers never need more: lines end in CR LF, bodies have a length,
    /// each name occurs once, the path is plain. Anything that two programs could interpret differently is rejected.
    package init(head: [UInt8]) throws(Refusal) {
        guard head.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 13 || $0 == 10 || $0 == 9 || $0 >= 0x80 }) else {
            throw Refusal(400, "The request holds control characters.")
        }
        let lines = try Self.lines(head)
        guard let first = lines.first else { throw Refusal(400, "The request is empty.") }
        let words = first.split(separator: 32, omittingEmptySubsequences: false)
        guard words.count == 3 else { throw Refusal(400, "The request line does not have three parts.") }
        guard words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8) else {
            throw Refusal(505, "Only HTTP/1.1 is supported.")
        }
        guard let method = Method(rawValue: String(decoding: words[0], as: UTF8.self)) else {
            throw Refusal(405, "Only GET and POST are answered.")
        }
        self.method = method
        (path, query) = try Self.target(words[1])
        headers = try Self.headers(lines.dropFirst())
        guard headers["transfer-encoding"] == nil else { throw Refusal(501, "Chunked bodies are not supported.") }
        contentLength = try Self.length(headers["content-length"], method)
    }

    private static func lines(_ head: [UInt8]) throws(Refusal) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var remaining = head[...]
        while let end = remaining.firstIndex(of: 10) {
            guard end > remaining.startIndex, remaining[end - 1] == 13 else {
                throw Refusal(400, "A line ends without CR.")
            }
            let line = remaining[remaining.startIndex..<end - 1]
            guard !line.contains(13) else { throw Refusal(400, "A line holds a CR.") }
            if line.isEmpty { return lines }
            lines.append(line)
            remaining = remaining[(end + 1)...]
        }
        throw Refusal(400, "The head is cut off.")
    }

    private static func target(_ word: ArraySlice<UInt8>) throws(Refusal) -> (String, [String: String]) {
        guard word.first == UInt8(ascii: "/"), word.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw Refusal(400, "The path is not valid.")
        }
        let parts = word.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard !parts[0].contains(UInt8(ascii: "%")) else { throw Refusal(404, "There is no such page.") }
        var query: [String: String] = [:]
        for pair in parts.dropFirst().first?.split(separator: UInt8(ascii: "&")) ?? [] {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(decoding: sides[0], as: UTF8.self)
            guard
                query.updateValue(sides.count > 1 ? String(decoding: sides[1], as: UTF8.self) : "", forKey: name) == nil
            else { throw Refusal(400, "A part of the query occurs twice.") }
        }
        return (String(decoding: parts[0], as: UTF8.self), query)
    }

    private static func headers(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(Refusal) -> [String: String] {
        guard lines.count <= maximumHeaderCount else { throw Refusal(431, "The request has too many headers.") }
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(isTokenByte)
            else { throw Refusal(400, "A header has no name.") }
            let value = line[(colon + 1)...].trimming { $0 == 32 || $0 == 9 }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            guard headers.updateValue(String(decoding: value, as: UTF8.self), forKey: name) == nil else {
                throw Refusal(400, "The header '\(name)' occurs twice.")
            }
        }
        return headers
    }

    /// Whether a header's name may hold a byte: the tokens of RFC 9110.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func length(_ text: String?, _ method: Method) throws(Refusal) -> Int {
        guard let text else {
            guard method == .get else { throw Refusal(411, "The request does not state the length of its body.") }
            return 0
        }
        guard !text.isEmpty, text.utf8.count <= 15, text.utf8.allSatisfy({ (48...57).contains($0) }),
            let length = Int(text)
        else { throw Refusal(400, "The length of the body is not a number.") }
        return length
    }
}

extension ArraySlice<UInt8> {
    fileprivate func trimming(_ isSpace: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        var slice = drop(while: isSpace)
        while let last = slice.last, isSpace(last) { slice.removeLast() }
        return slice
    }
}
