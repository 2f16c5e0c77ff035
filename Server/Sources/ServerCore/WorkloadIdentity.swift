public import Foundation
import JWTKit
import Synchronization

/// Fetches small documents of identity providers.
public protocol DocumentFetcher: Sendable {
    /// Fetches a document of at most `limit` bytes; throws any error when that is impossible.
    func fetch(_ url: URL, limit: Int) async throws -> [UInt8]

    /// Sends a form (`application/x-www-form-urlencoded`) and returns the answer of at most `limit` bytes.
    func post(_ url: URL, form: String, headers: [String: String], limit: Int) async throws -> [UInt8]
}

extension DocumentFetcher {
    /// Throws `unsupportedURL`, for fetchers that only fetch documents.
    public func post(_ url: URL, form: String, headers: [String: String], limit: Int) async throws -> [UInt8] {
        throw URLError(.unsupportedURL)
    }
}

/// The claims of an identity provider about a workload, such as a CI job, from a verified token.
struct WorkloadClaims: Sendable, JWTPayload {
    let issuer: String
    let subject: String
    let audience: [String]
    let expires: Double
    let notBefore: Double?
    let issued: Double?
    // Claims about people (OpenID Connect Core 1.0, sections 2 and 5.1).
    let nonce: String?
    let authorizedParty: String?
    let email: String?
    let isEmailVerified: Bool?

    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case subject = "sub"
        case audience = "aud"
        case expires = "exp"
        case notBefore = "nbf"
        case issued = "iat"
        case nonce
        case authorizedParty = "azp"
        case email
        case isEmailVerified = "email_verified"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        issuer = try container.decode(String.self, forKey: .issuer)
        subject = try container.decode(String.self, forKey: .subject)
        // RFC 7519, section 4.1.3: one text, or a list of them.
        audience =
            try (try? container.decode([String].self, forKey: .audience))
            ?? [container.decode(String.self, forKey: .audience)]
        expires = try container.decode(Double.self, forKey: .expires)
        notBefore = try container.decodeIfPresent(Double.self, forKey: .notBefore)
        issued = try container.decodeIfPresent(Double.self, forKey: .issued)
        nonce = try container.decodeIfPresent(String.self, forKey: .nonce)
        authorizedParty = try container.decodeIfPresent(String.self, forKey: .authorizedParty)
        email = try container.decodeIfPresent(String.self, forKey: .email)
        // Some providers send it as a text, which is not accepted.
        isEmailVerified = try? container.decodeIfPresent(Bool.self, forKey: .isEmailVerified)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(issuer, forKey: .issuer)
        try container.encode(subject, forKey: .subject)
        try container.encode(audience, forKey: .audience)
        try container.encode(expires, forKey: .expires)
        try container.encodeIfPresent(notBefore, forKey: .notBefore)
        try container.encodeIfPresent(issued, forKey: .issued)
        try container.encodeIfPresent(nonce, forKey: .nonce)
        try container.encodeIfPresent(authorizedParty, forKey: .authorizedParty)
        try container.encodeIfPresent(email, forKey: .email)
        try container.encodeIfPresent(isEmailVerified, forKey: .isEmailVerified)
    }

    /// Does nothing: ``WorkloadVerifier`` checks dates against the server's own clock.
    func verify(using algorithm: some JWTAlgorithm) {}
}

/// Verifies tokens of identity providers (OpenID Connect) by the keys that these publish.
final class WorkloadVerifier: Sendable {
    /// The accepted algorithms, each with the type of key that it needs.
    ///
    /// A token's header chooses among the provider's keys and never how a key is used (RFC 8725, section 3.1).
    private static let keyTypes = ["RS256": "RSA", "ES256": "EC", "EdDSA": "OKP"]
    private static let maximumTokenByteCount = 16 << 10
    private static let maximumDocumentByteCount = 1 << 20
    private static let maximumKeyCount = 100
    private static let maximumIssuerCount = 1000
    /// The seconds for which a provider's keys are kept.
    private static let keysLifetime = 3600.0
    /// The least number of seconds after which an unknown key makes the server ask again.
    private static let minimumRefreshInterval = 60.0
    /// The largest accepted difference of clocks, in seconds.
    private static let leeway = 60.0

    private struct Header: Decodable {
        let alg: String
        let kid: String?
        let crit: [String]?
    }

    private struct Key: Sendable, Decodable {
        let kid: String?
        let kty: String
        let alg: String?
        let use: String?
        let crv: String?
        let n: String?
    }

    private struct KeySet: Sendable {
        let keys: [(key: Key, text: String)]
        let fetched: Double
    }

    private let fetcher: any DocumentFetcher
    private let sets = Mutex<[String: KeySet]>([:])

    init(fetcher: any DocumentFetcher) { self.fetcher = fetcher }

    static func refused(_ why: String) -> ServiceError {
        ServiceError(.unauthenticated, "The workload's token is refused: \(why).")
    }

    /// The issuer that a token names, not verified yet.
    static func claimedIssuer(_ token: String) throws -> String {
        struct Claims: Decodable { let iss: String }
        let parts = try parts(token)
        guard let data = base64URL(parts[1]), let claims = try? JSONDecoder().decode(Claims.self, from: data) else {
            throw refused("it is not a JSON Web Token with an issuer")
        }
        return claims.iss
    }

    private static func parts(_ token: String) throws -> [Substring] {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= maximumTokenByteCount, parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else {
            throw refused("it is not a signed JSON Web Token of at most \(maximumTokenByteCount >> 10) KiB")
        }
        return parts
    }

