import DeploymentKeys
import Foundation
import ServerDatabase

/// The ways in which an account can sign in.
public struct SignInMethods: Sendable, Equatable {
    /// The account's mail address.
    public let email: String
    /// The account's name.
    public let name: String
    /// Whether the account has a password.
    public let hasPassword: Bool
    /// Whether an authenticator's code is needed with the password.
    public let hasSecondFactor: Bool
    /// The number of unused recovery codes.
    public let recoveryCodes: Int
    /// The issuers of the identities that belong to the account.
    public let issuers: [String]
    /// Whether the sign-in was recent enough to allow changes.
    public let isFresh: Bool
}

/// The secret that an authenticator is set up with, shown once.
public struct SecondFactorSecret: Sendable {
    /// The secret in Base32, for typing.
    public let text: String
    /// The secret as a link for authenticators: `otpauth://totp/…`.
    public let address: String
}

extension Service {
    /// The seconds after signing in for which the ways of signing in may be changed.
    static let freshSession = 900.0

    // MARK: Signing in

    /// Signs in with a password, and a code where the account has a second factor.
    ///
    /// - Parameters:
    ///   - email: the account's mail address.
    ///   - password: the password.
    ///   - code: the authenticator's code, or a recovery code; `nil` for none.
    ///   - address: the address of the request, for growing delays; `nil` for this machine.
    /// - Returns: the new session.
    /// - Throws: a ``ServiceError`` when something is wrong, or after too many failures.
    public func signIn(email: String, password: String, code: String?, address: String?) async throws -> Session {
        let email = email.lowercased()
        let time = now()
        guard email.utf8.count <= 254, password.utf8.count <= 256, (code ?? "").utf8.count <= 64 else {
            throw Self.wrongPassword
        }
        let subjects = Self.subjects(email, address)
        // Attempts are counted before they are checked, so that simultaneous ones are not free.
        try await countAttempt(subjects, at: time)
        let row = try await database.read { connection in
            try connection.first("SELECT id, password FROM accounts WHERE email = ?", email)
        }
        guard try await passwords.verify(password, row?.optionalText("password")), let row else {
            // Guessed addresses do not fill the log.
            if let row { denials.add(.signIn(account: try row.text("id"), wrong: "password"), at: time) }
            throw Self.wrongPassword
        }
        let (account, vault) = (try row.text("id"), vault)
        let isRight = try await database.write { connection in
            try Self.useSecondFactor(code, of: account, vault, at: time, connection)
        }
        guard isRight else {
            let hasNone = (code ?? "").isEmpty
            denials.add(.signIn(account: account, wrong: hasNone ? "no code" : "code"), at: time)
            throw hasNone
                ? ServiceError(.unauthenticated, "A code of your authenticator is needed, too.", field: "code")
                : Self.wrongPassword
        }
        return try await database.write { connection in
            for subject in subjects {
                try connection.execute("DELETE FROM sign_in_failures WHERE subject = ?", subject.name)
            }
            return try Self.makeSession(for: account, by: "password", at: time, connection)
        }
    }

    private static let wrongPassword = ServiceError(
        .unauthenticated,
        "The address, the password or the code is wrong."
    )

    static func makeSession(
        for account: String,
        by method: String,
        at time: Date,
        _ connection: any Connection
    ) throws -> Session {
        let text = TokenText(kind: "session", id: identifier(), secret: Secrets.make())
        let session = Session(secret: text.text, csrf: Secrets.make())
        try connection.execute(
            "INSERT INTO sessions (secret_hash, account, csrf, created, seen) VALUES (?, ?, ?, ?, ?)",
            Secrets.hash(session.secret),
            account,
            session.csrf,
            time.milliseconds,
            time.milliseconds
        )
        try Audit.record(connection, at: time, .server, team: "", "account.signIn", account, ["by": method])
        return session
    }

    // MARK: Delays

    /// The subjects whose failures are counted, with the number of free ones and the longest delay in seconds.
    ///
    /// An account's failures from one address soon cause long delays; those from anywhere a minute at most, so that
    /// nobody can lock its owner out.
    private static func subjects(
        _ email: String,
        _ address: String?
    ) -> [(name: String, free: Int, longest: Double)] {
        [("\(email) \(address ?? "here")", 3, 900), (email, 10, 60)]
    }

    /// The seconds after a failure in which no further attempt is accepted.
    static func delay(after failures: Int, free: Int, longest: Double) -> Double {
        failures <= free ? 0 : min(longest, exp2(Double(min(failures - free, 30) - 1)))
    }

