import Crypto
public import Foundation
import ServerDatabase

/// A token with which programs authenticate.
public struct Token: Sendable, Codable, Equatable {
    /// The token's identifier.
    public let id: String
    /// The team that it is valid for.
    public let team: String
    /// The only app that it is valid for; `nil` for all.
    public let app: String?
    /// The name that people gave it.
    public let name: String
    /// The roles that it has in the team.
    public let roles: [Role]
    /// The date at which it was created.
    public let created: Date
    /// The name of who created it.
    public let createdBy: String
    /// The date at which it expires.
    public let expires: Date
    /// The date of its last use, to about a minute; `nil` before the first.
    public let lastUsed: Date?
    /// The date at which it was revoked; `nil` while it is valid.
    public let revoked: Date?
}

/// A browser's session.
public struct Session: Sendable {
    /// The secret that the session's cookie contains.
    public let secret: String
    /// The token that every form of its pages must contain.
    public let csrf: String
}

extension Service {
    /// The seconds after which an unused session ends.
    static let idleSession = 12 * 3600.0
    /// The seconds after which any session ends.
    static let maximumSessionDuration = 7 * 86_400.0

    // MARK: Accounts

    /// Creates the first administrator of a server that has none.
    ///
    /// Returns the secret of a link that signs them in once; `nil` when the administrator has a session or a password,
    /// or there are only other accounts.
    public func firstAdministratorLink() async throws -> String? {
        let (secret, time) = (Secrets.make(), now())
        return try await database.write { connection in
            let id: String
            if let row = try connection.first("SELECT id FROM accounts WHERE is_administrator = 1 AND password IS NULL")
            {
                id = try row.text("id")
                guard try connection.first("SELECT created FROM sessions WHERE account = ?", id) == nil else {
                    return nil
                }
            } else {
                guard try connection.first("SELECT id FROM accounts") == nil else { return nil }
                id = Self.identifier()
                try connection.execute(
                    "INSERT INTO accounts (id, email, name, password, is_administrator, created) VALUES (?, ?, ?, ?, 1, ?)",
                    id,
                    "admin@localhost",
                    "Administrator",
                    nil,
                    time.milliseconds
                )
            }
            try Self.addLink(connection, secret, account: id, until: time.addingTimeInterval(86_400))
            return secret
        }
    }

    /// The secret of a link that signs an account in once, for anyone who may read the server's folder.
    ///
    /// It is the administrator's account when `email` is `nil`. Throws a ``ServiceError`` when there is no such
    /// account.
    public func administratorLink(for email: String? = nil) async throws -> String {
        let (secret, time) = (Secrets.make(), now())
        return try await database.write { connection in
            let row =
                if let email {
                    try connection.first("SELECT id FROM accounts WHERE email = ?", email)
                } else {
                    try connection.first(
                        "SELECT id FROM accounts WHERE is_administrator = 1 ORDER BY created LIMIT 1"
                    )
                }
            guard let row else { throw ServiceError.notFound(email.map { "account \($0)" } ?? "administrator") }
            let id = try row.text("id")
            try Self.addLink(connection, secret, account: id, until: time.addingTimeInterval(900))
            try Audit.record(connection, at: time, .server, team: "", "account.link", id)
            return secret
        }
    }

    static func addLink(_ connection: any Connection, _ secret: String, account: String, until: Date) throws {
        try connection.execute(
            "INSERT INTO sign_in_links (secret_hash, account, expires) VALUES (?, ?, ?)",
            Secrets.hash(secret),
            account,
            until.milliseconds
        )
    }

    /// Signs in the holder of a link or an invitation, each of which works once.
    ///
    /// - Parameters:
    ///   - secret: the secret of the link.
    ///   - current: the person who is already signed in; an invitation of an existing account is for them only.
    /// - Returns: the new session.
    /// - Throws: a ``ServiceError`` when the link was used or has expired.
    public func signIn(link secret: String, current: Principal? = nil) async throws -> Session {
        let time = now()
        return try await database.write { connection in
            guard
                let account = try Self.account(link: secret, at: time, connection)
                    ?? Self.accept(secret, account: current?.account, at: time, connection)
            else {
                throw ServiceError(
                    .unauthenticated,
                    "The link was used or has expired: run coreml-server admin-link to get another, or ask the sender."
                )
            }
            return try Self.makeSession(for: account, by: "link", at: time, connection)
        }
    }

