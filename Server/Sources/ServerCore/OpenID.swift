import Crypto
import Foundation
import Synchronization

/// An OpenID Connect provider that people sign in with, as the server's operator has registered with it.
public struct IdentityProvider: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The name that people read: `Sign in with Example`.
    public let name: String
    /// The provider's identifier in paths: a–z, digits, hyphens.
    public let id: String
    /// The provider's issuer, an address by https.
    public let issuer: String
    /// The client identifier that the provider has assigned to the server.
    public let clientID: String
    /// The client secret; `nil` for a client that only PKCE protects.
    let clientSecret: String?
    /// The mail domains whose addresses the provider may vouch for; `*` for all.
    public let domains: [String]

    /// Creates a provider.
    public init(id: String, name: String, issuer: String, clientID: String, clientSecret: String?, domains: [String]) {
        self.id = id
        self.name = name
        self.issuer = issuer
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.domains = domains
    }

    private struct Entry: Decodable {
        let id: String
        let name: String
        let issuer: String
        let clientID: String
        let clientSecretFile: String?
        let domains: [String]
    }

    /// Reads a file of identity providers.
    ///
    /// It is a JSON list of objects with `id`, `name`, `issuer`, `clientID`, `clientSecretFile` (if the client has one)
    /// and `domains`. Throws a ``ServiceError`` for any other file.
    public static func read(contentsOf path: String) throws -> [IdentityProvider] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ServiceError(.notFound, "\(path) cannot be read.")
        }
        let entries: [Entry]
        do { entries = try JSONDecoder().decode([Entry].self, from: data) } catch {
            throw ServiceError(.invalid, "\(path) is not a list of identity providers: \(error)")
        }
        guard Set(entries.map(\.id)).count == entries.count, Set(entries.map(\.issuer)).count == entries.count else {
            throw ServiceError(.invalid, "\(path): each provider needs a unique id and issuer.")
        }
        return try entries.map { entry in
            try Service.checkName(entry.id, "id")
            guard WorkloadVerifier.address(entry.issuer) != nil, !entry.clientID.isEmpty, !entry.domains.isEmpty else {
                throw ServiceError(
                    .invalid,
                    "\(path): \(entry.id) needs an issuer with https, a clientID, and domains whose addresses it may "
                        + "confirm (\"*\" for all)."
                )
            }
            let secret = try entry.clientSecretFile.map { file in
                guard let data = FileManager.default.contents(atPath: file) else {
                    throw ServiceError(.notFound, "\(file) cannot be read.")
                }
                return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            }
            return IdentityProvider(
                id: entry.id,
                name: entry.name,
                issuer: entry.issuer,
                clientID: entry.clientID,
                clientSecret: secret,
                domains: entry.domains.map { $0.lowercased() }
            )
        }
    }

    /// The identifier and the issuer, without the secret.
    public var description: String { "\(id) (\(issuer))" }
    /// The same as ``description``.
    public var debugDescription: String { description }

    func isAuthoritative(_ email: String) -> Bool {
        guard let domain = email.split(separator: "@").last else { return false }
        return domains.contains("*") || domains.contains(domain.lowercased())
    }
}

/// The redirection of a browser to a provider for signing in.
public struct OpenIDRequest: Sendable {
    /// The address to redirect to.
    public let address: String
    /// The value that the browser's cookie must contain when it returns.
    public let state: String
}

/// A provider's discovery document (OpenID Connect Discovery 1.0, RFC 8414).
struct ProviderConfiguration: Sendable, Decodable {
    let issuer: String
    let authorizationEndpoint: String
    let tokenEndpoint: String
    /// Whether answers name their issuer (RFC 9207).
    let namesIssuer: Bool?
    let challengeMethods: [String]?

    private enum CodingKeys: String, CodingKey {
        case issuer
        case authorizationEndpoint = "authorization_endpoint"
        case tokenEndpoint = "token_endpoint"
        case namesIssuer = "authorization_response_iss_parameter_supported"
        case challengeMethods = "code_challenge_methods_supported"
    }
}

/// The requests to identity providers.
final class OpenIDClient: Sendable {
    private static let maximumDocumentByteCount = 1 << 20
    private static let lifetime = 3600.0
    private let fetcher: any DocumentFetcher
    private let known = Mutex<[String: (configuration: ProviderConfiguration, fetched: Double)]>([:])

    init(fetcher: any DocumentFetcher) { self.fetcher = fetcher }

    static func refused(_ why: String) -> ServiceError {
        ServiceError(.unauthenticated, "The sign-in with the identity provider is refused: \(why).")
    }

    func configuration(of provider: IdentityProvider, at time: Double) async throws -> ProviderConfiguration {
        if let known = known.withLock({ $0[provider.issuer] }), time - known.fetched < Self.lifetime {
            return known.configuration
        }
        let base = provider.issuer.hasSuffix("/") ? String(provider.issuer.dropLast()) : provider.issuer
        guard let place = WorkloadVerifier.address(base + "/.well-known/openid-configuration") else {
            throw Self.refused("its issuer is not an address")
        }
        let configuration: ProviderConfiguration
        do {
            let document = try await fetcher.fetch(place, limit: Self.maximumDocumentByteCount)
            configuration = try JSONDecoder().decode(ProviderConfiguration.self, from: Data(document))
        } catch {
            throw ServiceError(
                .unavailable,
                "\(provider.name) does not publish its sign-in configuration: \(place.absoluteString) cannot be read.",
                retryAfter: 60
            )
        }
        guard configuration.issuer.utf8.elementsEqual(provider.issuer.utf8),
            WorkloadVerifier.address(configuration.authorizationEndpoint) != nil,
            WorkloadVerifier.address(configuration.tokenEndpoint) != nil
        else { throw Self.refused("its configuration belongs to another issuer or does not use https") }
        guard configuration.challengeMethods.map({ $0.contains("S256") }) ?? true else {
            throw Self.refused("it does not support PKCE with S256")
        }
        known.withLock { $0[provider.issuer] = (configuration, time) }
        return configuration
    }

    /// Exchanges an authorization code for an ID token (OpenID Connect Core 1.0, section 3.1.3).
    ///
    /// The token is not verified yet.
    func token(
        for code: String,
        of provider: IdentityProvider,
        _ configuration: ProviderConfiguration,
        verifier: String,
        redirect: String
    ) async throws -> String {
        struct Answer: Decodable {
            let id_token: String
        }
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ]
        var headers = ["Accept": "application/json"]
        if let secret = provider.clientSecret {
            // RFC 6749, section 2.3.1.
            let pair = [provider.clientID, secret].map { Self.escaped($0) }.joined(separator: ":")
            headers["Authorization"] = "Basic " + Data(pair.utf8).base64EncodedString()
        } else {
            form.append(("client_id", provider.clientID))
        }
        guard let place = URL(string: configuration.tokenEndpoint) else { throw Self.refused("no address") }
        let body = form.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
        let answer: [UInt8]
        do {
            answer = try await fetcher.post(place, form: body, headers: headers, limit: Self.maximumDocumentByteCount)
        } catch { throw Self.refused("it does not accept the code") }
        guard let token = try? JSONDecoder().decode(Answer.self, from: Data(answer)).id_token else {
            throw Self.refused("it does not identify the user")
        }
        return token
    }

    static func escaped(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    /// The code challenge of a verifier (RFC 7636, section 4.2).
    static func challenge(_ verifier: String) -> String { base64URL(Array(SHA256.hash(data: Data(verifier.utf8)))) }

    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