    private func countAttempt(_ subjects: [(name: String, free: Int, longest: Double)], at time: Date) async throws {
        let wait = try await database.write { connection -> Double in
            try connection.execute(
                "DELETE FROM sign_in_failures WHERE last < ?",
                time.addingTimeInterval(-86_400).milliseconds
            )
            var longest = 0.0
            for (name, free, maximum) in subjects {
                let row = try connection.first("SELECT count, last FROM sign_in_failures WHERE subject = ?", name)
                guard let row else { continue }
                let delay = Self.delay(after: try row.integer("count"), free: free, longest: maximum)
                // The time of the last failure is rounded, and may lie after one within the same millisecond.
                guard delay > 0 else { continue }
                longest = max(longest, try row.date("last").addingTimeInterval(delay).timeIntervalSince(time))
            }
            guard longest <= 0 else { return longest }
            for (name, _, _) in subjects {
                try connection.execute(
                    "INSERT INTO sign_in_failures (subject, count, last) VALUES (?, 1, ?) ON CONFLICT (subject) DO UPDATE "
                        + "SET count = sign_in_failures.count + 1, last = excluded.last",
                    name,
                    time.milliseconds
                )
            }
            return 0
        }
        guard wait <= 0 else {
            let seconds = max(1, Int(wait.rounded(.up)))
            throw ServiceError(
                .rateLimited,
                "Too many sign-ins have failed: try again in \(seconds) s.",
                retryAfter: seconds
            )
        }
    }

    // MARK: How an account signs in

    /// The ways in which the account of a signed-in person can sign in.
    ///
    /// Throws a ``ServiceError`` for tokens.
    public func signInMethods(of actor: Principal, session secret: String) async throws -> SignInMethods {
        guard let account = actor.account else {
            throw ServiceError(.forbidden, "A token has no account: sign in as yourself.")
        }
        let time = now()
        return try await database.read { connection in
            guard let row = try connection.first("SELECT email, name, password FROM accounts WHERE id = ?", account)
            else {
                throw ServiceError.notFound("account")
            }
            let factor = try connection.first(
                "SELECT confirmed, recovery FROM second_factors WHERE account = ?",
                account
            )
            let isConfirmed = try factor?.optionalInteger("confirmed") != nil
            return SignInMethods(
                email: try row.text("email"),
                name: try row.text("name"),
                hasPassword: try row.optionalText("password") != nil,
                hasSecondFactor: isConfirmed,
                recoveryCodes: isConfirmed
                    ? try factor.map { try JSON.read([String].self, $0.text("recovery")).count } ?? 0 : 0,
                issuers: try connection.query(
                    "SELECT issuer FROM identities WHERE account = ? ORDER BY issuer",
                    account
                ).map { try $0.text("issuer") },
                isFresh: try Self.isFresh(secret, at: time, connection)
            )
        }
    }

    private static func isFresh(_ secret: String, at time: Date, _ connection: any Connection) throws -> Bool {
        let hash = Secrets.hash(secret)
        guard let row = try connection.first("SELECT created FROM sessions WHERE secret_hash = ?", hash) else {
            return false
        }
        return try time.timeIntervalSince(row.date("created")) < freshSession
    }

    /// The account of a person who signed in recently: with an unattended browser nothing can be changed.
    private static func requireFresh(
        _ actor: Principal,
        _ secret: String,
        at time: Date,
        _ connection: any Connection
    ) throws -> String {
        guard let account = actor.account else {
            throw ServiceError(.forbidden, "A token has no account: sign in as yourself.")
        }
        guard try isFresh(secret, at: time, connection) else {
            throw ServiceError(
                .forbidden,
                "Sign-in settings can be changed for 15 minutes after you signed in: sign out, and in again."
            )
        }
        return account
    }

    /// Sets or, with `nil`, removes the account's password; all its other sessions end.
    ///
    /// Throws a ``ServiceError`` for a password that is easy to guess, or when the sign-in was not recent.
    public func setPassword(_ password: String?, of actor: Principal, session secret: String) async throws {
        let time = now()
        if let password { try PasswordHasher.check(password, of: actor.name) }
        _ = try await database.read { connection in try Self.requireFresh(actor, secret, at: time, connection) }
        let text = try await password.asyncMap { try await passwords.text(of: $0) }
        try await database.write { connection in
            let account = try Self.requireFresh(actor, secret, at: time, connection)
            try connection.execute("UPDATE accounts SET password = ? WHERE id = ?", text, account)
            try connection.execute(
                "DELETE FROM sessions WHERE account = ? AND secret_hash <> ?",
                account,
                Secrets.hash(secret)
            )
            try Audit.record(
                connection,
                at: time,
                actor,
                team: "",
                text == nil ? "account.removePassword" : "account.password",
                account
            )
        }
    }