    /// The account that a sign-in link is for; the link is used up.
    private static func account(link secret: String, at time: Date, _ connection: any Connection) throws -> String? {
        let hash = Secrets.hash(secret)
        guard
            let row = try connection.first("SELECT account, expires FROM sign_in_links WHERE secret_hash = ?", hash),
            try row.date("expires") > time
        else { return nil }
        try connection.execute("DELETE FROM sign_in_links WHERE secret_hash = ?", hash)
        return try row.text("account")
    }

    /// Ends a session.
    public func signOut(_ secret: String) async throws {
        let time = now()
        try await database.write { connection in
            let hash = Secrets.hash(secret)
            guard let row = try connection.first("SELECT account FROM sessions WHERE secret_hash = ?", hash) else {
                return
            }
            try connection.execute("DELETE FROM sessions WHERE secret_hash = ?", hash)
            try Audit.record(connection, at: time, .server, team: "", "account.signOut", try row.text("account"))
        }
    }

    /// The person who is signed in with a session, and the token that its forms must contain.
    ///
    /// Throws a ``ServiceError`` when there is no such session, or it has ended.
    public func principal(session secret: String) async throws -> (Principal, csrf: String) {
        let time = now()
        let row = try await database.read { connection in
            try connection.first(
                "SELECT s.csrf, s.created, s.seen, a.id, a.email, a.is_administrator FROM sessions s "
                    + "JOIN accounts a ON a.id = s.account WHERE s.secret_hash = ?",
                Secrets.hash(secret)
            )
        }
        guard let row, try time.timeIntervalSince(row.date("seen")) < Self.idleSession,
            try time.timeIntervalSince(row.date("created")) < Self.maximumSessionDuration
        else {
            throw ServiceError(.unauthenticated, "You are not signed in, or your session has ended: sign in again.")
        }
        let account = try row.text("id")
        if try time.timeIntervalSince(row.date("seen")) > 60 {
            try await database.write { connection in
                _ = try connection.execute(
                    "UPDATE sessions SET seen = ? WHERE secret_hash = ?",
                    time.milliseconds,
                    Secrets.hash(secret)
                )
            }
        }
        let roles = try await database.read { connection in
            try connection.query("SELECT team, roles FROM memberships WHERE account = ?", account).map {
                (try $0.text("team"), Set(try JSON.read([Role].self, $0.text("roles"))))
            }
        }
        let principal = Principal(
            kind: .account(id: account),
            name: try row.text("email"),
            roles: Dictionary(roles) { first, _ in first },
            isAdministrator: try row.bool("is_administrator")
        )
        return (principal, try row.text("csrf"))
    }

    // MARK: Tokens

