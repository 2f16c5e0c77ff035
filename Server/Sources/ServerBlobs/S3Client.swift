import Crypto
import Foundation
import FoundationNetworking

/// Sends requests to S3-compatible storage.
///
/// Temporary failures, of the network or of a busy store, are retried with growing pauses.
struct S3Client: Sendable {
    struct Answer: Sendable {
        let status: Int
        /// The headers by their lower-case names.
        let headers: [String: String]
        let body: Data

        /// The content of the first element with a name in an XML body.
        func text(_ name: String) -> String? { texts(name).first }

        func texts(_ name: String) -> [String] {
            let body = String(decoding: body, as: UTF8.self)
            return body.components(separatedBy: "<\(name)>").dropFirst().compactMap { part in
                part.range(of: "</\(name)>").map { Self.unescaped(String(part[..<$0.lowerBound])) }
            }
        }

        private static func unescaped(_ text: String) -> String {
            let names = [
                ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&#34;", "\""),
                ("&amp;", "&"),
            ]
            return names.reduce(text) { $0.replacing($1.0, with: $1.1) }
        }
    }

    let address: S3Address
    let signer: S3Signer
    private let session: URLSession
    /// The largest number of times a request is sent.
    private static let attempts = 6

    init(_ address: S3Address, _ credentials: S3Signer.Credentials) {
        self.address = address
        signer = S3Signer(credentials, region: address.region)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 60
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpMaximumConnectionsPerHost = 32
        session = URLSession(configuration: configuration)
    }

    /// Sends a request, repeatedly if need be, and returns the answer.
    ///
    /// `key` names the object, and is empty for the bucket; `accepting` has the statuses that are not errors.
    func send(
        _ method: String,
        _ key: String,
        query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [],
        body: Data = Data(),
        accepting: Set<Int> = [200]
    ) async throws -> Answer {
        var request = S3Signer.Request(method: method, host: address.host, path: address.path(key), query: query)
        request.headers = headers
        let hash = BlobDigest(hash: SHA256.hash(data: body)).description
        var errorDetail = ""
        for attempt in 0..<Self.attempts {
            if attempt > 0 { try await Task.sleep(for: .milliseconds(Int.random(in: 0...(100 << attempt)))) }
            do {
                let answer = try await sendOnce(request, hash, body)
                if accepting.contains(answer.status) { return answer }
                errorDetail = Self.errorDetail(answer)
                guard Self.isPassing(answer) else { break }
            } catch let error as URLError {
                errorDetail = error.localizedDescription
            }
        }
        throw BlobError.failure("\(method) \(address.path(key)) at \(address.host): \(errorDetail)")
    }

    private func sendOnce(_ request: S3Signer.Request, _ hash: String, _ body: Data) async throws -> Answer {
        let query = S3Signer.query(request.query)
        let path = S3Signer.encoded(request.path, keeping: "/")
        guard let url = URL(string: "\(address.scheme)://\(request.host)\(path)\(query.isEmpty ? "" : "?" + query)")
        else {
            throw BlobError.failure("\(request.host)\(path) is not an address")
        }
        var message = URLRequest(url: url)
        message.httpMethod = request.method
        message.cachePolicy = .reloadIgnoringLocalCacheData
        if !body.isEmpty || request.method == "PUT" { message.httpBody = body }
        // Otherwise URLSession declares the body a form, and servers treat it as one.
        message.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        for (name, value) in signer.headers(for: request, bodyHash: hash, at: Date()) {
            message.setValue(value, forHTTPHeaderField: name)
        }
        let (data, answer) = try await session.data(for: message)
        guard let answer = answer as? HTTPURLResponse else {
            throw BlobError.failure("\(request.host) does not answer with HTTP")
        }
        let headers = answer.allHeaderFields.map { ("\($0.key)".lowercased(), "\($0.value)") }
        return Answer(
            status: answer.statusCode,
            headers: Dictionary(headers) { first, _ in first },
            body: data
        )
    }

    /// Whether the same request may succeed a little later.
    private static func isPassing(_ answer: Answer) -> Bool {
        [429, 500, 502, 503, 504].contains(answer.status)
            || ["RequestTimeout", "SlowDown", "InternalError"].contains(answer.text("Code"))
    }

    static func errorDetail(_ answer: Answer) -> String {
        let code = answer.text("Code") ?? ""
        let hint =
            switch code {
            case "SignatureDoesNotMatch", "InvalidAccessKeyId", "AccessDenied", "ExpiredToken":
                "; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and their permissions"
            case "RequestTimeTooSkewed": "; this machine's clock is wrong"
            case "NoSuchBucket": "; make the bucket first"
            case "PermanentRedirect", "AuthorizationHeaderMalformed": "; state the bucket's region"
            default: ""
            }
        return "status \(answer.status) \(code) \(answer.text("Message") ?? "")\(hint)"
    }
}