    /// The claims of a token, if a key of the issuer has signed it and it is valid at `now`.
    func claims(_ token: String, issuer: String, at now: Date) async throws -> WorkloadClaims {
        let parts = try Self.parts(token)
        guard let data = Self.base64URL(parts[0]), let header = try? JSONDecoder().decode(Header.self, from: data)
        else {
            throw Self.refused("its header cannot be read")
        }
        guard let type = Self.keyTypes[header.alg] else {
            throw Self.refused("it is signed by \"\(header.alg)\"; RS256, ES256 and EdDSA are accepted")
        }
        guard header.crit == nil else { throw Self.refused("its header requires an unknown extension") }
        let time = now.timeIntervalSince1970
        let text = try await key(header, type, issuer: issuer, at: time)
        let claims: WorkloadClaims
        do {
            let key = try JWK(json: text)
            let keys = try await JWTKeyCollection().add(jwk: key)
            claims = try await keys.verify(token, as: WorkloadClaims.self)
        } catch { throw Self.refused("its signature is not the issuer's, or its claims cannot be read") }
        guard claims.issuer.utf8.elementsEqual(issuer.utf8) else { throw Self.refused("another issuer made it") }
        guard claims.expires.isFinite, claims.expires + Self.leeway > time else { throw Self.refused("it has expired") }
        guard [claims.notBefore, claims.issued].allSatisfy({ $0.map { $0 - Self.leeway <= time } ?? true }) else {
            throw Self.refused("it is not valid yet")
        }
        return claims
    }

    // MARK: Keys

    /// The only key of the issuer that fits a header, as JSON.
    private func key(_ header: Header, _ type: String, issuer: String, at time: Double) async throws -> String {
        var set = try await keySet(issuer, at: time, refresh: false)
        if Self.fitting(header, type, set).isEmpty { set = try await keySet(issuer, at: time, refresh: true) }
        let fitting = Self.fitting(header, type, set)
        guard fitting.count == 1 else {
            throw Self.refused(
                fitting.isEmpty
                    ? "the issuer publishes no key of this name for \(header.alg)"
                    : "several keys of the issuer match it"
            )
        }
        guard type != "RSA" || (fitting[0].key.n?.utf8.count ?? 0) >= 342 else {
            throw Self.refused("the issuer's RSA key has fewer than 2048 bits")
        }
        return fitting[0].text
    }

    private static func fitting(_ header: Header, _ type: String, _ set: KeySet) -> [(key: Key, text: String)] {
        set.keys.filter { entry in
            let key = entry.key
            let curve = ["EC": "P-256", "OKP": "Ed25519"][type]
            return key.kty == type && key.crv == curve && (key.use ?? "sig") == "sig"
                && (key.alg ?? header.alg) == header.alg && (header.kid == nil || key.kid == header.kid)
        }
    }

    private func keySet(_ issuer: String, at time: Double, refresh: Bool) async throws -> KeySet {
        let oldest = time - (refresh ? Self.minimumRefreshInterval : Self.keysLifetime)
        if let known = sets.withLock({ $0[issuer] }), known.fetched > oldest { return known }
        let set: KeySet
        do { set = KeySet(keys: try await publishedKeys(issuer), fetched: time) } catch {
            throw ServiceError(
                .unavailable,
                "The keys of \(issuer) cannot be fetched: check its .well-known/openid-configuration or its jwks_uri.",
                retryAfter: 60
            )
        }
        sets.withLock { sets in
            if sets.count >= Self.maximumIssuerCount, sets[issuer] == nil { sets = [:] }
            sets[issuer] = set
        }
        return set
    }

    /// The keys that the issuer's discovery document leads to (OpenID Connect Discovery 1.0, section 4).
    private func publishedKeys(_ issuer: String) async throws -> [(key: Key, text: String)] {
        struct Discovery: Decodable {
            let issuer: String
            let jwks_uri: String
        }
        struct Published: Decodable { let keys: [AnyJSON] }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        guard let place = Self.address(base + "/.well-known/openid-configuration") else {
            throw Self.refused("no address")
        }
        let document = try await fetcher.fetch(place, limit: Self.maximumDocumentByteCount)
        let discovery = try JSONDecoder().decode(Discovery.self, from: Data(document))
        guard discovery.issuer == issuer, let keys = Self.address(discovery.jwks_uri) else {
            throw Self.refused("the configuration is that of another issuer")
        }
        let bytes = try await fetcher.fetch(keys, limit: Self.maximumDocumentByteCount)
        let published = try JSONDecoder().decode(Published.self, from: Data(bytes)).keys
        guard published.count <= Self.maximumKeyCount else { throw Self.refused("too many keys") }
        // Keys of unknown kinds are ignored.
        return try published.compactMap { value in
            let text = try JSON.text(value)
            return (try? JSONDecoder().decode(Key.self, from: Data(text.utf8))).map { ($0, text) }
        }
    }

    /// A URL that keys may come from: by https, or on this machine.
    static func address(_ text: String) -> URL? {
        guard let url = URL(string: text), let host = url.host, url.user == nil, url.fragment == nil else { return nil }
        let isHere = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        return url.scheme == "https" || (url.scheme == "http" && isHere) ? url : nil
    }

    private static func base64URL(_ text: some StringProtocol) -> Data? {
        guard !text.contains("="), !text.contains("+"), !text.contains("/") else { return nil }
        let plain = String(text).replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }
}
