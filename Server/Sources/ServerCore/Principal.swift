/// A permission in a team.
public enum Permission: String, Sendable, CaseIterable, Codable {
    /// See apps, collections, releases, deployments and the reports of devices.
    case view
    /// Create and change apps and collections.
    case manageApps
    /// Upload archives and create releases of them.
    case publish
    /// Create deployments, and start, pause, halt and roll them back.
    case deploy
    /// Approve deployments that others created.
    case approve
    /// Create, rotate and revoke the keys of models.
    case manageKeys
    /// Read the audit log.
    case audit
    /// Invite and remove members, create tokens and webhooks.
    case manageMembers
}

/// A named set of permissions.
public enum Role: String, Sendable, CaseIterable, Codable {
    /// The roles, spelled alike in the API.
    case owner, admin, publisher, deployer, approver, keyCustodian, auditor, viewer

    /// The permissions that the role has.
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

/// The identity behind a request, and its permissions.
public struct Principal: Sendable {
    /// The kind of identity.
    public enum Kind: Sendable, Equatable {
        /// A person's account.
        case account(id: String)
        /// A program's token.
        case token(id: String)
        /// The server itself, for periodic work.
        case server
    }

    /// The kind of identity.
    public let kind: Kind
    /// The name in the audit log.
    public let name: String
    /// The roles in each team, by the team's identifier.
    public let roles: [String: Set<Role>]
    /// Whether it may create teams and administer the server; this gives no permissions in other people's teams.
    public let isAdministrator: Bool
    /// The only app that a token is valid for; `nil` for all of the team's.
    public let app: String?

    /// Creates a principal, by default without roles.
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

    /// The server itself, which has all permissions.
    public static let server = Principal(kind: .server, name: "server")

    /// The identifier of the account; `nil` for tokens and the server.
    public var account: String? { if case .account(let id) = kind { id } else { nil } }

    /// The permissions in a team.
    public func permissions(in team: String) -> Set<Permission> {
        if kind == .server { return Set(Permission.allCases) }
        return (roles[team] ?? []).reduce(into: []) { $0.formUnion($1.permissions) }
    }

    /// Throws unless the principal has a permission in a team.
    ///
    /// A team that a principal may not even view is reported as missing, so that names of other teams cannot be
    /// guessed.
    func require(_ permission: Permission, in team: String, app: String? = nil) throws(ServiceError) {
        let permissions = permissions(in: team)
        guard permissions.contains(.view), self.app == nil || app == nil || self.app == app else {
            throw .notFound(app.map { "app \"\($0)\"" } ?? "team \"\(team)\"")
                .denied(to: name, in: team, permission.rawValue)
        }
        guard permissions.contains(permission) else {
            throw .forbidden(
                "\(name) may not do this in the team \"\(team)\": the permission \(permission.rawValue) is needed."
            )
            .denied(to: name, in: team, permission.rawValue)
        }
        guard self.app == nil || app != nil || permission == .view else {
            throw .forbidden(
                "\(name) is valid only for the app \"\(self.app ?? "")\", but this affects the whole team."
            ).denied(to: name, in: team, permission.rawValue)
        }
    }
}
