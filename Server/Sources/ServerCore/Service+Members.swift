public import Foundation
import ServerDatabase

/// An invitation to join a team that has not been accepted yet.
public struct Invitation: Sendable, Codable, Equatable {
    /// The invitation's identifier.
    public let id: String
    /// The team.
    public let team: String
    /// The mail address of the invited person.
    public let email: String
    /// The name of the invited person.
    public let name: String
    /// The roles that the person will have.
    public let roles: [Role]
    /// The date of the invitation.
    public let created: Date
    /// The name of who invited the person.
    public let createdBy: String
    /// The date at which the invitation expires.
    public let expires: Date
}

extension Service {
    /// The lifetime of an invitation in seconds, seven days.
    public static let invitationLifetime = 7 * 86_400.0
    /// The lifetime in seconds of a sign-in link for a member, one day.
    static let memberLinkLifetime = 86_400.0

    // MARK: Invitations

    /// Invites a person to a team.
    ///
    /// The returned link proves the invitation, so the inviter passes it on. It creates an account when there is
    /// none with the address. An existing account joins only while it is signed in, so that nobody gets into an account
    /// by inviting its address. A second invitation replaces the first.
    ///
    /// - Parameters:
    ///   - email: the person's mail address, in lower case.
    ///   - name: the person's name.
    ///   - roles: the person's roles, which may not exceed the actor's permissions.
    ///   - team: the team.
    ///   - actor: the person who invites.
    /// - Returns: the invitation and the secret of its link, which cannot be shown again.
    /// - Throws: a ``ServiceError`` for values or permissions that are not allowed, or when the person is a member
    ///   already.
    public func invite(
        _ email: String,
        name: String,
        roles: [Role],
        to team: String,
        as actor: Principal
    ) async throws -> (Invitation, secret: String) {
        try actor.require(.manageMembers, in: team)
        try Self.checkAddress(email)
        try Self.checkText(name, "name", maximum: 200)
        try Self.checkRoles(roles, givenBy: actor, in: team)
        let (secret, time) = (Secrets.make(), now())
        return try await database.write { connection in
            let member = try connection.first(
                "SELECT m.account FROM memberships m JOIN accounts a ON a.id = m.account WHERE m.team = ? AND a.email = ?",
                team,
                email
            )
            guard member == nil else { throw ServiceError.conflict("\(email) is a member of the team already.") }
            // A second invitation replaces the first, whose link no longer works.
            let known = try connection.first("SELECT id FROM invitations WHERE team = ? AND email = ?", team, email)
            let invitation = Invitation(
                id: try known?.text("id") ?? Self.identifier(),
                team: team,
                email: email,
                name: name.isEmpty ? email : name,
                roles: roles,
                created: time,
                createdBy: actor.name,
                expires: time.addingTimeInterval(Self.invitationLifetime)
            )
            try connection.execute("DELETE FROM invitations WHERE id = ?", invitation.id)
            try connection.execute(
                "INSERT INTO invitations (id, secret_hash, team, email, name, roles, created, created_by, expires) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                invitation.id,
                Secrets.hash(secret),
                team,
                email,
                invitation.name,
                try JSON.text(roles),
                time.milliseconds,
                actor.name,
                invitation.expires.milliseconds
            )
            try Audit.record(
                connection,
                at: time,
                actor,
                team: team,
                "member.invite",
                invitation.id,
                ["email": email, "roles": Self.names(roles)]
            )
            return (invitation, secret)
        }
    }

    /// The invitations that can still be used, the latest first.
    public func invitations(to team: String, as actor: Principal) async throws -> [Invitation] {
        try actor.require(.manageMembers, in: team)
        let time = now()
        return try await database.read { connection in
            try connection.query(
                "SELECT * FROM invitations WHERE team = ? AND expires > ? ORDER BY created DESC",
                team,
                time.milliseconds
            ).map(Self.invitation)
        }
    }

    /// Withdraws an invitation; throws a ``ServiceError`` when there is none with the identifier.
    public func withdrawInvitation(_ id: String, team: String, as actor: Principal) async throws {
        try actor.require(.manageMembers, in: team)
        let time = now()
        try await database.write { connection in
            let count = try connection.execute("DELETE FROM invitations WHERE id = ? AND team = ?", id, team)
            guard count == 1 else { throw ServiceError.notFound("invitation \"\(id)\"") }
            try Audit.record(connection, at: time, actor, team: team, "member.withdraw", id)
        }
    }

