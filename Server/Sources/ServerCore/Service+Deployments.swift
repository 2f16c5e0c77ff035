import Crypto
import DeploymentPolicy
public import Foundation
import ServerDatabase
import UpdateFramework

/// A deployment: the decision which devices get which release of a collection.
public struct Deployment: Sendable, Codable, Equatable {
    /// The state of a deployment.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// It is being worked on.
        case draft
        /// A second person has approved it, and it is ready to be activated.
        case approved
        /// It goes live automatically at its date.
        case scheduled
        /// It decides what devices get.
        case active
        /// The models on each device are frozen.
        case paused
        /// It was stopped because devices fail, or by hand: they use the models of the app bundle or keep what they
        /// have.
        case halted
        /// It was rolled back: devices have what they had before, or the models of the app bundle.
        case rolledBack
        /// Another deployment has replaced it.
        case replaced
    }

    /// The deployment's identifier.
    public let id: String
    /// The app's identifier.
    public let app: String
    /// The collection's identifier.
    public let collection: String
    /// The environment's identifier.
    public let environment: String
    /// The name that people gave it.
    public let name: String
    /// The current state.
    public let state: State
    /// The assignment of releases to devices.
    public let definition: DeploymentDefinition
    /// The date at which it was created.
    public let created: Date
    /// The name of its author.
    public let createdBy: String
    /// The date of its last change.
    public let changed: Date
}

/// A period in which a policy was live.
public struct LiveEntry: Sendable, Codable {
    /// The date at which the policy went live.
    public let since: Date
    /// The version of the policy.
    public let version: Int
    /// The identifier of the deployment.
    public let deployment: String
    /// The deployment as it was then, as JSON.
    public let summary: String
}

extension Service {
    /// The lifetime of a policy in seconds.
    static let policyLifetime = 86_400.0

    /// Creates a deployment as a draft.
    ///
    /// - Parameters:
    ///   - definition: the assignment of releases to devices.
    ///   - name: its name, for people; at most 200 characters.
    ///   - app: the app's identifier.
    ///   - collection: the collection's identifier.
    ///   - environment: one of the app's environments.
    ///   - actor: the person or program that creates it.
    /// - Returns: the deployment.
    /// - Throws: a ``ServiceError`` that names the wrong member, or without permission.
    public func createDeployment(
        _ definition: DeploymentDefinition,
        name: String,
        app: String,
        collection: String,
        environment: String,
        as actor: Principal
    ) async throws -> Deployment {
        let owner = try await self.app(app, as: actor, for: .deploy)
        try Self.checkText(name, "name", maximum: 200)
        guard owner.environments.contains(environment) else {
            throw ServiceError.invalid(
                "environment",
                "The app has no environment \"\(environment)\"; it has \(owner.environments.joined(separator: ", "))."
            )
        }
        let (id, time) = (Self.identifier(), now())
        return try await database.write { connection in
            _ = try Self.collection(collection, app: app, connection)
            let deployment = Deployment(
                id: id,
                app: app,
                collection: collection,
                environment: environment,
                name: name,
                state: .draft,
                definition: definition,
                created: time,
                createdBy: actor.name,
                changed: time
            )
            _ = try Self.policy(of: deployment, rollout: nil, version: 1, at: time, connection)
            try connection.execute(
                "INSERT INTO deployments (id, app, collection, environment, name, state, definition, rollout, created, "
                    + "created_by, changed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                id,
                app,
                collection,
                environment,
                name,
                deployment.state.rawValue,
                try JSON.text(definition),
                "{}",
                time.milliseconds,
                actor.name,
                time.milliseconds
            )
            try Audit.record(
                connection,
                at: time,
                actor,
                team: owner.team,
                "deployment.create",
                id,
                ["collection": "\(app)/\(collection)", "environment": environment, "name": name]
            )
            return deployment
        }
    }

    /// The deployments of a collection, the latest first.
    public func deployments(app: String, collection: String, as actor: Principal) async throws -> [Deployment] {
        _ = try await self.collection(collection, app: app, as: actor)
        return try await database.read { connection in
            try connection.query(
                "SELECT * FROM deployments WHERE app = ? AND collection = ? ORDER BY created DESC",
                app,
                collection
            ).map(Self.deployment)
        }
    }

