import DeploymentKeys
public import Foundation
import ServerDatabase

/// A team, which owns models and apps.
public struct Team: Sendable, Codable, Equatable {
    /// The team's identifier.
    public let id: String
    /// The team's name.
    public let name: String
    /// The date at which it was created.
    public let created: Date
}

/// An app whose devices get models.
public struct App: Sendable, Codable, Equatable {
    /// The app's identifier, unique on the server.
    public let id: String
    /// The team that owns it.
    public let team: String
    /// The app's name.
    public let name: String
    /// The environments, such as `production` and `staging`; each has deployments of its own.
    public let environments: [String]
    /// The environments in which a second person must approve deployments.
    public let approvals: [String]
    /// The date at which it was created.
    public let created: Date
}

/// Models that are delivered together.
public struct ModelCollection: Sendable, Codable, Equatable {
    /// The app's identifier.
    public let app: String
    /// The collection's identifier, which the app's code uses.
    public let id: String
    /// A description for people.
    public let description: String
    /// The names of its models.
    public let models: [String]
    /// The number of releases.
    public let releases: Int
    /// The date at which it was created.
    public let created: Date
}

extension Service {
    // MARK: Teams

    /// Creates a team with its keys and metadata; the actor becomes its owner.
    ///
    /// Only an administrator may do this. Throws a ``ServiceError`` when the identifier is not allowed or already used.
    public func createTeam(_ id: String, name: String, as actor: Principal) async throws -> Team {
        guard actor.isAdministrator else {
            throw ServiceError.forbidden("\(actor.name) may not make teams: an administrator of the server can.")
                .denied(to: actor.name, in: "", "administrator")
        }
        try Self.checkName(id, "id")
        try Self.checkText(name, "name")
        let team = Team(id: id, name: name.isEmpty ? id : name, created: now())
        let (vault, keys) = (vault, keys)
        // A separate key service creates its keys first, and returns the same ones when it is asked again.
        let ring = role == .control ? nil : try TeamKeyRing(team: id, server: address)
        let leaseKeys = if let ring { ring.serviceKeys } else { try await createKeysAtKeyService(team, as: actor) }
        try await database.write { connection in
            guard try connection.first("SELECT id FROM teams WHERE id = ?", id) == nil else {
                throw ServiceError.conflict("There is a team \"\(id)\" already.")
            }
            try connection.execute(
                "INSERT INTO teams (id, name, created) VALUES (?, ?, ?)",
                id,
                team.name,
                team.created.milliseconds
            )
            if case .account(let account) = actor.kind {
                try connection.execute(
                    "INSERT INTO memberships (team, account, roles) VALUES (?, ?, ?)",
                    id,
                    account,
                    try JSON.text([Role.owner])
                )
            }
            var trust = try TeamTrust(
                newTeam: id,
                leaseKeys: leaseKeys,
                keys: SigningKeys(store: keys, connection: connection),
                at: team.created
            )
            try trust.store(connection)
            if let ring { try Self.store(ring, vault, connection) }
            try Audit.record(connection, at: team.created, actor, team: id, "team.create", id, ["name": team.name])
        }
        return team
    }

    private func createKeysAtKeyService(_ team: Team, as actor: Principal) async throws -> [SigningPublicKey] {
        let isTaken = try await database.read { try $0.first("SELECT id FROM teams WHERE id = ?", team.id) != nil }
        guard !isTaken else { throw ServiceError.conflict("There is a team \"\(team.id)\" already.") }
        let keys: [ServiceKeyText] = try await askKeyService(
            .makeTeam(team: team.id, name: team.name, server: address),
            as: actor
        )
        return try keys.map { try $0.key() }
    }

    /// The teams that the actor may view.
    public func teams(of actor: Principal) async throws -> [Team] {
        try await database.read { connection in
            try connection.query("SELECT * FROM teams ORDER BY id").map(Self.team).filter {
                actor.permissions(in: $0.id).contains(.view)
            }
        }
    }

