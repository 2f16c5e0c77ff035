import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JWTKit
import ServerCore
import Synchronization
import Testing

/// An identity provider, with keys that are made for the test.
private final class Provider: DocumentFetcher {
    struct Claims: JWTPayload {
        var iss: String
        var sub: String
        var aud: [String]
        var exp: Double
        var nbf: Double?
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    static let issuer = "https://issuer.example"
    let ecdsa = ES256PrivateKey()
    let eddsa: EdDSA.PrivateKey
    let rsa: JWTKit.Insecure.RSA.PrivateKey
    let asked = Mutex(0)
    private let extra = Mutex<[String]>([])

    init() throws {
        eddsa = try EdDSA.PrivateKey()
        rsa = try JWTKit.Insecure.RSA.PrivateKey(backing: _RSA.Signing.PrivateKey(keySize: .bits2048))
    }

    func publish(_ key: String) { extra.withLock { $0.append(key) } }

    private func published() throws -> String {
        let point = try #require(ecdsa.publicKey.parameters)
        let edwards = eddsa.publicKey.rawRepresentation.base64URL
        let (modulus, exponent) = try rsa.publicKey.getKeyPrimitives()
        let keys =
            [
                #"{"kty":"EC","crv":"P-256","kid":"ec","use":"sig","x":"\#(url(point.x))","y":"\#(url(point.y))"}"#,
                #"{"kty":"OKP","crv":"Ed25519","kid":"ed","x":"\#(edwards)"}"#,
                #"{"kty":"RSA","kid":"rsa","alg":"RS256","n":"\#(Data(modulus).base64URL)","e":"\#(Data(exponent).base64URL)"}"#,
                #"{"kty":"EC","crv":"P-521","kid":"other","x":"AA","y":"AA"}"#,
            ] + extra.withLock { $0 }
        return #"{"keys":[\#(keys.joined(separator: ","))]}"#
    }