    /// The deployment with an identifier.
    ///
    /// Throws a ``ServiceError`` when there is none, or the actor does not have the permission in its app.
    public func deployment(
        _ id: String,
        as actor: Principal,
        for permission: Permission = .view
    ) async throws -> Deployment {
        let row = try await database.read { connection in
            try connection.first("SELECT * FROM deployments WHERE id = ?", id)
        }
        guard let deployment = try row.map(Self.deployment) else { throw ServiceError.notFound("deployment \"\(id)\"") }
        do { _ = try await app(deployment.app, as: actor, for: permission) } catch let error as ServiceError {
            guard error.code == .notFound else { throw error }
            var hidden = ServiceError.notFound("deployment \"\(id)\"")
            hidden.denial = error.denial
            throw hidden
        }
        return deployment
    }

    static func deployment(_ row: Row) throws -> Deployment {
        guard let state = Deployment.State(rawValue: try row.text("state")) else {
            throw DatabaseError.unexpected("state", try row["state"])
        }
        return Deployment(
            id: try row.text("id"),
            app: try row.text("app"),
            collection: try row.text("collection"),
            environment: try row.text("environment"),
            name: try row.text("name"),
            state: state,
            definition: try JSON.read(DeploymentDefinition.self, row.text("definition")),
            created: try row.date("created"),
            createdBy: try row.text("created_by"),
            changed: try row.date("changed")
        )
    }

    /// The policy that a deployment gives devices, unsigned and as version 1, for programs that explain and compare.
    public func policy(of id: String, as actor: Principal) async throws -> [UInt8] {
        let (deployment, time) = (try await deployment(id, as: actor), now())
        return try await database.read { connection in
            let row = try connection.first("SELECT rollout FROM deployments WHERE id = ?", id)
            let rollout = try row.flatMap(Self.rollout)
            return try Self.policy(of: deployment, rollout: rollout, version: 1, at: time, connection).bytes()
        }
    }

    // MARK: Policies

    /// The policy of a deployment.
    ///
    /// `rollout` is the current state of its rollout, `nil` when it has none that has begun.
    static func policy(
        of deployment: Deployment,
        rollout: Rollout?,
        version: Int,
        at time: Date,
        _ connection: any Connection
    ) throws -> Policy {
        var policy = Policy(
            version: version,
            issued: PolicyDate(time),
            expires: PolicyDate(time.addingTimeInterval(policyLifetime)),
            app: deployment.app,
            environment: deployment.environment,
            collection: deployment.collection,
            deployment: deployment.id
        )
        policy.state = deployment.policyState(rollout)
        try deployment.definition.fill(&policy, salt: deployment.id, rollout: rollout)
        policy.releases = try deployment.definition.releases.sorted().map { number in
            guard
                let reference = try reference(
                    number,
                    app: deployment.app,
                    collection: deployment.collection,
                    connection
                )
            else { throw ServiceError.invalid("definition", "The collection has no release \(number).") }
            return reference
        }
        do throws(PolicyError) { try policy.check() } catch {
            throw ServiceError.invalid("definition.\(error.path)", error.message)
        }
        return policy
    }