    /// Begins to set up an authenticator, which counts once ``confirmSecondFactor(_:of:session:)`` has seen its code.
    ///
    /// Throws a ``ServiceError`` when there is one already, or the sign-in was not recent.
    public func beginSecondFactor(of actor: Principal, session secret: String) async throws -> SecondFactorSecret {
        let (time, vault, sealed) = (now(), vault, randomBytes(32))
        try await database.write { connection in
            let account = try Self.requireFresh(actor, secret, at: time, connection)
            let known = try connection.first("SELECT confirmed FROM second_factors WHERE account = ?", account)
            guard try known?.optionalInteger("confirmed") == nil else {
                throw ServiceError.conflict("The account has an authenticator already: remove that one first.")
            }
            try connection.execute("DELETE FROM second_factors WHERE account = ?", account)
            try connection.execute(
                "INSERT INTO second_factors (account, secret, confirmed, last_step, recovery) VALUES (?, ?, ?, 0, '[]')",
                account,
                try vault.seal(sealed, purpose: Self.purpose(account)),
                nil
            )
        }
        let text = OneTimeCode.base32(Self.shared(sealed))
        let label = "Model deployment:\(actor.name)".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return SecondFactorSecret(
            text: text,
            address: "otpauth://totp/\(label)?secret=\(text)&issuer=Model%20deployment"
        )
    }

    /// Activates an authenticator that shows the right code.
    ///
    /// Returns the recovery codes, which cannot be shown again. Throws a ``ServiceError`` for a wrong code.
    public func confirmSecondFactor(_ code: String, of actor: Principal, session secret: String) async throws
        -> [String]
    {
        let (time, vault) = (now(), vault)
        let codes = (0..<10).map { _ in Self.grouped(OneTimeCode.base32(randomBytes(10)).lowercased()) }
        try await database.write { connection in
            let account = try Self.requireFresh(actor, secret, at: time, connection)
            guard
                let row = try connection.first(
                    "SELECT secret, last_step FROM second_factors WHERE account = ? AND confirmed IS NULL",
                    account
                )
            else { throw ServiceError.conflict("No authenticator is being set up: begin again.") }
            let bytes = Self.shared(try vault.open(row.bytes("secret"), purpose: Self.purpose(account)))
            guard let step = OneTimeCode.match(Self.normalized(code), bytes, at: time, after: 0) else {
                throw ServiceError.invalid("code", "This is not the code that the authenticator shows now.")
            }
            try connection.execute(
                "UPDATE second_factors SET confirmed = ?, last_step = ?, recovery = ? WHERE account = ?",
                time.milliseconds,
                step,
                try JSON.text(codes.map { Secrets.hash(Self.normalized($0)).hexadecimal }),
                account
            )
            try connection.execute(
                "DELETE FROM sessions WHERE account = ? AND secret_hash <> ?",
                account,
                Secrets.hash(secret)
            )
            try Audit.record(connection, at: time, actor, team: "", "account.secondFactor", account)
        }
        return codes
    }

    /// Removes the account's authenticator; throws a ``ServiceError`` when the sign-in was not recent.
    public func removeSecondFactor(of actor: Principal, session secret: String) async throws {
        let time = now()
        try await database.write { connection in
            let account = try Self.requireFresh(actor, secret, at: time, connection)
            try connection.execute("DELETE FROM second_factors WHERE account = ?", account)
            try Audit.record(connection, at: time, actor, team: "", "account.removeSecondFactor", account)
        }
    }

    private static func purpose(_ account: String) -> String { "second factor of \(account)" }

    /// The authenticator's secret, a part of the 32 bytes that the vault seals.
    private static func shared(_ sealed: [UInt8]) -> [UInt8] { Array(sealed.prefix(OneTimeCode.byteCount)) }

    /// Whether a code is right, or the account needs none; each code works once.
    private static func useSecondFactor(
        _ code: String?,
        of account: String,
        _ vault: KeyVault,
        at time: Date,
        _ connection: any Connection
    ) throws -> Bool {
        guard
            let row = try connection.first(
                "SELECT secret, last_step, recovery FROM second_factors WHERE account = ? AND confirmed IS NOT NULL",
                account
            )
        else { return true }
        let code = normalized(code ?? "")
        let bytes = shared(try vault.open(row.bytes("secret"), purpose: purpose(account)))
        if let step = OneTimeCode.match(code, bytes, at: time, after: try row.integer("last_step")) {
            try connection.execute("UPDATE second_factors SET last_step = ? WHERE account = ?", step, account)
            return true
        }
        var recovery = try JSON.read([String].self, row.text("recovery"))
        guard let index = recovery.firstIndex(of: Secrets.hash(code).hexadecimal) else { return false }
        recovery.remove(at: index)
        try connection.execute(
            "UPDATE second_factors SET recovery = ? WHERE account = ?",
            try JSON.text(recovery),
            account
        )
        try Audit.record(
            connection,
            at: time,
            .server,
            team: "",
            "account.recoveryCode",
            account,
            ["left": String(recovery.count)]
        )
        return true
    }

    /// `abcd-efgh-…`, for people to read.
    private static func grouped(_ text: String) -> String {
        stride(from: 0, to: text.count, by: 4).map { String(text.dropFirst($0).prefix(4)) }.joined(separator: "-")
    }

    private static func normalized(_ code: String) -> String {
        code.lowercased().filter { $0 != " " && $0 != "-" }
    }
}

extension Optional {
    fileprivate func asyncMap<R>(_ transform: (Wrapped) async throws -> R) async rethrows -> R? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
