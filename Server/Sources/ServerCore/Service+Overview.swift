public import DeploymentPolicy
public import Foundation
import ServerDatabase
import UpdateFramework

// Overviews for pages; nothing here changes anything.

/// The live deployment of an environment.
public struct LiveState: Sendable {
    /// The environment's identifier.
    public let environment: String
    /// The deployment that is live.
    public let deployment: Deployment
    /// The version of the policy that devices fetch.
    public let policyVersion: Int
    /// The date at which the policy was signed.
    public let issued: Date
    /// The date at which the policy expires.
    public let expires: Date
}

/// An overview of a collection.
public struct CollectionOverview: Sendable {
    /// The collection.
    public let collection: ModelCollection
    /// The latest release; `nil` before the first.
    public let latest: Release?
    /// The live deployment of each environment.
    public let live: [LiveState]
    /// The number of deployments.
    public let deployments: Int
}

/// An overview of an app.
public struct AppOverview: Sendable {
    /// The app.
    public let app: App
    /// The number of collections.
    public let collections: Int
    /// The number of releases of all collections.
    public let releases: Int
    /// The number of deployments.
    public let deployments: Int
    /// The number of collections that have something live.
    public let live: Int
}

/// An overview of a team.
public struct TeamOverview: Sendable {
    /// The team.
    public let team: Team
    /// The number of archives.
    public let archives: Int
    /// The apps that the actor may see.
    public let apps: [AppOverview]
}

/// A member of a team.
public struct Member: Sendable, Codable, Equatable {
    /// The identifier of the account.
    public let id: String
    /// The mail address.
    public let email: String
    /// The member's name.
    public let name: String
    /// The member's roles in the team.
    public let roles: [Role]
    /// Whether the member is an administrator of the server.
    public let isAdministrator: Bool
}

/// A current signed document of a team's metadata.
public struct TrustDocument: Sendable {
    /// The role that signs it.
    public let role: String
    /// The version.
    public let version: Int
    /// The date at which it expires.
    public let expires: Date
    /// The number of its private keys on this server.
    public let keysHere: Int
}

/// A filter of the audit log; a criterion that is `nil` does not restrict it.
public struct AuditFilter: Sendable {
    /// A part of the actor's name.
    public var actor: String?
    /// The beginning of the action: `deployment` includes `deployment.pause`.
    public var action: String?
    /// A part of the subject or of the details.
    public var text: String?
    /// The earliest date, included.
    public var from: Date?
    /// The latest date, not included.
    public var until: Date?

    /// Creates a filter that does not restrict the log.
    public init() {}
}

extension Service {
    /// The description of an error in a file, without the server's path to it.
    static func withoutPath(_ description: String) -> String {
        guard description.hasPrefix("/"), let end = description.firstRange(of: ": ") else { return description }
        return String(description[end.upperBound...])
    }

    // MARK: Live

    /// The live deployment of each environment of an app in which something was deployed.
    public func liveStates(app: String, collection: String, as actor: Principal) async throws -> [LiveState] {
        _ = try await self.collection(collection, app: app, as: actor)
        return try await database.read { connection in try Self.liveStates(app, collection, connection) }
    }

    private static func liveStates(_ app: String, _ collection: String, _ connection: any Connection) throws
        -> [LiveState]
    {
        try connection.query(
            "SELECT environment, version, deployment, issued, expires FROM policies WHERE app = ? AND collection = ? "
                + "ORDER BY environment",
            app,
            collection
        ).map { row in
            guard
                let stored = try connection.first(
                    "SELECT * FROM deployments WHERE id = ?",
                    try row.text("deployment")
                )
            else { throw DatabaseError.unexpected("deployment", try row["deployment"]) }
            return LiveState(
                environment: try row.text("environment"),
                deployment: try deployment(stored),
                policyVersion: try row.integer("version"),
                issued: try row.date("issued"),
                expires: try row.date("expires")
            )
        }
    }

