public import Foundation
import ServerDatabase

/// A team's trust in workloads of an identity provider, such as the CI jobs of a repository.
///
/// They get tokens for 15 minutes, so that no secret needs to be stored there.
public struct WorkloadTrust: Sendable, Codable, Equatable {
    /// The identifier of the trust.
    public let id: String
    /// The team.
    public let team: String
    /// The only app that the tokens are valid for; `nil` for all of the team's.
    public let app: String?
    /// The name that people gave it.
    public let name: String
    /// The provider's address as in its tokens: `https://token.actions.githubusercontent.com`.
    public let issuer: String
    /// The audience that the provider's tokens must have.
    public let audience: String
    /// The pattern of trusted subjects, with `*` for any text: `repo:acme/shop:ref:refs/heads/main`.
    public let subject: String
    /// The roles that the tokens have in the team.
    public let roles: [Role]
    /// The date at which it was created.
    public let created: Date
    /// The name of who created it.
    public let createdBy: String
}

extension Service {
    /// The lifetime of a workload's token in seconds, 15 minutes.
    public static let workloadTokenLifetime = 900.0
    private static let maximumTrustCount = 100

    // MARK: Trust

    /// Makes a team trust workloads of an identity provider.
    ///
    /// The parameters are those of ``WorkloadTrust``. Throws a ``ServiceError`` that names the wrong member, or when
    /// the roles exceed the actor's permissions.
    public func trustWorkloads(
        named name: String,
        issuer: String,
        audience: String,
        subject: String,
        roles: [Role],
        app: String?,
        in team: String,
        as actor: Principal
    ) async throws -> WorkloadTrust {
        try actor.require(.manageMembers, in: team)
        try Self.checkText(name, "name", maximum: 200)
        try Self.checkRoles(roles, givenBy: actor, in: team)
        guard issuer.utf8.count <= 500, WorkloadVerifier.address(issuer) != nil, !issuer.contains("?") else {
            throw ServiceError.invalid(
                "issuer",
                "An https address is needed, as in the issuer of the provider's tokens."
            )
        }
        try Self.checkPattern(audience, "audience", allowsAny: false)
        try Self.checkPattern(subject, "subject", allowsAny: true)
        let time = now()
        let trust = WorkloadTrust(
            id: Self.identifier(),
            team: team,
            app: app,
            name: name,
            issuer: issuer,
            audience: audience,
            subject: subject,
            roles: roles,
            created: time,
            createdBy: actor.name
        )
        try await database.write { connection in
            if let app {
                guard try Self.app(app, connection)?.team == team else { throw ServiceError.notFound("app \"\(app)\"") }
            }
            let count = try connection.query("SELECT id FROM workload_trusts WHERE team = ?", team).count
            guard count < Self.maximumTrustCount else {
                throw ServiceError.conflict("A team trusts at most \(Self.maximumTrustCount) kinds of workloads.")
            }
            try connection.execute(
                "INSERT INTO workload_trusts (id, team, app, name, issuer, audience, subject, roles, created, created_by) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                trust.id,
                team,
                app,
                name,
                issuer,
                audience,
                subject,
                try JSON.text(roles),
                time.milliseconds,
                actor.name
            )
            try Audit.record(
                connection,
                at: time,
                actor,
                team: team,
                "workload.trust",
                trust.id,
                [
                    "issuer": issuer, "audience": audience, "subject": subject, "roles": Self.names(roles),
                    "app": app ?? "",
                ]
            )
        }
        return trust
    }

    /// Checks for a text without control characters; a pattern may not begin with `*`.
    private static func checkPattern(_ text: String, _ field: String, allowsAny: Bool) throws(ServiceError) {
        guard !text.isEmpty else { throw .invalid(field, "A value is needed.") }
        try checkText(text, field, maximum: 500)
        guard allowsAny || !text.contains("*") else { throw .invalid(field, "* is not allowed here.") }
        guard text.first != "*", text.count(where: { $0 == "*" }) <= 8 else {
            throw .invalid(field, "It must begin with a text and contain * at most eight times.")
        }
    }

    /// The workloads that a team trusts.
    public func workloadTrusts(of team: String, as actor: Principal) async throws -> [WorkloadTrust] {
        try actor.require(.manageMembers, in: team)
        return try await database.read { connection in try Self.workloadTrusts(team, connection) }
    }

    private static func workloadTrusts(_ team: String, _ connection: any Connection) throws -> [WorkloadTrust] {
        try connection.query("SELECT * FROM workload_trusts WHERE team = ? ORDER BY created, id", team).map {
            WorkloadTrust(
                id: try $0.text("id"),
                team: team,
                app: try $0.optionalText("app"),
                name: try $0.text("name"),
                issuer: try $0.text("issuer"),
                audience: try $0.text("audience"),
                subject: try $0.text("subject"),
                roles: try JSON.read([Role].self, $0.text("roles")),
                created: try $0.date("created"),
                createdBy: try $0.text("created_by")
            )
        }
    }