    /// Lets the holder of an invitation's secret join its team.
    ///
    /// `account` is the account that is signed in, if one is. Returns the account that is a member now; `nil` when the
    /// secret is not an invitation's.
    static func accept(
        _ secret: String,
        account: String?,
        at time: Date,
        _ connection: any Connection
    ) throws -> String? {
        guard
            let row = try connection.first(
                "SELECT * FROM invitations WHERE secret_hash = ? AND expires > ?",
                Secrets.hash(secret),
                time.milliseconds
            )
        else { return nil }
        return try join(try invitation(row), account: account, at: time, connection)
    }

    /// Lets the proven owner of a mail address join all teams that have invited it.
    ///
    /// `account` is the account with the address, if there is one. Returns the account; `nil` when there is none and
    /// nobody has invited it.
    static func acceptInvitations(
        of email: String,
        account: String?,
        at time: Date,
        _ connection: any Connection
    ) throws -> String? {
        var account = account
        for row in try connection.query(
            "SELECT * FROM invitations WHERE email = ? AND expires > ?",
            email,
            time.milliseconds
        ) {
            account = try join(try invitation(row), account: account, at: time, connection)
        }
        return account
    }

    private static func join(
        _ invitation: Invitation,
        account: String?,
        at time: Date,
        _ connection: any Connection
    ) throws -> String {
        let known = try connection.first("SELECT id FROM accounts WHERE email = ?", invitation.email)?.text("id")
        if let known, known != account {
            throw ServiceError.conflict(
                "There is an account \(invitation.email) already: sign in to it first, then open the invitation again."
            )
        }
        let member = known ?? identifier()
        if known == nil {
            try connection.execute(
                "INSERT INTO accounts (id, email, name, password, is_administrator, created) VALUES (?, ?, ?, ?, 0, ?)",
                member,
                invitation.email,
                invitation.name,
                nil,
                time.milliseconds
            )
        }
        try connection.execute(
            "INSERT INTO memberships (team, account, roles) VALUES (?, ?, ?) ON CONFLICT (team, account) DO NOTHING",
            invitation.team,
            member,
            try JSON.text(invitation.roles)
        )
        try connection.execute("DELETE FROM invitations WHERE id = ?", invitation.id)
        let actor = Principal(kind: .account(id: member), name: invitation.email)
        try Audit.record(
            connection,
            at: time,
            actor,
            team: invitation.team,
            "member.join",
            member,
            ["roles": names(invitation.roles), "invitedBy": invitation.createdBy]
        )
        return member
    }

    // MARK: Members

    /// Changes the roles of a member.
    ///
    /// Throws a ``ServiceError`` when the old or new roles exceed the actor's permissions, or the team would have no
    /// owner.
    public func setRoles(_ roles: [Role], of member: String, in team: String, as actor: Principal) async throws
        -> Member
    {
        try actor.require(.manageMembers, in: team)
        try Self.checkRoles(roles, givenBy: actor, in: team)
        let time = now()
        return try await database.write { connection in
            let old = try Self.member(member, of: team, connection)
            try Self.checkMayChange(old, actor, team)
            if old.roles.contains(.owner), !roles.contains(.owner) {
                try Self.checkOtherOwner(member, team, connection)
            }
            try connection.execute(
                "UPDATE memberships SET roles = ? WHERE team = ? AND account = ?",
                try JSON.text(roles),
                team,
                member
            )
            try Audit.record(
                connection,
                at: time,
                actor,
                team: team,
                "member.roles",
                member,
                ["email": old.email, "before": Self.names(old.roles), "after": Self.names(roles)]
            )
            return try Self.member(member, of: team, connection)
        }
    }

    /// Removes a member; members may also leave by themselves.
    ///
    /// Tokens that they created stay: they belong to the team. Throws a ``ServiceError`` when the team would have no
    /// owner.
    public func removeMember(_ member: String, of team: String, as actor: Principal) async throws {
        let isOwn = actor.kind == .account(id: member)
        try actor.require(isOwn ? .view : .manageMembers, in: team)
        let time = now()
        try await database.write { connection in
            let old = try Self.member(member, of: team, connection)
            if !isOwn { try Self.checkMayChange(old, actor, team) }
            if old.roles.contains(.owner) { try Self.checkOtherOwner(member, team, connection) }
            try connection.execute("DELETE FROM memberships WHERE team = ? AND account = ?", team, member)
            try Audit.record(
                connection,
                at: time,
                actor,
                team: team,
                isOwn ? "member.leave" : "member.remove",
                member,
                ["email": old.email, "roles": Self.names(old.roles)]
            )
        }
    }