    // MARK: Overviews

    /// An overview of a team.
    public func overview(ofTeam id: String, as actor: Principal) async throws -> TeamOverview {
        let team = try await team(id, as: actor)
        let apps = try await apps(of: id, as: actor)
        return try await database.read { connection in
            func count(_ sql: String, _ argument: String) throws -> Int {
                try connection.first("SELECT COUNT(*) AS n FROM \(sql) = ?", argument)?.integer("n") ?? 0
            }
            return TeamOverview(
                team: team,
                archives: try count("archives WHERE team", id),
                apps: try apps.map { app in
                    AppOverview(
                        app: app,
                        collections: try count("collections WHERE app", app.id),
                        releases: try count("releases WHERE app", app.id),
                        deployments: try count("deployments WHERE app", app.id),
                        live: try count("policies WHERE app", app.id)
                    )
                }
            )
        }
    }

    /// The overviews of an app's collections.
    public func overview(ofApp id: String, as actor: Principal) async throws -> [CollectionOverview] {
        let collections = try await collections(of: id, as: actor)
        return try await database.read { connection in
            try collections.map { collection in
                CollectionOverview(
                    collection: collection,
                    latest: collection.releases == 0
                        ? nil : try Self.release(collection.releases, app: id, collection: collection.id, connection),
                    live: try Self.liveStates(id, collection.id, connection),
                    deployments: try connection.first(
                        "SELECT COUNT(*) AS n FROM deployments WHERE app = ? AND collection = ?",
                        id,
                        collection.id
                    )?.integer("n") ?? 0
                )
            }
        }
    }

    /// The release document of a release, with its metrics.
    public func releaseDocument(_ number: Int, app: String, collection: String, as actor: Principal) async throws
        -> ReleaseDocument
    {
        _ = try await self.collection(collection, app: app, as: actor)
        return try await database.read { connection in
            guard
                let row = try connection.first(
                    "SELECT document FROM releases WHERE app = ? AND collection = ? AND number = ?",
                    app,
                    collection,
                    number
                )
            else { throw ServiceError.notFound("release \(number) of the collection \"\(collection)\"") }
            return try ReleaseDocument(row.bytes("document"))
        }
    }

    // MARK: Who gets what

    /// An evaluator of the policy that a definition would make.
    ///
    /// - Parameters:
    ///   - definition: the definition.
    ///   - salt: decides which devices percentages select: the ID of the deployment, when there is one.
    ///   - deployment: the deployment that has the definition, if there is one, whose state and rollout count.
    ///   - app: the app's identifier.
    ///   - collection: the collection's identifier.
    ///   - environment: the environment's identifier.
    ///   - actor: the person or program that asks.
    /// - Returns: the evaluator.
    /// - Throws: a ``ServiceError`` that names the wrong member, or without permission.
    public func evaluator(
        of definition: DeploymentDefinition,
        salt: String,
        deployment: Deployment? = nil,
        app: String,
        collection: String,
        environment: String,
        as actor: Principal
    ) async throws -> PolicyEvaluator {
        _ = try await self.collection(collection, app: app, as: actor)
        let time = now()
        return try await database.read { connection in
            var policy = Policy(
                version: 1,
                issued: PolicyDate(time),
                expires: PolicyDate(time.addingTimeInterval(Self.policyLifetime)),
                app: app,
                environment: environment,
                collection: collection,
                deployment: salt
            )
            let row = try deployment.flatMap {
                try connection.first("SELECT rollout FROM deployments WHERE id = ?", $0.id)
            }
            let rollout = try row.flatMap(Self.rollout)
            policy.state = deployment?.policyState(rollout) ?? .active
            try definition.fill(&policy, salt: salt, rollout: rollout)
            policy.releases = try definition.releases.sorted().map { number in
                guard let reference = try Self.reference(number, app: app, collection: collection, connection) else {
                    throw ServiceError.invalid("definition", "The collection has no release \(number).")
                }
                return reference
            }
            do throws(PolicyError) { return try PolicyEvaluator(policy) } catch {
                throw ServiceError.invalid("definition.\(error.path)", error.message)
            }
        }
    }