    /// Ends the trust; tokens that were given out expire within 15 minutes.
    public func removeWorkloadTrust(_ id: String, team: String, as actor: Principal) async throws {
        try actor.require(.manageMembers, in: team)
        let time = now()
        try await database.write { connection in
            let count = try connection.execute("DELETE FROM workload_trusts WHERE id = ? AND team = ?", id, team)
            guard count == 1 else { throw ServiceError.notFound("workload trust \"\(id)\"") }
            try Audit.record(connection, at: time, actor, team: team, "workload.distrust", id)
        }
    }

    // MARK: Exchange

    /// Exchanges the token of an identity provider for a token of a team.
    ///
    /// Keys are requested only from issuers that the team trusts, so nobody can make the server contact others.
    ///
    /// - Parameters:
    ///   - text: the provider's token.
    ///   - team: the team.
    /// - Returns: the team's token and its text.
    /// - Throws: a ``ServiceError`` when the provider's token is invalid, or the team does not trust it.
    public func exchange(_ text: String, team: String) async throws -> (Token, text: String) {
        let issuer = try WorkloadVerifier.claimedIssuer(text)
        let trusts = try await database.read { connection in try Self.workloadTrusts(team, connection) }
            .filter { $0.issuer.utf8.elementsEqual(issuer.utf8) }
        guard !trusts.isEmpty else {
            throw WorkloadVerifier.refused("the team does not exist, or does not trust its issuer")
        }
        let time = now()
        let claims = try await workloads.claims(text, issuer: issuer, at: time)
        guard
            let trust = trusts.first(where: {
                Self.isListed($0.audience, claims.audience) && Self.matches(claims.subject, $0.subject)
            })
        else {
            throw WorkloadVerifier.refused("the team trusts other audiences or subjects")
                .denied(to: "workload:\(claims.subject)", in: team, "a trusted audience and subject")
        }
        return try await issueToken(to: claims.subject, by: trust, at: time)
    }

    private static func isListed(_ text: String, _ texts: [String]) -> Bool {
        texts.contains { $0.utf8.elementsEqual(text.utf8) }
    }

    private func issueToken(to subject: String, by trust: WorkloadTrust, at time: Date) async throws -> (
        Token, text: String
    ) {
        let made = TokenText(kind: "api", id: Self.identifier(), secret: Secrets.make())
        let token = Token(
            id: made.id,
            team: trust.team,
            app: trust.app,
            name: String("\(trust.name) \(subject)".prefix(200)),
            roles: trust.roles,
            created: time,
            createdBy: "workload:\(trust.id)",
            expires: time.addingTimeInterval(Self.workloadTokenLifetime),
            lastUsed: nil,
            revoked: nil
        )
        try await database.write { connection in
            // Expired tokens of workloads would fill the list.
            try connection.execute(
                "DELETE FROM tokens WHERE team = ? AND created_by LIKE 'workload:%' AND expires < ?",
                trust.team,
                time.addingTimeInterval(-86_400).milliseconds
            )
            try connection.execute(
                "INSERT INTO tokens (id, team, app, name, roles, secret_hash, networks, created, created_by, expires) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                token.id,
                token.team,
                token.app,
                token.name,
                try JSON.text(token.roles),
                Secrets.hash(made.secret),
                "[]",
                time.milliseconds,
                token.createdBy,
                token.expires.milliseconds
            )
            try Audit.record(
                connection,
                at: time,
                Principal(kind: .server, name: "workload:\(String(subject.prefix(200)))"),
                team: trust.team,
                "token.exchange",
                token.id,
                ["trust": trust.id, "name": trust.name, "roles": Self.names(trust.roles)]
            )
        }
        return (token, made.text)
    }

    /// Whether a text matches a pattern, in which `*` stands for any text.
    static func matches(_ text: String, _ pattern: String) -> Bool {
        // Bytes, not characters: two spellings of one character are two subjects.
        let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
        var remaining = Array(text.utf8)[...]
        guard parts.count > 1 else { return remaining == parts[0][...] }
        guard remaining.starts(with: parts[0]) else { return false }
        remaining = remaining.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = remaining.firstRange(of: part) else { return false }
            remaining = remaining[range.upperBound...]
        }
        return remaining.count >= parts[parts.count - 1].count
            && remaining.suffix(parts[parts.count - 1].count) == parts[parts.count - 1][...]
    }
}
