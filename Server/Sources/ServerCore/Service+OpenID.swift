import Foundation
import ServerDatabase

extension Service {
    /// The seconds that a person may spend at the provider.
    private static let maximumVisitDuration = 600.0

    private func provider(_ id: String) throws(ServiceError) -> IdentityProvider {
        guard let provider = providers.first(where: { $0.id == id }) else {
            throw .notFound("identity provider \"\(id)\"")
        }
        return provider
    }

    /// Begins a sign-in with a provider (OpenID Connect Core 1.0, section 3.1.2, with PKCE: RFC 7636).
    ///
    /// - Parameters:
    ///   - id: the provider's identifier.
    ///   - redirect: the address of this server, for this provider alone, to which the provider sends the browser back.
    ///   - next: the page to show afterwards.
    /// - Returns: the redirection to the provider.
    /// - Throws: a ``ServiceError`` when there is no such provider, or its configuration cannot be used.
    public func beginSignIn(with id: String, redirect: String, next: String) async throws -> OpenIDRequest {
        let (provider, time) = (try provider(id), now())
        let configuration = try await openID.configuration(of: provider, at: time.timeIntervalSince1970)
        let (state, nonce) = (Secrets.make(), Secrets.make())
        let verifier = OpenIDClient.base64URL(randomBytes(32))
        try await database.write { connection in
            try connection.execute("DELETE FROM sign_in_states WHERE expires < ?", time.milliseconds)
            try connection.execute(
                "INSERT INTO sign_in_states (state_hash, issuer, nonce, verifier, next, expires) VALUES (?, ?, ?, ?, ?, ?)",
                Secrets.hash(state),
                provider.issuer,
                nonce,
                verifier,
                next,
                time.addingTimeInterval(Self.maximumVisitDuration).milliseconds
            )
        }
        let query = [
            ("response_type", "code"), ("client_id", provider.clientID), ("redirect_uri", redirect),
            ("scope", "openid email profile"), ("state", state), ("nonce", nonce),
            ("code_challenge", OpenIDClient.challenge(verifier)), ("code_challenge_method", "S256"),
        ].map { "\($0.0)=\(OpenIDClient.escaped($0.1))" }.joined(separator: "&")
        let mark = configuration.authorizationEndpoint.contains("?") ? "&" : "?"
        return OpenIDRequest(address: configuration.authorizationEndpoint + mark + query, state: state)
    }

    /// Signs in the person whom a provider sends back.
    ///
    /// - Parameters:
    ///   - id: the provider whose address the browser came back to.
    ///   - code: the authorization code.
    ///   - state: the state in the address.
    ///   - cookie: the state that the browser was sent away with.
    ///   - issuer: the parameter `iss` of the answer (RFC 9207).
    ///   - redirect: the same address as for ``beginSignIn(with:redirect:next:)``.
    /// - Returns: the session, and the page to show.
    /// - Throws: a ``ServiceError`` when the answer is not authentic, or nobody has invited the person.
    public func finishSignIn(
        with id: String,
        code: String,
        state: String,
        cookie: String?,
        issuer: String?,
        redirect: String
    ) async throws -> (Session, next: String) {
        let (provider, time) = (try provider(id), now())
        guard let cookie, isEqualInConstantTime(Array(cookie.utf8), Array(state.utf8)) else {
            throw OpenIDClient.refused("it was begun in another browser or too long ago")
        }
        // A state can be used only once, whatever follows.
        let visit = try await database.write { connection -> Row? in
            let hash = Secrets.hash(state)
            let row = try connection.first("SELECT * FROM sign_in_states WHERE state_hash = ?", hash)
            try connection.execute("DELETE FROM sign_in_states WHERE state_hash = ?", hash)
            return row
        }
        guard let visit, try visit.date("expires") > time else {
            throw OpenIDClient.refused("it was used already, or begun too long ago")
        }
        // Against mix-up attacks: the state belongs to one issuer, its redirect address is its own, and
        // an answer that names its issuer names this one.
        guard try visit.text("issuer").utf8.elementsEqual(provider.issuer.utf8) else {
            throw OpenIDClient.refused("the sign-in began with another provider")
        }
        let configuration = try await openID.configuration(of: provider, at: time.timeIntervalSince1970)
        guard issuer.map({ $0.utf8.elementsEqual(provider.issuer.utf8) }) ?? (configuration.namesIssuer != true) else {
            throw OpenIDClient.refused("another provider has answered")
        }
        let token = try await openID.token(
            for: code,
            of: provider,
            configuration,
            verifier: try visit.text("verifier"),
            redirect: redirect
        )
        let claims = try await workloads.claims(token, issuer: provider.issuer, at: time)
        try Self.check(claims, of: provider, nonce: try visit.text("nonce"))
        let session = try await database.write { connection in
            let account = try Self.account(of: claims, provider, at: time, connection)
            return try Self.makeSession(for: account, by: provider.issuer, at: time, connection)
        }
        return (session, try visit.text("next"))
    }

    /// Checks the claims of an ID token (OpenID Connect Core 1.0, section 3.1.3.7).
    ///
    /// Signature, issuer and dates were checked before.
    private static func check(_ claims: WorkloadClaims, of provider: IdentityProvider, nonce: String) throws {
        guard claims.audience.contains(provider.clientID) else {
            throw OpenIDClient.refused("the ID token is for someone else")
        }
        guard claims.authorizedParty.map({ $0 == provider.clientID }) ?? (claims.audience.count == 1) else {
            throw OpenIDClient.refused("the ID token was made for another program")
        }
        guard let found = claims.nonce, isEqualInConstantTime(Array(found.utf8), Array(nonce.utf8)) else {
            throw OpenIDClient.refused("the ID token is of another sign-in")
        }
        guard !claims.subject.isEmpty, claims.subject.utf8.count <= 255 else {
            throw OpenIDClient.refused("the ID token does not name a user")
        }
    }

    /// The account that an identity belongs to.
    ///
    /// It is the one that the identity was used with before, else the one with the mail address that the provider has
    /// verified, else a new one if that address was invited.
    private static func account(
        of claims: WorkloadClaims,
        _ provider: IdentityProvider,
        at time: Date,
        _ connection: any Connection
    ) throws -> String {
        let known = try connection.first(
            "SELECT account FROM identities WHERE issuer = ? AND subject = ?",
            provider.issuer,
            claims.subject
        )
        let email = claims.isEmailVerified == true ? claims.email?.lowercased() : nil
        let isSpokenFor = email.map { provider.isAuthoritative($0) } ?? false
        if let known {
            let account = try known.text("account")
            if let email, isSpokenFor { _ = try acceptInvitations(of: email, account: account, at: time, connection) }
            return account
        }
        guard let email, isSpokenFor else {
            throw OpenIDClient.refused("it confirms no address in a domain that it may confirm")
        }
        let named = try connection.first("SELECT id FROM accounts WHERE email = ?", email)?.text("id")
        let invited = try acceptInvitations(of: email, account: named, at: time, connection)
        guard let account = named ?? invited else {
            throw OpenIDClient.refused("nobody has invited \(email)")
        }
        try connection.execute(
            "INSERT INTO identities (issuer, subject, account, created) VALUES (?, ?, ?, ?)",
            provider.issuer,
            claims.subject,
            account,
            time.milliseconds
        )
        try Audit.record(
            connection,
            at: time,
            .server,
            team: "",
            "account.identity",
            account,
            ["issuer": provider.issuer, "email": email]
        )
        return account
    }
}