    /// The current state of a deployment's rollout; `nil` when it has none that has begun.
    public func rollout(of deployment: Deployment, as actor: Principal) async throws -> Rollout? {
        _ = try await app(deployment.app, as: actor)
        return try await database.read { connection in
            let row = try connection.first("SELECT rollout FROM deployments WHERE id = ?", deployment.id)
            return try row.flatMap(Self.rollout)
        }
    }

    // MARK: People, keys, audit

    /// The members of a team, by their mail addresses.
    public func members(of team: String, as actor: Principal) async throws -> [Member] {
        try actor.require(.view, in: team)
        return try await database.read { connection in
            try connection.query(
                "SELECT a.id, a.email, a.name, a.is_administrator, m.roles FROM memberships m "
                    + "JOIN accounts a ON a.id = m.account WHERE m.team = ? ORDER BY a.email",
                team
            ).map(Self.member)
        }
    }

    /// The current signed documents of a team, those that expire first at the beginning.
    public func trustDocuments(of team: String, as actor: Principal) async throws -> [TrustDocument] {
        try actor.require(.view, in: team)
        let keys = keys
        return try await database.read { connection in
            try connection.query(
                "SELECT name, version, expires FROM trust_metadata WHERE team = ? AND is_current = 1 "
                    + "ORDER BY expires, name",
                team
            ).map { row in
                let role = try row.text("name")
                return TrustDocument(
                    role: role,
                    version: try row.integer("version"),
                    expires: try row.date("expires"),
                    keysHere: try keys.keys(team: team, role: role, connection).count
                )
            }
        }
    }

    /// The entries of the audit log that match a filter, the latest first.
    ///
    /// - Parameters:
    ///   - team: the team.
    ///   - filter: the criteria.
    ///   - before: only entries with a lower number; `nil`, the default, for all.
    ///   - limit: the largest number of entries, 1 to 100,000; by default 100.
    ///   - actor: the person or program that asks.
    /// - Returns: the entries.
    /// - Throws: a ``ServiceError`` without permission.
    public func audit(
        of team: String,
        matching filter: AuditFilter,
        before: Int? = nil,
        limit: Int = 100,
        as actor: Principal
    ) async throws -> [AuditEntry] {
        try actor.require(.audit, in: team)
        var (conditions, arguments) = (["team = ?"], [Value.text(team)])
        func likePattern(_ text: String) -> Value {
            .text(text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_"))
        }
        if let text = filter.actor {
            conditions.append("actor LIKE '%' || ? || '%' ESCAPE '\\'")
            arguments.append(likePattern(text))
        }
        if let text = filter.action {
            conditions.append("action LIKE ? || '%' ESCAPE '\\'")
            arguments.append(likePattern(text))
        }
        if let text = filter.text {
            conditions.append("(subject LIKE '%' || ? || '%' ESCAPE '\\' OR detail LIKE '%' || ? || '%' ESCAPE '\\')")
            arguments += [likePattern(text), likePattern(text)]
        }
        if let from = filter.from {
            conditions.append("at >= ?")
            arguments.append(from.milliseconds.value)
        }
        if let until = filter.until {
            conditions.append("at < ?")
            arguments.append(until.milliseconds.value)
        }
        if let before {
            conditions.append("sequence < ?")
            arguments.append(before.value)
        }
        arguments.append(min(max(limit, 1), 100_000).value)
        let sql =
            "SELECT * FROM audit WHERE " + conditions.joined(separator: " AND ") + " ORDER BY sequence DESC LIMIT ?"
        let all = arguments
        return try await database.read { connection in try connection.query(sql, all).map(Audit.entry) }
    }
}