    /// Signs the policy of a deployment as the next version, and makes it the one that devices fetch.
    static func publish(
        _ deployment: Deployment,
        rollout: Rollout?,
        team: String,
        _ keys: any SigningKeyStore,
        at time: Date,
        isNews: Bool = true,
        _ connection: any Connection
    ) throws {
        let place = [deployment.app, deployment.collection, deployment.environment]
        let last = try connection.first(
            "SELECT version FROM policies WHERE app = ? AND collection = ? AND environment = ?",
            place[0],
            place[1],
            place[2]
        )
        let version = try (last?.integer("version") ?? 0) + 1
        let policy = try policy(of: deployment, rollout: rollout, version: version, at: time, connection)
        var document = SignedDocument(signed: try MetadataValue(parsing: try policy.bytes(), role: "policy"))
        let signers = try keys.keys(team: team, role: TeamTrust.directorRole(deployment.app), connection)
        guard !signers.isEmpty else {
            throw ServiceError.conflict("The director's key of the app \"\(deployment.app)\" is not on this server.")
        }
        if isNews { try TeamTrust.checkDirector(of: deployment.app, team, keys, at: time, connection) }
        for signer in signers { try document.sign(with: signer) }
        let expires = policy.expires.secondsSince1970 * 1000
        try connection.execute(
            "INSERT INTO policies (app, collection, environment, version, deployment, signed, issued, expires) "
                + "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (app, collection, environment) DO UPDATE SET "
                + "version = excluded.version, deployment = excluded.deployment, signed = excluded.signed, "
                + "issued = excluded.issued, expires = excluded.expires",
            place[0],
            place[1],
            place[2],
            version,
            deployment.id,
            document.bytes,
            time.milliseconds,
            expires
        )
        guard isNews else { return }
        try connection.execute(
            "INSERT INTO live (app, collection, environment, since, version, deployment, summary) VALUES (?, ?, ?, ?, ?, ?, ?)",
            place[0],
            place[1],
            place[2],
            time.milliseconds,
            version,
            deployment.id,
            try JSON.text(deployment)
        )
    }

    /// Signs policies again that expire within `margin` seconds.
    func renewPolicies(margin: Int) async throws {
        let (keys, time) = (keys, now())
        try await database.write { connection in
            let limit = time.milliseconds + margin * 1000
            for row in try connection.query("SELECT app, deployment FROM policies WHERE expires < ?", limit) {
                guard
                    let stored = try connection.first(
                        "SELECT * FROM deployments WHERE id = ?",
                        try row.text("deployment")
                    ),
                    let app = try Self.app(try row.text("app"), connection)
                else { throw DatabaseError.unexpected("deployment", try row["deployment"]) }
                let deployment = try Self.deployment(stored)
                let rollout = try Self.rollout(stored)
                try Self.publish(
                    deployment,
                    rollout: rollout,
                    team: app.team,
                    keys,
                    at: time,
                    isNews: false,
                    connection
                )
            }
        }
    }

    /// The signed policy of a collection, as devices fetch it; `nil` before the first deployment.
    public func signedPolicy(app: String, collection: String, environment: String) async throws -> [UInt8]? {
        try await database.read { connection in
            try connection.first(
                "SELECT signed FROM policies WHERE app = ? AND collection = ? AND environment = ?",
                app,
                collection,
                environment
            )?.bytes("signed")
        }
    }

    /// The periods in which policies were live, the latest first.
    public func history(
        app: String,
        collection: String,
        environment: String,
        as actor: Principal
    ) async throws -> [LiveEntry] {
        _ = try await self.collection(collection, app: app, as: actor)
        return try await database.read { connection in
            try connection.query(
                "SELECT * FROM live WHERE app = ? AND collection = ? AND environment = ? ORDER BY version DESC",
                app,
                collection,
                environment
            ).map {
                LiveEntry(
                    since: try $0.date("since"),
                    version: try $0.integer("version"),
                    deployment: try $0.text("deployment"),
                    summary: try $0.text("summary")
                )
            }
        }
    }

    // MARK: Configuration of clients

    /// The configuration that an app contains to find and trust its collections: `ModelDeployment.json`.
    public func clientConfiguration(
        app: String,
        environment: String,
        server: String,
        as actor: Principal
    ) async throws -> [UInt8] {
        let owner = try await self.app(app, as: actor)
        guard owner.environments.contains(environment) else {
            throw ServiceError.invalid("environment", "The app has no environment \"\(environment)\".")
        }
        guard let root = try await currentRoot(team: owner.team) else {
            throw ServiceError.notFound("team \"\(owner.team)\"")
        }
        let members: [String: AnyJSON] = [
            "format": .integer(1), "server": .text(server), "team": .text(owner.team), "app": .text(app),
            "environment": .text(environment), "root": .text(Data(root).base64EncodedString()),
            "created": .text(PolicyDate(secondsSince1970: Int(now().timeIntervalSince1970)).description),
        ]
        return Array((try JSON.text(members) + "\n").utf8)
    }

    static func sha256(_ bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hexadecimal }
}
