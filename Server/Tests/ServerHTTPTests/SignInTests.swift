import Crypto
import DeploymentKeys
import Foundation
import Hummingbird
import HummingbirdTesting
import JWTKit
import ServerBlobs
import ServerCore
import ServerDatabase
import ServerHTTP
import Synchronization
import Testing

/// A server whose clock the test turns.
private final class Place: Sendable {
    let folder: String
    let service: ServerCore.Service

    init(providers: [IdentityProvider] = []) async throws {
        folder = FileManager.default.temporaryDirectory.path + "/sign-in-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let seconds = Box()
        box = seconds
        service = try await ServerCore.Service(
            database: try SQLiteDatabase(path: folder + "/server.sqlite"),
            blobs: try FolderBlobStore(folder: folder + "/blobs"),
            keys: try SigningKeyFolder(folder: folder + "/keys"),
            vault: try KeyVault(folder: folder + "/vault", strength: .file),
            fetcher: SessionFetcher(),
            providers: providers,
            hasCheapPasswords: true,
            now: { seconds.date }
        )
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private final class Box: Sendable {
        /// A whole second: what is stored, in milliseconds, is exact.
        private let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        private let offset = Mutex(0.0)
        var date: Date { start.addingTimeInterval(offset.withLock { $0 }) }
        func advance(_ interval: Double) { offset.withLock { $0 += interval } }
    }

    private let box: Box
    var now: Date { box.date }
    func advance(_ interval: Double) { box.advance(interval) }

    /// The administrator, signed in by link a moment ago.
    func administrator() async throws -> (Principal, secret: String) {
        let link = try await service.administratorLink()
        let session = try await service.signIn(link: link)
        return (try await service.principal(session: session.secret).0, session.secret)
    }

    func code(of error: () async throws -> Void) async -> ServiceError.Code? {
        do {
            try await error()
            return nil
        } catch { return (error as? ServiceError)?.code }
    }

    func signIn(_ password: String, _ code: String? = nil, address: String? = "203.0.113.7") async throws -> Session {
        try await service.signIn(email: "admin@localhost", password: password, code: code, address: address)
    }
}

@Suite struct SignInTests {
    private static let password = "a heron reads the tide table"

    private func place() async throws -> Place {
        let place = try await Place()
        _ = try await place.service.firstAdministratorLink()
        return place
    }