    private func url(_ text: String) -> String {
        text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    func fetch(_ url: URL, limit: Int) async throws -> [UInt8] {
        asked.withLock { $0 += 1 }
        switch url.absoluteString {
        case "https://issuer.example/.well-known/openid-configuration":
            return Array(#"{"issuer":"https://issuer.example","jwks_uri":"https://issuer.example/keys"}"#.utf8)
        case "https://issuer.example/keys": return Array(try published().utf8)
        default: throw URLError(.badURL)
        }
    }

    func claims(_ change: (inout Claims) -> Void = { _ in }) -> Claims {
        let now = World.start.timeIntervalSince1970
        var claims = Claims(
            iss: Self.issuer,
            sub: "repo:acme/shop:ref:refs/heads/main",
            aud: ["coreml"],
            exp: now + 300
        )
        change(&claims)
        return claims
    }

    func token(_ claims: Claims, kid: String = "ec") async throws -> String {
        let keys = JWTKeyCollection()
        switch kid {
        case "ed": await keys.add(eddsa: eddsa, kid: "ed")
        case "rsa": await keys.add(rsa: rsa, digestAlgorithm: .sha256, kid: "rsa")
        default: await keys.add(ecdsa: ecdsa, kid: JWKIdentifier(string: kid))
        }
        return try await keys.sign(claims, kid: JWKIdentifier(string: kid))
    }
}

extension Data {
    fileprivate var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// Tokens of CI for tokens of identity providers.
@Suite struct WorkloadTests {
    private func exchange(_ token: String, _ world: World, team: String = "acme") async throws
        -> (status: Int, text: String, body: String)
    {
        try await world.run { client in
            let answer = try await client.execute(
                uri: "/api/v1/oidc/token",
                method: .post,
                body: ByteBuffer(string: #"{"team":"\#(team)","token":"\#(token)"}"#)
            )
            let body = String(buffer: answer.body)
            let json = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return (Int(answer.status.code), json?["text"] as? String ?? "", body)
        }
    }

    @Test func `a job of CI gets a token for a quarter of an hour, by each algorithm`() async throws {
        let provider = try Provider()
        let world = try await World.make(fetcher: provider)
        defer { world.remove() }
        for kid in ["ec", "ed", "rsa"] {
            let answer = try await exchange(try await provider.token(provider.claims(), kid: kid), world)
            #expect(answer.status == 201, "\(kid): \(answer.body)")
            let principal = try await world.service.principal(token: answer.text)
            #expect(principal.permissions(in: "acme") == [.view, .publish])
            #expect(principal.app == "shop")
        }
        // The provider's configuration and keys, once.
        #expect(provider.asked.withLock { $0 } == 2)
        let tokens = try await world.service.tokens(of: "acme", as: .server)
        let made = try #require(tokens.first { $0.createdBy.hasPrefix("workload:") })
        #expect(made.expires.timeIntervalSince(made.created) == 900)
    }

    @Test func `claims that the team does not trust are refused`() async throws {
        let provider = try Provider()
        let world = try await World.make(fetcher: provider)
        defer { world.remove() }
        let now = World.start.timeIntervalSince1970
        let changes: [(String, (inout Provider.Claims) -> Void)] = [
            ("issuer", { $0.iss = "https://issuer.example.evil.example" }), ("audience", { $0.aud = ["other"] }),
            ("no audience", { $0.aud = [] }), ("subject", { $0.sub = "repo:evil/shop:ref:refs/heads/main" }),
            ("subject's end", { $0.sub = "xrepo:acme/shop" }), ("expired", { $0.exp = now - 61 }),
            ("infinite", { $0.exp = .greatestFiniteMagnitude * -1 }), ("not yet good", { $0.nbf = now + 61 }),
        ]
        for (name, change) in changes {
            let token = try await provider.token(provider.claims(change))
            #expect(try await exchange(token, world).status == 401, "\(name)")
        }
        let good = try await provider.token(provider.claims())
        #expect(try await exchange(good, world, team: "other").status == 401)
        #expect(try await exchange(good, world, team: "none").status == 401)
        #expect(try await exchange(good, world).status == 201)
    }

    @Test func `a token's header never chooses how it is verified`() async throws {
        let provider = try Provider()
        let world = try await World.make(fetcher: provider)
        defer { world.remove() }
        let good = try await provider.token(provider.claims(), kid: "rsa")
        let payload = good.split(separator: ".")[1]
        func forged(_ header: String, _ sign: (Data) throws -> Data) throws -> String {
            let text = Data(header.utf8).base64URL + "." + payload
            return text + "." + (try sign(Data(text.utf8))).base64URL
        }
        let pem = Data(provider.rsa.publicKey.pemRepresentation.utf8)
        func hmac(_ data: Data) -> Data {
            Data(HMAC<SHA256>.authenticationCode(for: data, using: SymmetricKey(data: pem)))
        }
        let stranger = ES256PrivateKey()
        let ownKeys = JWTKeyCollection()
        await ownKeys.add(ecdsa: stranger, kid: "ec")
        let tokens: [(String, String)] = [
            ("none", try forged(#"{"alg":"none","kid":"rsa"}"#) { _ in Data([0]) }),
            ("None", try forged(#"{"alg":"None"}"#) { _ in Data([0]) }),
            ("no signature", Data(#"{"alg":"none"}"#.utf8).base64URL + "." + payload + "."),
            ("HS256 with the public key", try forged(#"{"alg":"HS256","kid":"rsa"}"#) { hmac($0) }),
            ("RS256 that is HS256", try forged(#"{"alg":"RS256","kid":"rsa"}"#) { hmac($0) }),
            ("another kind of key", try forged(#"{"alg":"ES256","kid":"rsa"}"#) { hmac($0) }),
            ("an unknown key", try await provider.token(provider.claims(), kid: "nobody")),
            ("a stranger's key of the same name", try await ownKeys.sign(provider.claims(), kid: "ec")),
            (
                "a key in the header",
                try forged(#"{"alg":"ES256","kid":"ec","jwk":{"kty":"EC"},"jku":"https://evil.example"}"#) { hmac($0) }
            ),
            ("what is critical", try forged(#"{"alg":"RS256","kid":"rsa","crit":["b64"],"b64":false}"#) { hmac($0) }),
            ("a changed payload", good.replacing(payload, with: payload.dropLast() + "A")),
            ("half", String(good.prefix(good.count / 2))), ("nothing", ""), ("dots", ".."),
            ("too long", String(repeating: "a", count: 20_000) + ".a.a"),
        ]
        for (name, token) in tokens { #expect(try await exchange(token, world).status == 401, "\(name)") }
        // Unknown keys make the server ask the provider at most once a minute.
        #expect(provider.asked.withLock { $0 } <= 4)
    }

    @Test func `two keys of one name are no key`() async throws {
        let provider = try Provider()
        let world = try await World.make(fetcher: provider)
        defer { world.remove() }
        provider.publish(#"{"kty":"EC","crv":"P-256","kid":"ec","x":"AA","y":"AA"}"#)
        #expect(try await exchange(try await provider.token(provider.claims()), world).status == 401)
    }

    @Test func `a provider that cannot be asked is no reason to trust`() async throws {
        let provider = try Provider()
        let world = try await World.make()
        defer { world.remove() }
        #expect(try await exchange(try await provider.token(provider.claims()), world).status == 503)
    }

    @Test func `patterns match whole subjects`() async throws {
        let provider = try Provider()
        let world = try await World.make(fetcher: provider)
        defer { world.remove() }
        let owner = try #require(world.credentials.first { $0.role == .owner && $0.reach == .team }).text
        for (issuer, subject) in [
            ("http://issuer.example", "repo:a"), ("https://user@issuer.example", "repo:a"), ("file:///etc", "repo:a"),
            ("https://issuer.example?x", "repo:a"), ("https://issuer.example", "*"), ("https://issuer.example", ""),
            ("https://issuer.example", "*:ref"),
        ] {
            let body = #"{"name":"x","issuer":"\#(issuer)","audience":"a","subject":"\#(subject)","roles":["viewer"]}"#
            let status = try await world.run { client in
                try await client.execute(
                    uri: "/api/v1/teams/acme/workload-trusts",
                    method: .post,
                    headers: [.authorization: "Bearer \(owner)"],
                    body: ByteBuffer(string: body)
                ).status
            }
            #expect(status == .badRequest, "\(issuer) \(subject)")
        }
    }
}