    /// The team with an identifier; throws a ``ServiceError`` when the actor may not view it.
    public func team(_ id: String, as actor: Principal) async throws -> Team {
        try actor.require(.view, in: id)
        return try await database.read { connection in
            guard let row = try connection.first("SELECT * FROM teams WHERE id = ?", id) else {
                throw ServiceError.notFound("team \"\(id)\"")
            }
            return try Self.team(row)
        }
    }

    private static func team(_ row: Row) throws -> Team {
        Team(id: try row.text("id"), name: try row.text("name"), created: try row.date("created"))
    }

    // MARK: Apps

    /// Creates an app, by default with the environment `production`.
    ///
    /// Throws a ``ServiceError`` when the identifier is not allowed or already used on the server.
    public func createApp(
        _ id: String,
        team: String,
        name: String,
        environments: [String] = ["production"],
        as actor: Principal
    ) async throws -> App {
        try actor.require(.manageApps, in: team)
        try Self.checkName(id, "id")
        try Self.checkText(name, "name")
        guard (1...16).contains(environments.count), Set(environments).count == environments.count else {
            throw ServiceError.invalid("environments", "An app has 1 to 16 environments, each once.")
        }
        for environment in environments { try Self.checkName(environment, "environments") }
        let app = App(
            id: id,
            team: team,
            name: name.isEmpty ? id : name,
            environments: environments,
            approvals: [],
            created: now()
        )
        try await changeTrust(of: team) { connection, trust in
            guard try connection.first("SELECT id FROM apps WHERE id = ?", id) == nil else {
                throw ServiceError.conflict("There is an app \"\(id)\" already; names of apps are unique on a server.")
            }
            try connection.execute(
                "INSERT INTO apps (id, team, name, environments, created) VALUES (?, ?, ?, ?, ?)",
                id,
                team,
                app.name,
                try JSON.text(environments),
                app.created.milliseconds
            )
            try trust.addDirector(app: id)
            try Audit.record(connection, at: app.created, actor, team: team, "app.create", id, ["name": app.name])
        }
        return app
    }

    /// The apps of a team that the actor may view.
    public func apps(of team: String, as actor: Principal) async throws -> [App] {
        try actor.require(.view, in: team)
        return try await database.read { connection in
            try connection.query("SELECT * FROM apps WHERE team = ? ORDER BY id", team).map(Self.app).filter {
                actor.app == nil || actor.app == $0.id
            }
        }
    }

    /// The app with an identifier.
    ///
    /// Throws a ``ServiceError`` when there is none, or the actor does not have the permission.
    public func app(_ id: String, as actor: Principal, for permission: Permission = .view) async throws -> App {
        let app = try await database.read { connection in try Self.app(id, connection) }
        guard let app else { throw ServiceError.notFound("app \"\(id)\"") }
        try actor.require(permission, in: app.team, app: id)
        return app
    }

    static func app(_ id: String, _ connection: any Connection) throws -> App? {
        try connection.first("SELECT * FROM apps WHERE id = ?", id).map(app)
    }

    private static func app(_ row: Row) throws -> App {
        App(
            id: try row.text("id"),
            team: try row.text("team"),
            name: try row.text("name"),
            environments: try JSON.read([String].self, row.text("environments")),
            approvals: try JSON.read([String].self, row.text("approvals")),
            created: try row.date("created")
        )
    }

    /// Sets the environments of an app in which a second person must approve deployments.
    public func setApprovals(_ environments: [String], app id: String, as actor: Principal) async throws -> App {
        let app = try await app(id, as: actor, for: .manageMembers)
        if let unknown = environments.first(where: { !app.environments.contains($0) }) {
            throw ServiceError.invalid("environments", "The app has no environment \"\(unknown)\".")
        }
        let (requested, time) = (app.environments.filter(environments.contains), now())
        return try await database.write { connection in
            try connection.execute("UPDATE apps SET approvals = ? WHERE id = ?", try JSON.text(requested), id)
            try Audit.record(
                connection,
                at: time,
                actor,
                team: app.team,
                "app.approvals",
                id,
                ["before": app.approvals.joined(separator: ","), "after": requested.joined(separator: ",")]
            )
            guard let changed = try Self.app(id, connection) else { throw ServiceError.notFound("app \"\(id)\"") }
            return changed
        }
    }