    @Test func `codes are those of RFC 6238`() {
        // Appendix B, the vectors of SHA-1, with eight digits.
        let secret = Array("12345678901234567890".utf8)
        let vectors = [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ]
        for (time, code) in vectors { #expect(OneTimeCode.code(secret, step: time / 30, digits: 8) == code) }
        // RFC 4648, section 10, without padding.
        let texts = ["": "", "f": "MY", "fo": "MZXQ", "foo": "MZXW6", "foob": "MZXW6YQ", "fooba": "MZXW6YTB"]
        for (text, code) in texts { #expect(OneTimeCode.base32(Array(text.utf8)) == code) }
    }

    @Test func `a password signs in, wrong ones wait longer and longer, and a link still works`() async throws {
        let place = try await place()
        let (admin, secret) = try await place.administrator()
        #expect(await place.code { _ = try await place.signIn(Self.password) } == .unauthenticated)
        for easy in ["short", "aaaaaaaaaaaaaaaa", "admin@localhost!", "abcabcabcabc"] {
            #expect(
                await place.code { try await place.service.setPassword(easy, of: admin, session: secret) } == .invalid
            )
        }
        try await place.service.setPassword(Self.password, of: admin, session: secret)
        #expect(try await place.service.principal(session: place.signIn(Self.password).secret).0.isAdministrator)
        // The right password between wrong ones makes all begin anew.
        for _ in 0..<8 {
            #expect(await place.code { _ = try await place.signIn("wrong") } == .unauthenticated)
            _ = try await place.signIn(Self.password)
        }
        // Three are free, then each waits twice as long.
        var waits: [Int] = []
        for _ in 0..<9 {
            while true {
                do { _ = try await place.signIn("wrong") } catch let error as ServiceError {
                    if error.code == .unauthenticated { break }
                    waits.append(error.retryAfter ?? 0)
                    place.advance(Double(error.retryAfter ?? 0))
                }
            }
        }
        #expect(waits == [1, 2, 4, 8, 16], "\(waits)")
        #expect(await place.code { _ = try await place.signIn(Self.password) } == .rateLimited)
        // Its owner comes in from elsewhere, and by a link from anywhere.
        _ = try await place.signIn(Self.password, address: "198.51.100.2")
        _ = try await place.administrator()
        // A caller without an account waits, too.
        for _ in 0..<3 {
            let code = await place.code {
                _ = try await place.service.signIn(email: "no@one.example", password: "x", code: nil, address: "a")
            }
            #expect(code == .unauthenticated)
        }
    }

    @Test func `how long a wrong password takes does not tell whether there is an account`() async throws {
        let place = try await place()
        let (admin, secret) = try await place.administrator()
        try await place.service.setPassword(Self.password, of: admin, session: secret)
        var times: [[Double]] = [[], []]
        for round in 0..<260 {
            place.advance(86_401)
            for side in round % 2 == 0 ? [0, 1] : [1, 0] {
                let email = side == 0 ? "admin@localhost" : "nobody@localhost"
                let start = ContinuousClock.now
                let code = await place.code {
                    _ = try await place.service.signIn(email: email, password: "wrong", code: nil, address: "a")
                }
                let time = start.duration(to: .now) / .milliseconds(1)
                #expect(code == .unauthenticated)
                if round >= 60 { times[side].append(time) }
            }
        }
        let difference = quickTime(times[0]) - quickTime(times[1])
        print("S10: sign-in: an answer takes \(String(format: "%+.3f", difference)) ms longer for an account")
        #expect(abs(difference) < 1)
        // The log has them, once with their count, and nothing of who has no account.
        try await place.service.writeDenials()
        let log = try await SQLiteDatabase(path: place.folder + "/server.sqlite").read { connection in
            try connection.query("SELECT subject, detail FROM audit WHERE action = 'account.signInFailed'").map {
                (try $0.text("subject"), try $0.text("detail"))
            }
        }
        #expect(log.count == 1 && log.first?.0 == admin.account)
        #expect(log.first?.1.contains(#""count":"260""#) == true && log.first?.1.contains(#""password""#) == true)
    }

    @Test func `many guesses at a time are counted before they are looked at`() async throws {
        let place = try await place()
        let (admin, secret) = try await place.administrator()
        try await place.service.setPassword(Self.password, of: admin, session: secret)
        let looked = await withTaskGroup { group in
            for _ in 0..<40 {
                group.addTask { await place.code { _ = try await place.signIn("wrong") } == .unauthenticated }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(looked <= 4, "\(looked)")
    }

    @Test func `a code of the authenticator is needed beside the password, and works once`() async throws {
        let place = try await place()
        let (admin, secret) = try await place.administrator()
        let service = place.service
        try await service.setPassword(Self.password, of: admin, session: secret)
        let shown = try await service.beginSecondFactor(of: admin, session: secret)
        #expect(shown.address.hasPrefix("otpauth://totp/Model%20deployment%3Aadmin%40localhost?secret=\(shown.text)"))
        let bytes = try #require(decoded(shown.text))
        func code(_ offset: Double = 0) -> String {
            OneTimeCode.code(bytes, step: Int((place.now.timeIntervalSince1970 + offset) / 30))
        }
        // It does not count before a code of it was seen.
        _ = try await place.signIn(Self.password)
        #expect(
            await place.code { _ = try await service.confirmSecondFactor("000000", of: admin, session: secret) }
                == .invalid
        )
        let used = code()
        let recovery = try await service.confirmSecondFactor(used, of: admin, session: secret)
        #expect(Set(recovery).count == 10)
        #expect(await place.code { _ = try await place.signIn(Self.password) } == .unauthenticated)
        #expect(await place.code { _ = try await place.signIn(Self.password, used) } == .unauthenticated)
        place.advance(30)
        let next = code()
        // A code of the period before and after counts, clocks differ.
        _ = try await place.signIn(Self.password, next)
        #expect(await place.code { _ = try await place.signIn(Self.password, next) } == .unauthenticated)
        #expect(await place.code { _ = try await place.signIn(Self.password, code(90)) } == .unauthenticated)
        place.advance(60)
        _ = try await place.signIn(Self.password, code(30))
        // A recovery code, as people type it, once.
        let typed = recovery[3].uppercased().replacing("-", with: " ")
        _ = try await place.signIn(Self.password, typed)
        #expect(await place.code { _ = try await place.signIn(Self.password, typed) } == .unauthenticated)
        #expect(try await service.signInMethods(of: admin, session: secret).recoveryCodes == 9)
        // The secret lies sealed, the codes as hashes.
        let database = try Data(contentsOf: URL(fileURLWithPath: place.folder + "/server.sqlite"))
        #expect(database.range(of: Data(bytes)) == nil)
        #expect(database.range(of: Data(recovery[0].utf8)) == nil)
    }

    @Test func `how somebody signs in is changed only shortly after they signed in, and ends other sessions`()
        async throws
    {
        let place = try await place()
        let (admin, secret) = try await place.administrator()
        let (_, other) = try await place.administrator()
        try await place.service.setPassword(Self.password, of: admin, session: secret)
        #expect(await place.code { _ = try await place.service.principal(session: other) } == .unauthenticated)
        place.advance(901)
        let changes: [() async throws -> Void] = [
            { try await place.service.setPassword("another heron, at another sea", of: admin, session: secret) },
            { try await place.service.setPassword(nil, of: admin, session: secret) },
            { _ = try await place.service.beginSecondFactor(of: admin, session: secret) },
            { try await place.service.removeSecondFactor(of: admin, session: secret) },
        ]
        for change in changes { #expect(await place.code(of: change) == .forbidden) }
        _ = try await place.signIn(Self.password)
        place.advance(12 * 3600)
        #expect(await place.code { _ = try await place.service.principal(session: secret) } == .unauthenticated)
    }

    @Test func `the API takes a password and a code`() async throws {
        let place = try await place()
        let (admin, secret) = try await place.administrator()
        try await place.service.setPassword(Self.password, of: admin, session: secret)
        try await Application(router: makeRouter(place.service)).test(.router) { client in
            for (body, status) in [
                (#"{"email":"admin@localhost","password":"\#(Self.password)"}"#, 201),
                (#"{"email":"admin@localhost","password":"wrong"}"#, 401),
                (#"{"email":"admin@localhost"}"#, 400), (#"{"link":"x","password":"y"}"#, 400), ("{}", 400),
                (#"{"link":"x"}"#, 401),
            ] {
                let answer = try await client.execute(
                    uri: "/api/v1/sessions",
                    method: .post,
                    body: ByteBuffer(string: body)
                )
                #expect(Int(answer.status.code) == status, "\(body): \(String(buffer: answer.body))")
            }
        }
    }

    private func decoded(_ text: String) -> [UInt8]? {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var (bytes, buffer, count) = ([UInt8](), 0, 0)
        for letter in text {
            guard let value = letters.firstIndex(of: letter) else { return nil }
            (buffer, count) = (buffer << 5 | value, count + 5)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(buffer >> count & 255))
            }
        }
        return bytes
    }
}

// MARK: Identity providers

/// An identity provider at a port of this machine: what it says can be wrong in many ways.
private final class LocalProvider: Sendable {
    struct Claims: JWTPayload {
        var iss: String
        var sub = "person-1"
        var aud: [String] = ["coreml"]
        var exp: Double
        var nonce: String?
        var azp: String?
        var email: String? = "mira@example.org"
        var email_verified: Bool? = true
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// A code that was given out, and what it is good for.
    struct Given {
        let challenge: String
        let redirect: String
        let nonce: String
    }

    let key: EdDSA.PrivateKey
    let published: EdDSA.PrivateKey
    let issuer = Mutex("")
    let change = Mutex<(@Sendable (inout Claims) -> Void)?>(nil)
    private let given = Mutex<[String: Given]>([:])
    let exchanged = Mutex<[String]>([])

    init() throws {
        key = try EdDSA.PrivateKey()
        published = key
    }

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.get(".well-known/openid-configuration") { _, _ in
            let issuer = self.issuer.withLock { $0 }
            return """
                {"issuer":"\(issuer)","jwks_uri":"\(issuer)/keys","authorization_endpoint":"\(issuer)/authorize",
                 "token_endpoint":"\(issuer)/token","code_challenge_methods_supported":["S256"],
                 "authorization_response_iss_parameter_supported":true}
                """
        }
        router.get("keys") { _, _ in
            let point = self.published.publicKey.rawRepresentation.base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            return #"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"\#(point)"}]}"#
        }
        router.post("token") { request, _ -> Response in
            let body = String(buffer: try await request.body.collect(upTo: 1 << 16))
            var fields: [String: String] = [:]
            for part in body.split(separator: "&") {
                let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                fields[halves[0]] = halves[1].removingPercentEncoding
            }
            // A code is good once, for who proves to have asked for it.
            guard let code = fields["code"], let given = self.given.withLock({ $0.removeValue(forKey: code) }),
                request.headers[.authorization] == "Basic " + Data("coreml:s%2Fcret".utf8).base64EncodedString(),
                fields["redirect_uri"] == given.redirect, fields["grant_type"] == "authorization_code",
                let verifier = fields["code_verifier"], Self.challenge(verifier) == given.challenge
            else { return Response(status: .badRequest, body: .init(byteBuffer: ByteBuffer(string: "{}"))) }
            self.exchanged.withLock { $0.append(code) }
            var claims = Claims(
                iss: self.issuer.withLock { $0 },
                exp: Date().timeIntervalSince1970 + 300,
                nonce: given.nonce
            )
            self.change.withLock { $0 }?(&claims)
            let keys = JWTKeyCollection()
            await keys.add(eddsa: self.key, kid: "k")
            let token = try await keys.sign(claims, kid: "k")
            return Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: #"{"token_type":"Bearer","id_token":"\#(token)"}"#))
            )
        }
        return router
    }

    private static func challenge(_ verifier: String) -> String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString().replacing("+", with: "-")
            .replacing("/", with: "_").replacing("=", with: "")
    }

    /// The person's visit at the provider: the visitor with this address is sent back with a code.
    func visit(_ address: String) throws -> (code: String, state: String) {
        let items = try #require(URLComponents(string: address)?.queryItems)
        let query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
        #expect(query["response_type"] == "code")
        #expect(query["code_challenge_method"] == "S256")
        #expect(query["scope"] == "openid email profile")
        let code = UUID().uuidString
        let given = Given(
            challenge: query["code_challenge"] ?? "",
            redirect: query["redirect_uri"] ?? "",
            nonce: query["nonce"] ?? ""
        )
        self.given.withLock { $0[code] = given }
        return (code, query["state"] ?? "")
    }
}

@Suite struct OpenIDTests {
    private static let redirect = "http://localhost/sign-in/callback/example"

    /// A server, and a provider that it knows.
    private func run(_ body: @escaping @Sendable (Place, LocalProvider, String) async throws -> Void) async throws {
        let provider = try LocalProvider()
        try await Application(router: provider.router).test(.live) { client in
            let port = try #require(client.port)
            let issuer = "http://127.0.0.1:\(port)"
            provider.issuer.withLock { $0 = issuer }
            func known(_ id: String, _ issuer: String) -> IdentityProvider {
                IdentityProvider(
                    id: id,
                    name: "Example",
                    issuer: issuer,
                    clientID: "coreml",
                    clientSecret: "s/cret",
                    domains: ["example.org"]
                )
            }
            let place = try await Place(providers: [known("example", issuer), known("other", issuer + "/other")])
            // Logs of level debug show what a service is made of.
            #expect(String(describing: place.service).contains("example (\(issuer))"))
            #expect(!String(describing: place.service).contains("s/cret"))
            let link = try await place.service.firstAdministratorLink()
            let session = try await place.service.signIn(link: try #require(link))
            let admin = try await place.service.principal(session: session.secret).0
            _ = try await place.service.createTeam("acme", name: "", as: admin)
            let owner = try await place.service.principal(session: session.secret).0
            _ = try await place.service.invite(
                "mira@example.org",
                name: "Mira",
                roles: [.deployer],
                to: "acme",
                as: owner
            )
            try await body(place, provider, issuer)
        }
    }

    private func signIn(
        _ place: Place,
        _ provider: LocalProvider,
        issuer: String?,
        finishWith id: String = "example",
        cookie: String? = nil
    ) async throws -> Principal {
        let away = try await place.service.beginSignIn(with: "example", redirect: Self.redirect, next: "/teams/acme")
        let (code, state) = try provider.visit(away.address)
        let (session, next) = try await place.service.finishSignIn(
            with: id,
            code: code,
            state: state,
            cookie: cookie ?? away.state,
            issuer: issuer,
            redirect: Self.redirect
        )
        #expect(next == "/teams/acme")
        return try await place.service.principal(session: session.secret).0
    }

    @Test func `who was invited signs in with the provider, and is the same account the next time`() async throws {
        try await run { place, provider, issuer in
            let first = try await signIn(place, provider, issuer: issuer)
            #expect(first.name == "mira@example.org")
            #expect(first.permissions(in: "acme") == [.view, .deploy])
            // The subject counts from now on, whatever becomes of the address.
            provider.change.withLock { $0 = { $0.email = "other@elsewhere.example" } }
            let second = try await signIn(place, provider, issuer: issuer)
            #expect(second.account == first.account)
            // A subject of its own, without anybody's invitation.
            provider.change.withLock {
                $0 = {
                    $0.sub = "person-2"
                    $0.email = "eve@example.org"
                }
            }
            #expect(await place.code { _ = try await self.signIn(place, provider, issuer: issuer) } == .unauthenticated)
        }
    }

    @Test func `what a token must not be is refused`() async throws {
        try await run { place, provider, issuer in
            let wrong: [(String, @Sendable (inout LocalProvider.Claims) -> Void)] = [
                ("another sign-in's nonce", { $0.nonce = "0" }), ("no nonce", { $0.nonce = nil }),
                ("another issuer", { $0.iss = "https://evil.example" }), ("another client", { $0.aud = ["other"] }),
                ("several clients without a party", { $0.aud = ["coreml", "other"] }),
                ("another party", { $0.azp = "other" }), ("expired", { $0.exp = 1000 }),
                ("an address that is not verified", { $0.email_verified = false }),
                ("an address that nobody says is verified", { $0.email_verified = nil }),
                ("an address that it may not speak for", { $0.email = "mira@elsewhere.example" }),
                ("the administrator's address", { $0.email = "admin@localhost" }), ("no address", { $0.email = nil }),
                ("nobody", { $0.sub = "" }),
            ]
            for (name, change) in wrong {
                provider.change.withLock { $0 = change }
                let code = await place.code { _ = try await self.signIn(place, provider, issuer: issuer) }
                #expect(code == .unauthenticated, "\(name)")
            }
            provider.change.withLock { $0 = nil }
            _ = try await signIn(place, provider, issuer: issuer)
        }
    }

    @Test func `answers that were mixed up, stolen, replayed or forged sign nobody in`() async throws {
        try await run { place, provider, issuer in
            let service = place.service
            func begin() async throws -> (OpenIDRequest, String, String) {
                let away = try await service.beginSignIn(with: "example", redirect: Self.redirect, next: "/")
                let (code, state) = try provider.visit(away.address)
                return (away, code, state)
            }
            func finish(
                _ code: String,
                _ state: String,
                cookie: String?,
                id: String = "example",
                issuer other: String? = nil,
                redirect: String = Self.redirect
            ) async -> ServiceError.Code? {
                await place.code {
                    _ = try await service.finishSignIn(
                        with: id,
                        code: code,
                        state: state,
                        cookie: cookie,
                        issuer: other ?? issuer,
                        redirect: redirect
                    )
                }
            }
            // Another browser, no cookie, a made-up state.
            var (away, code, state) = try await begin()
            #expect(await finish(code, state, cookie: nil) == .unauthenticated)
            #expect(await finish(code, state, cookie: "0") == .unauthenticated)
            #expect(await finish(code, "0", cookie: "0") == .unauthenticated)
            // The answer of another provider, by its address and by its parameter (RFC 9207).
            #expect(await finish(code, state, cookie: away.state, id: "other") == .unauthenticated)
            (away, code, state) = try await begin()
            #expect(await finish(code, state, cookie: away.state, issuer: "https://evil.example") == .unauthenticated)
            (away, code, state) = try await begin()
            let unnamed = await place.code {
                _ = try await service.finishSignIn(
                    with: "example",
                    code: code,
                    state: state,
                    cookie: away.state,
                    issuer: nil,
                    redirect: Self.redirect
                )
            }
            #expect(unnamed == .unauthenticated, "the provider says that its answers name it")
            // A code of one sign-in in another: PKCE.
            let (_, stolen, _) = try await begin()
            (away, code, state) = try await begin()
            #expect(await finish(stolen, state, cookie: away.state) == .unauthenticated)
            // The whole answer a second time.
            (away, code, state) = try await begin()
            #expect(await finish(code, state, cookie: away.state) == nil)
            #expect(await finish(code, state, cookie: away.state) == .unauthenticated)
            // A code that was used, with a fresh state.
            let used = code
            (away, code, state) = try await begin()
            #expect(await finish(used, state, cookie: away.state) == .unauthenticated)
            // Too late.
            (away, code, state) = try await begin()
            place.advance(601)
            #expect(await finish(code, state, cookie: away.state) == .unauthenticated)
        }
    }
}
