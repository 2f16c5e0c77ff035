import Crypto
public import Foundation

/// Signs requests to S3-compatible storage (AWS Signature Version 4).
public struct S3Signer: Sendable {
    /// The keys of an account.
    public struct Credentials: Sendable {
        /// The identifier of the key, which is not secret.
        public let accessKey: String
        let secretKey: String
        let sessionToken: String?

        /// Creates credentials; the session token is for temporary ones.
        public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
            self.accessKey = accessKey
            self.secretKey = secretKey
            self.sessionToken = sessionToken
        }
    }

    /// The signed parts of a request.
    public struct Request: Sendable {
        /// The HTTP method.
        public var method: String
        /// The host, with the port when it is not the default one.
        public var host: String
        /// The path, not encoded; it begins with `/`.
        public var path: String
        /// The items of the query, not encoded.
        public var query: [(name: String, value: String)]
        /// The headers besides `Host` and those that signing adds.
        public var headers: [(name: String, value: String)]

        /// Creates a request, by default without query and headers.
        public init(
            method: String,
            host: String,
            path: String,
            query: [(name: String, value: String)] = [],
            headers: [(name: String, value: String)] = []
        ) {
            self.method = method
            self.host = host
            self.path = path
            self.query = query
            self.headers = headers
        }
    }

    /// The value in place of a body's hash when the body is not signed.
    public static let unsigned = "UNSIGNED-PAYLOAD"

    private let credentials: Credentials
    private let region: String

    /// Creates a signer for a region.
    public init(_ credentials: Credentials, region: String) {
        self.credentials = credentials
        self.region = region
    }

    /// The headers to send with a request: its own, and those that sign it.
    ///
    /// `bodyHash` is the SHA-256 of the body as 64 hexadecimal digits, or ``unsigned``.
    public func headers(for request: Request, bodyHash: String, at time: Date) -> [(name: String, value: String)] {
        let timestamp = Self.timestamp(time)
        var headers = request.headers + [("x-amz-date", timestamp), ("x-amz-content-sha256", bodyHash)]
        if let token = credentials.sessionToken { headers.append(("x-amz-security-token", token)) }
        let (canonical, names) = Self.canonical(headers + [("host", request.host)])
        let signature = signature(
            request.method,
            request.path,
            Self.query(request.query),
            canonical,
            names,
            bodyHash,
            timestamp
        )
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope(timestamp)), SignedHeaders=\(names), "
            + "Signature=\(signature)"
        return headers + [("Authorization", authorization)]
    }

    /// The query of a presigned URL, with which anyone can send the request until `seconds` after `time`.
    public func presignedQuery(for request: Request, seconds: Int, at time: Date) -> String {
        let timestamp = Self.timestamp(time)
        let (canonical, names) = Self.canonical(request.headers + [("host", request.host)])
        var query = request.query
        query += [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", "\(credentials.accessKey)/\(scope(timestamp))"),
            ("X-Amz-Date", timestamp), ("X-Amz-Expires", String(seconds)), ("X-Amz-SignedHeaders", names),
        ]
        if let token = credentials.sessionToken { query.append(("X-Amz-Security-Token", token)) }
        let text = Self.query(query)
        let signature = signature(request.method, request.path, text, canonical, names, Self.unsigned, timestamp)
        return text + "&X-Amz-Signature=" + signature
    }

    // MARK: Parts

    private func scope(_ timestamp: String) -> String { "\(timestamp.prefix(8))/\(region)/s3/aws4_request" }

    private func signature(
        _ method: String,
        _ path: String,
        _ query: String,
        _ headers: String,
        _ names: String,
        _ bodyHash: String,
        _ timestamp: String
    ) -> String {
        let request = [method, Self.encoded(path, keeping: "/"), query, headers, names, bodyHash]
            .joined(separator: "\n")
        let text = [
            "AWS4-HMAC-SHA256", timestamp, scope(timestamp),
            BlobDigest(hash: SHA256.hash(data: Data(request.utf8))).description,
        ].joined(separator: "\n")
        var key = SymmetricKey(data: Data("AWS4\(credentials.secretKey)".utf8))
        for part in [String(timestamp.prefix(8)), region, "s3", "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        return BlobDigest(hash: HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)).description
    }

    /// The headers in canonical form, and their names.
    private static func canonical(_ headers: [(name: String, value: String)]) -> (text: String, names: String) {
        var values: [String: [String]] = [:]
        for header in headers {
            let value = header.value.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
            values[header.name.lowercased(), default: []].append(value)
        }
        let sorted = values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return (
            sorted.map { "\($0.key):\($0.value.joined(separator: ","))\n" }.joined(),
            sorted.map(\.key).joined(separator: ";")
        )
    }

    /// A query in canonical form, as it is signed and sent.
    public static func query(_ items: [(name: String, value: String)]) -> String {
        items.map { (Array(encoded($0.name).utf8), Array(encoded($0.value).utf8)) }.sorted {
            $0.0 == $1.0 ? $0.1.lexicographicallyPrecedes($1.1) : $0.0.lexicographicallyPrecedes($1.0)
        }.map { String(decoding: $0.0 + [UInt8(ascii: "=")] + $0.1, as: UTF8.self) }.joined(separator: "&")
    }

    /// Percent-encodes everything except the unreserved characters of RFC 3986, section 2.3, and those to keep.
    public static func encoded(_ text: String, keeping: String = "") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: result.append(byte)
            case _ where keeping.utf8.contains(byte): result.append(byte)
            default: result += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// A time such as `20261123T140000Z`.
    private static func timestamp(_ time: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: time)
        func digits(_ number: Int?, _ count: Int) -> String {
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2) + "T" + digits(parts.hour, 2)
            + digits(parts.minute, 2) + digits(parts.second, 2) + "Z"
    }
}