    // MARK: Collections

    /// Creates a collection of 1 to 64 models.
    ///
    /// Throws a ``ServiceError`` when an identifier is not allowed, or the collection exists already.
    public func createCollection(
        _ id: String,
        app: String,
        description: String,
        models: [String],
        as actor: Principal
    ) async throws -> ModelCollection {
        let owner = try await self.app(app, as: actor, for: .manageApps)
        try Self.checkIdentifier(id, "id")
        try Self.checkText(description, "description")
        guard (1...64).contains(models.count), Set(models).count == models.count else {
            throw ServiceError.invalid("models", "A collection has 1 to 64 models, each with a unique name.")
        }
        for (index, model) in models.enumerated() { try Self.checkIdentifier(model, "models[\(index)]") }
        let collection = ModelCollection(
            app: app,
            id: id,
            description: description,
            models: models,
            releases: 0,
            created: now()
        )
        try await changeTrust(of: owner.team) { connection, trust in
            guard try connection.first("SELECT id FROM collections WHERE app = ? AND id = ?", app, id) == nil else {
                throw ServiceError.conflict("The app \"\(app)\" has a collection \"\(id)\" already.")
            }
            try connection.execute(
                "INSERT INTO collections (app, id, description, models, releases, created) VALUES (?, ?, ?, ?, ?, ?)",
                app,
                id,
                description,
                try JSON.text(models),
                0,
                collection.created.milliseconds
            )
            try trust.addCollection(app: app, collection: id)
            try Audit.record(
                connection,
                at: collection.created,
                actor,
                team: owner.team,
                "collection.create",
                "\(app)/\(id)",
                ["models": models.joined(separator: ", ")]
            )
        }
        return collection
    }

    /// The collections of an app.
    public func collections(of app: String, as actor: Principal) async throws -> [ModelCollection] {
        _ = try await self.app(app, as: actor)
        return try await database.read { connection in
            try connection.query("SELECT * FROM collections WHERE app = ? ORDER BY id", app).map(Self.collection)
        }
    }

    /// The collection with an identifier; throws a ``ServiceError`` when there is none.
    public func collection(_ id: String, app: String, as actor: Principal) async throws -> ModelCollection {
        _ = try await self.app(app, as: actor)
        return try await database.read { connection in try Self.collection(id, app: app, connection) }
    }

    static func collection(_ id: String, app: String, _ connection: any Connection) throws -> ModelCollection {
        guard let row = try connection.first("SELECT * FROM collections WHERE app = ? AND id = ?", app, id) else {
            throw ServiceError.notFound("collection \"\(id)\" of the app \"\(app)\"")
        }
        return try collection(row)
    }

    private static func collection(_ row: Row) throws -> ModelCollection {
        ModelCollection(
            app: try row.text("app"),
            id: try row.text("id"),
            description: try row.text("description"),
            models: try JSON.read([String].self, row.text("models")),
            releases: try row.integer("releases"),
            created: try row.date("created")
        )
    }

    // MARK: Audit

    /// The entries of a team's audit log, the latest first.
    ///
    /// With `before`, only entries with a lower number; `limit` is 1 to 1,000.
    public func audit(of team: String, before: Int? = nil, limit: Int = 100, as actor: Principal) async throws
        -> [AuditEntry]
    {
        try actor.require(.audit, in: team)
        return try await database.read { connection in
            try connection.query(
                "SELECT * FROM audit WHERE team = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
                team,
                before ?? Int.max,
                min(max(limit, 1), 1000)
            ).map(Audit.entry)
        }
    }

    /// Throws when the audit log was changed other than by the server.
    public func verifyAudit() async throws {
        try await database.read { connection in _ = try Audit.verify(connection) }
    }

    /// Verifies the whole audit log, and returns the number and the last of a team's entries.
    ///
    /// Throws a ``ServiceError`` when the log was changed other than by the server.
    public func verifyAudit(of team: String, as actor: Principal) async throws -> AuditVerification {
        try actor.require(.audit, in: team)
        return try await database.read { connection in try Audit.verify(of: team, connection) }
    }
}