    /// The secret of a link that signs a member in once, when they have lost theirs.
    ///
    /// Its creator could use it, so it is created only for accounts that can do nothing that its creator cannot:
    /// no more in the team, nothing in other teams, nothing on the server.
    public func memberLink(_ member: String, of team: String, as actor: Principal) async throws -> String {
        try actor.require(.manageMembers, in: team)
        let (secret, time) = (Secrets.make(), now())
        return try await database.write { connection in
            let known = try Self.member(member, of: team, connection)
            try Self.checkMayChange(known, actor, team)
            let others = try connection.first(
                "SELECT team FROM memberships WHERE account = ? AND team <> ?",
                member,
                team
            )
            guard others == nil, !known.isAdministrator else {
                throw ServiceError.forbidden(
                    "\(known.email) has more permissions than this team grants: an administrator of the server makes the "
                        + "link, with coreml-server admin-link --account."
                )
            }
            try Self.addLink(
                connection,
                secret,
                account: member,
                until: time.addingTimeInterval(Self.memberLinkLifetime)
            )
            try Audit.record(connection, at: time, actor, team: team, "member.link", member, ["email": known.email])
            return secret
        }
    }

    // MARK: Checks

    static func names(_ roles: [Role]) -> String { roles.map(\.rawValue).joined(separator: ", ") }

    /// Throws unless there is at least one role, each once, and the actor has all permissions that they give.
    static func checkRoles(_ roles: [Role], givenBy actor: Principal, in team: String) throws(ServiceError) {
        guard !roles.isEmpty, Set(roles).count == roles.count else {
            throw .invalid("roles", "At least one role is needed, and each once.")
        }
        let own = actor.permissions(in: team)
        guard roles.allSatisfy({ $0.permissions.isSubset(of: own) }) else {
            throw .forbidden("\(actor.name) can grant only roles with permissions that \(actor.name) has.")
        }
    }

    /// Throws when a member has permissions that the actor does not have.
    private static func checkMayChange(_ member: Member, _ actor: Principal, _ team: String) throws(ServiceError) {
        let theirs = member.roles.reduce(into: Set<Permission>()) { $0.formUnion($1.permissions) }
        guard theirs.isSubset(of: actor.permissions(in: team)) else {
            throw .forbidden(
                "\(member.email) has more permissions in the team than \(actor.name): an owner can change this."
            )
        }
    }

    /// Throws when nobody else owns the team.
    private static func checkOtherOwner(_ member: String, _ team: String, _ connection: any Connection) throws {
        let others = try connection.query(
            "SELECT roles FROM memberships WHERE team = ? AND account <> ?",
            team,
            member
        )
        guard try others.contains(where: { try JSON.read([Role].self, $0.text("roles")).contains(.owner) }) else {
            throw ServiceError.conflict("A team always needs an owner: make someone else an owner first.")
        }
    }

    private static func checkAddress(_ email: String) throws(ServiceError) {
        func isComposed(_ text: Substring, of others: String, maximumLength: Int) -> Bool {
            (1...maximumLength).contains(text.utf8.count)
                && text.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || others.utf8.contains($0)
                }
        }
        let parts = email.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, isComposed(parts[0], of: "._%+-", maximumLength: 64),
            isComposed(parts[1], of: ".-", maximumLength: 128)
        else {
            throw .invalid("email", "An address such as mira@example.org is needed, in lower case.")
        }
    }

    // MARK: Rows

    static func member(_ id: String, of team: String, _ connection: any Connection) throws -> Member {
        guard
            let row = try connection.first(
                "SELECT a.id, a.email, a.name, a.is_administrator, m.roles FROM memberships m "
                    + "JOIN accounts a ON a.id = m.account WHERE m.team = ? AND a.id = ?",
                team,
                id
            )
        else { throw ServiceError.notFound("member \"\(id)\"") }
        return try member(row)
    }

    static func member(_ row: Row) throws -> Member {
        Member(
            id: try row.text("id"),
            email: try row.text("email"),
            name: try row.text("name"),
            roles: try JSON.read([Role].self, row.text("roles")),
            isAdministrator: try row.bool("is_administrator")
        )
    }

    private static func invitation(_ row: Row) throws -> Invitation {
        Invitation(
            id: try row.text("id"),
            team: try row.text("team"),
            email: try row.text("email"),
            name: try row.text("name"),
            roles: try JSON.read([Role].self, row.text("roles")),
            created: try row.date("created"),
            createdBy: try row.text("created_by"),
            expires: try row.date("expires")
        )
    }
}