    /// The longest lifetime of a token in seconds, 366 days.
    public static let maximumTokenLifetime = 366 * 86_400.0

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - team: the team that it is valid for.
    ///   - app: the only app that it is valid for; `nil` for all.
    ///   - name: its name, for people.
    ///   - roles: its roles, which may not exceed the actor's permissions.
    ///   - lifetime: its lifetime in seconds, by default 90 days.
    ///   - actor: the person who creates it.
    /// - Returns: the token and its text, which cannot be shown again.
    /// - Throws: a ``ServiceError`` for values or permissions that are not allowed.
    public func createToken(
        team: String,
        app: String?,
        name: String,
        roles: [Role],
        lifetime: Double = 90 * 86_400,
        as actor: Principal
    ) async throws -> (Token, text: String) {
        try actor.require(.manageMembers, in: team)
        try Self.checkText(name, "name", maximum: 200)
        try Self.checkRoles(roles, givenBy: actor, in: team)
        guard lifetime > 0, lifetime <= Self.maximumTokenLifetime else {
            throw ServiceError.invalid("days", "A token is valid for 1 to 366 days.")
        }
        let text = TokenText(kind: "api", id: Self.identifier(), secret: Secrets.make())
        let time = now()
        let token = Token(
            id: text.id,
            team: team,
            app: app,
            name: name,
            roles: roles,
            created: time,
            createdBy: actor.name,
            expires: time.addingTimeInterval(lifetime),
            lastUsed: nil,
            revoked: nil
        )
        try await database.write { connection in
            if let app {
                guard try Self.app(app, connection)?.team == team else { throw ServiceError.notFound("app \"\(app)\"") }
            }
            try connection.execute(
                "INSERT INTO tokens (id, team, app, name, roles, secret_hash, networks, created, created_by, expires) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                token.id,
                team,
                app,
                name,
                try JSON.text(roles),
                Secrets.hash(text.secret),
                "[]",
                time.milliseconds,
                actor.name,
                token.expires.milliseconds
            )
            try Audit.record(
                connection,
                at: time,
                actor,
                team: team,
                "token.create",
                token.id,
                ["name": name, "roles": roles.map(\.rawValue).joined(separator: ", "), "app": app ?? ""]
            )
        }
        return (token, text.text)
    }

    /// The tokens of a team, the latest first.
    public func tokens(of team: String, as actor: Principal) async throws -> [Token] {
        try actor.require(.manageMembers, in: team)
        return try await database.read { connection in
            try connection.query("SELECT * FROM tokens WHERE team = ? ORDER BY created DESC", team).map(Self.token)
        }
    }

    /// Revokes a token; throws a ``ServiceError`` unless the team has it and it is valid.
    public func revokeToken(_ id: String, team: String, as actor: Principal) async throws {
        try actor.require(.manageMembers, in: team)
        let time = now()
        try await database.write { connection in
            let count = try connection.execute(
                "UPDATE tokens SET revoked = ? WHERE id = ? AND team = ? AND revoked IS NULL",
                time.milliseconds,
                id,
                team
            )
            guard count == 1 else { throw ServiceError.notFound("token \"\(id)\" that is in use") }
            try Audit.record(connection, at: time, actor, team: team, "token.revoke", id)
        }
    }

    /// The principal that a token's text authenticates.
    ///
    /// Throws a ``ServiceError`` when the token is wrong, has expired or was revoked.
    public func principal(token text: String) async throws -> Principal {
        let wrong = ServiceError(.unauthenticated, "The token is wrong, has expired or was revoked.")
        guard let text = TokenText(text) else { throw wrong }
        let time = now()
        let row = try await database.read { connection in
            try connection.first("SELECT * FROM tokens WHERE id = ?", text.id)
        }
        // A token that does not exist takes as long as one that does.
        let stored = try row?.bytes("secret_hash") ?? [UInt8](repeating: 0, count: 32)
        guard equal(stored, Secrets.hash(text.secret)), let row else { throw wrong }
        let token = try Self.token(row)
        guard token.revoked == nil, token.expires > time else {
            throw wrong.denied(
                to: "token:\(token.name)",
                in: token.team,
                token.revoked == nil ? "an expired token" : "a revoked token"
            )
        }
        if token.lastUsed.map({ time.timeIntervalSince($0) > 60 }) ?? true {
            try await database.write { connection in
                _ = try connection.execute("UPDATE tokens SET last_used = ? WHERE id = ?", time.milliseconds, token.id)
            }
        }
        return Principal(
            kind: .token(id: token.id),
            name: "token:\(token.name)",
            roles: [token.team: Set(token.roles)],
            app: token.app
        )
    }

    private static func token(_ row: Row) throws -> Token {
        Token(
            id: try row.text("id"),
            team: try row.text("team"),
            app: try row.optionalText("app"),
            name: try row.text("name"),
            roles: try JSON.read([Role].self, row.text("roles")),
            created: try row.date("created"),
            createdBy: try row.text("created_by"),
            expires: try row.date("expires"),
            lastUsed: try row.optionalDate("last_used"),
            revoked: try row.optionalDate("revoked")
        )
    }
}

/// Whether both are equal, in a time that does not depend on where they differ.
private func equal(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}
