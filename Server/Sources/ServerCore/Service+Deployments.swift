import Crypto
import DeploymentPolicy
public import Foundation
import ServerDatabase
import UpdateFramework

/// A deployment: a decision of whom gets which release of a collection.
public struct Deployment: Sendable, Codable, Equatable {
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Being worked on.
        case draft
        /// Checked by somebody else, and ready to go.
        case approved
        /// What devices get.
        case active
        /// What devices get is frozen.
        case paused
        /// Stopped because devices fail: they use the models of the app's bundle.
        case halted
        /// Another deployment has taken its place.
        case replaced
    }

    public let id: String
    public let app: String
    public let collection: String
    public let environment: String
    public let name: String
    public let state: State
    public let definition: DeploymentDefinition
    public let created: Date
    public let createdBy: String
    public let changed: Date
}

/// What was live for a time.
public struct LiveEntry: Sendable, Codable {
    public let since: Date
    public let version: Int
    public let deployment: String
    public let summary: String
}

extension Service {
    /// How long a policy is good for.
    static let policyLifetime = 86_400.0

    public func createDeployment(
        _ definition: DeploymentDefinition,
        name: String,
        app: String,
        collection: String,
        environment: String,
        as actor: Principal
    ) async throws -> Deployment {
        let owner = try await self.app(app, as: actor, for: .deploy)
        try Self.checkText(name, "name", most: 200)
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
            _ = try Self.policy(of: deployment, version: 1, at: time, connection)
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
            throw error.code == .notFound ? ServiceError.notFound("deployment \"\(id)\"") : error
        }
        return deployment
    }

    static func deployment(_ row: Row) throws -> Deployment {
        guard let state = Deployment.State(rawValue: try row.text("state")) else {
            throw DatabaseError.unexpected("state", row["state"])
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

    // MARK: Going live

    /// What an operator does with a deployment.
    public enum Operation: String, Sendable, Codable, CaseIterable {
        case activate, pause, resume, halt
    }

    /// Makes a deployment the one that devices get, or stops it.
    public func operate(_ operation: Operation, _ id: String, as actor: Principal) async throws -> Deployment {
        let deployment = try await deployment(id, as: actor, for: .deploy)
        let (keys, time) = (keys, now())
        return try await database.write { connection in
            guard let row = try connection.first("SELECT * FROM deployments WHERE id = ?", id),
                let app = try Self.app(deployment.app, connection)
            else { throw ServiceError.notFound("deployment \"\(id)\"") }
            let old = try Self.deployment(row)
            let state = try Self.state(after: operation, from: old.state)
            if operation == .activate {
                try connection.execute(
                    "UPDATE deployments SET state = ?, changed = ? WHERE app = ? AND collection = ? AND environment = ? "
                        + "AND state IN ('active', 'paused', 'halted')",
                    Deployment.State.replaced.rawValue,
                    time.milliseconds,
                    old.app,
                    old.collection,
                    old.environment
                )
            }
            try connection.execute(
                "UPDATE deployments SET state = ?, changed = ? WHERE id = ?",
                state.rawValue,
                time.milliseconds,
                id
            )
            guard let row = try connection.first("SELECT * FROM deployments WHERE id = ?", id) else {
                throw ServiceError.notFound("deployment \"\(id)\"")
            }
            let new = try Self.deployment(row)
            try Self.publish(new, team: app.team, keys, at: time, connection)
            try Audit.record(
                connection,
                at: time,
                actor,
                team: app.team,
                "deployment.\(operation.rawValue)",
                id,
                ["before": old.state.rawValue, "after": state.rawValue]
            )
            return new
        }
    }

    private static func state(after operation: Operation, from state: Deployment.State) throws -> Deployment.State {
        switch (operation, state) {
        case (.activate, .draft), (.activate, .approved), (.activate, .replaced): .active
        case (.pause, .active): .paused
        case (.resume, .paused), (.resume, .halted): .active
        case (.halt, .active), (.halt, .paused): .halted
        default:
            throw ServiceError.conflict(
                "A deployment that is \(state.rawValue) cannot be the object of \"\(operation.rawValue)\"."
            )
        }
    }

    // MARK: Policies

    /// The policy that a deployment makes.
    private static func policy(
        of deployment: Deployment,
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
        switch deployment.state {
        case .paused: policy.state = .paused
        case .halted: policy.state = .halted
        case .draft, .approved, .active, .replaced: policy.state = .active
        }
        try deployment.definition.fill(&policy, salt: deployment.id)
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

    /// Signs the policy of a deployment as the next version, and makes it what devices fetch.
    private static func publish(
        _ deployment: Deployment,
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
        let policy = try policy(of: deployment, version: version, at: time, connection)
        var document = SignedDocument(signed: try MetadataValue(parsing: try policy.bytes(), role: "policy"))
        let signers = try keys.keys(team: team, role: TeamTrust.directorRole(deployment.app), connection)
        guard !signers.isEmpty else {
            throw ServiceError.conflict("The director's key of the app \"\(deployment.app)\" is not on this server.")
        }
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

    /// Signs policies anew that expire within `margin` seconds.
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
                else { throw DatabaseError.unexpected("deployment", row["deployment"]) }
                let deployment = try Self.deployment(stored)
                try Self.publish(deployment, team: app.team, keys, at: time, isNews: false, connection)
            }
        }
    }

    /// The signed policy of a collection, as devices fetch it; `nil` when nothing was deployed yet.
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

    /// What was live, the latest first.
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

    /// What an app carries to find and trust its collections: `ModelDeployment.json`.
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
        guard let root = try await firstRoot(team: owner.team) else {
            throw ServiceError.notFound("team \"\(owner.team)\"")
        }
        let members: [String: AnyJSON] = [
            "format": .integer(1), "server": .text(server), "team": .text(owner.team), "app": .text(app),
            "environment": .text(environment), "root": .text(Data(root).base64EncodedString()),
        ]
        return Array((try JSON.text(members) + "\n").utf8)
    }

    static func sha256(_ bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hexadecimal }
}
