/// What somebody may do in a team.
public enum Permission: String, Sendable, CaseIterable, Codable {
    /// See apps, collections, releases, deployments and what devices report.
    case view
    /// Make apps and collections, and change them.
    case manageApps
    /// Upload archives and make releases of them.
    case publish
    /// Make deployments, and start, pause, halt and roll them back.
    case deploy
    /// Approve deployments that others made.
    case approve
    /// Make, rotate and revoke the keys of models.
    case manageKeys
    /// Read the audit log.
    case audit
    /// Invite and dismiss members, make tokens and webhooks.
    case manageMembers
}

/// A named set of permissions.
public enum Role: String, Sendable, CaseIterable, Codable {
    case owner, admin, publisher, deployer, approver, keyCustodian, auditor, viewer

    public var permissions: Set<Permission> {
        switch self {
        case .owner: Set(Permission.allCases)
        case .admin: Set(Permission.allCases).subtracting([.manageKeys, .approve])
        case .publisher: [.view, .publish]
        case .deployer: [.view, .deploy]
        case .approver: [.view, .approve]
        case .keyCustodian: [.view, .manageKeys]
        case .auditor: [.view, .audit]
        case .viewer: [.view]
        }
    }
}

/// Who asks for something, and what they may do.
public struct Principal: Sendable {
    public enum Kind: Sendable, Equatable {
        case account(id: String)
        case token(id: String)
        /// The server itself: what happens by its clock.
        case server
    }

    public let kind: Kind
    /// How the audit log names it.
    public let name: String
    /// The roles in each team.
    public let roles: [String: Set<Role>]
    /// Whether it may make teams and see to the server: it may do nothing in teams that it does not belong to.
    public let isAdministrator: Bool
    /// The one app that a token is good for; `nil` for all of the team's.
    public let app: String?

    public init(
        kind: Kind,
        name: String,
        roles: [String: Set<Role>] = [:],
        isAdministrator: Bool = false,
        app: String? = nil
    ) {
        self.kind = kind
        self.name = name
        self.roles = roles
        self.isAdministrator = isAdministrator
        self.app = app
    }

    /// What the server does by itself.
    public static let server = Principal(kind: .server, name: "server")

    /// The account, for those who have one.
    public var account: String? { if case .account(let id) = kind { id } else { nil } }

    public func permissions(in team: String) -> Set<Permission> {
        if kind == .server { return Set(Permission.allCases) }
        return (roles[team] ?? []).reduce(into: []) { $0.formUnion($1.permissions) }
    }

    /// Throws unless it may do this in the team.
    ///
    /// What somebody may not even see does not exist for them, so names of others' teams cannot be guessed.
    func require(_ permission: Permission, in team: String, app: String? = nil) throws(ServiceError) {
        let permissions = permissions(in: team)
        guard permissions.contains(.view), self.app == nil || app == nil || self.app == app else {
            throw .notFound(app.map { "app \"\($0)\"" } ?? "team \"\(team)\"")
                .denied(to: name, in: team, permission.rawValue)
        }
        guard permissions.contains(permission) else {
            throw .forbidden("\(name) may not do this in the team \"\(team)\": it takes \(permission.rawValue).")
                .denied(to: name, in: team, permission.rawValue)
        }
        guard self.app == nil || app != nil || permission == .view else {
            throw .forbidden(
                "\(name) is good for the app \"\(self.app ?? "")\" only, and this concerns the whole team."
            ).denied(to: name, in: team, permission.rawValue)
        }
    }
}
