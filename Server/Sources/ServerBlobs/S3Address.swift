import Foundation

/// The place of blobs in S3-compatible storage: `s3://bucket/prefix?endpoint=https://…&region=…&style=path`.
public struct S3Address: Sendable, CustomStringConvertible {
    let bucket: String
    /// The prefix of keys; empty, or ends with `/`.
    let prefix: String
    let region: String
    /// `http` or `https`.
    let scheme: String
    /// The host, with the port if one is given.
    let host: String
    /// Whether the bucket is the first component of paths rather than a part of the host.
    let isPathStyle: Bool

    /// Reads an address.
    ///
    /// By default the region is `us-east-1`, the endpoint Amazon's for that region, and the style `path` with an
    /// endpoint of one's own and `host` without. Throws a ``BlobError`` for any other form.
    public init(_ text: String) throws {
        guard let parts = URLComponents(string: text), parts.scheme == "s3", let bucket = parts.host, !bucket.isEmpty,
            parts.user == nil, parts.password == nil, parts.port == nil, parts.fragment == nil
        else { throw Self.failure("begins with s3:// and a bucket, and holds no key") }
        let prefix = parts.path.split(separator: "/").joined(separator: "/")
        guard prefix.utf8.allSatisfy(Self.isUnreserved), prefix.utf8.count <= 512 else {
            throw Self.failure("has a prefix of letters a–z and A–Z, digits and the signs - . _ /")
        }
        var options: [String: String] = [:]
        for item in parts.queryItems ?? [] {
            guard ["endpoint", "region", "style"].contains(item.name) else {
                throw Self.failure("has the options endpoint, region and style, not \"\(item.name)\"")
            }
            options[item.name] = item.value ?? ""
        }
        let region = options["region"] ?? "us-east-1"
        guard let endpoint = URLComponents(string: options["endpoint"] ?? "https://s3.\(region).amazonaws.com"),
            let scheme = endpoint.scheme, ["http", "https"].contains(scheme), let name = endpoint.host, !name.isEmpty,
            endpoint.user == nil, endpoint.path.isEmpty || endpoint.path == "/", endpoint.query == nil
        else {
            throw Self.failure("has an endpoint that begins with http:// or https:// and ends with the host or port")
        }
        guard ["path", "host", nil].contains(options["style"]) else {
            throw Self.failure("has style=path or style=host")
        }
        self.bucket = bucket
        self.prefix = prefix.isEmpty ? "" : prefix + "/"
        self.region = region
        self.scheme = scheme
        isPathStyle = options["style"].map { $0 == "path" } ?? (options["endpoint"] != nil)
        let isUsualPort = endpoint.port == nil || endpoint.port == (scheme == "http" ? 80 : 443)
        let place = name + (isUsualPort ? "" : ":\(endpoint.port ?? 0)")
        host = isPathStyle ? place : "\(bucket).\(place)"
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F: true
        default: false
        }
    }

    private static func failure(_ rule: String) -> BlobError { .failure("the address of S3 storage \(rule)") }

    /// The path of an object, or of the bucket for an empty key.
    func path(_ key: String) -> String { isPathStyle ? "/\(bucket)/\(key)" : "/\(key)" }

    /// The bucket, prefix and host.
    public var description: String { "s3://\(bucket)/\(prefix) at \(scheme)://\(host)" }
}

extension S3Signer.Credentials {
    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if there is one, `AWS_SESSION_TOKEN`.
    ///
    /// Throws a ``BlobError`` where the first two are missing.
    public init(environment: [String: String]) throws {
        guard let access = environment["AWS_ACCESS_KEY_ID"], !access.isEmpty,
            let secret = environment["AWS_SECRET_ACCESS_KEY"], !secret.isEmpty
        else {
            throw BlobError.failure("S3 storage needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
        }
        self.init(accessKey: access, secretKey: secret, sessionToken: environment["AWS_SESSION_TOKEN"])
    }
}
