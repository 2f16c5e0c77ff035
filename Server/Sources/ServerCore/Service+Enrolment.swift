import DeploymentKeys
public import Foundation
import ServerDatabase

/// The conditions on which devices enrol with the key service for an app.
public struct EnrolmentConditions: Sendable, Codable, Equatable {
    /// Whether a device must have an enrolment token.
    public var requiresToken: Bool
    /// The largest number of devices; `nil` for any number.
    public var deviceLimit: Int?

    /// Creates conditions, by default none.
    public init(requiresToken: Bool = false, deviceLimit: Int? = nil) {
        self.requiresToken = requiresToken
        self.deviceLimit = deviceLimit
    }
}

/// An enrolment token of devices as the server stores it, with which nobody can enrol.
public struct StoredEnrolmentToken: Sendable, Codable, Equatable {
    /// The token's identifier.
    public let id: String
    /// The team that it is valid for.
    public let team: String
    /// The only app that it is valid for; `nil` for all of the team.
    public let app: String?
    /// The date at which it expires.
    public let expires: Date
    /// The number of devices that may still enrol with it; `nil` for any number.
    public let remaining: Int?
    /// The date at which it was created.
    public let created: Date
    /// The name of who created it.
    public let createdBy: String
}

extension Service {
    // MARK: Conditions

    /// The conditions on which devices enrol for an app.
    public func enrolmentConditions(of app: String, as actor: Principal) async throws -> EnrolmentConditions {
        let owner = try await self.app(app, as: actor)
        if role == .control { return try await askKeyService(.conditions(team: owner.team, app: app), as: actor) }
        let usual = EnrolmentConditions(requiresToken: holdsEnrolment)
        return try await database.read { connection in
            try Self.enrolmentConditions(of: app, usually: usual, connection)
        }
    }

    /// Changes the conditions on which devices enrol; enrolled devices stay.
    public func setEnrolmentConditions(
        _ conditions: EnrolmentConditions,
        of app: String,
        as actor: Principal
    ) async throws -> EnrolmentConditions {
        let owner = try await self.app(app, as: actor, for: .manageKeys)
        if let limit = conditions.deviceLimit, !(1...1_000_000_000).contains(limit) {
            throw ServiceError.invalid("deviceLimit", "1 to 1,000,000,000 devices, or no limit.")
        }
        let (time, isHere) = (now(), role != .control)
        if !isHere {
            let _: EnrolmentConditions = try await askKeyService(
                .setConditions(team: owner.team, app: app, conditions),
                as: actor
            )
        }
        try await database.write { connection in
            if isHere { try Self.store(conditions, of: app, connection) }
            try Audit.record(
                connection,
                at: time,
                actor,
                team: owner.team,
                "enrolment.conditions",
                app,
                [
                    "requiresToken": String(conditions.requiresToken),
                    "deviceLimit": conditions.deviceLimit.map(String.init) ?? "",
                ]
            )
        }
        return conditions
    }

    private static func store(_ conditions: EnrolmentConditions, of app: String, _ connection: any Connection) throws {
        try connection.execute(
            "INSERT INTO enrolment_conditions (app, requires_token, device_limit) VALUES (?, ?, ?) "
                + "ON CONFLICT (app) DO UPDATE SET requires_token = excluded.requires_token, "
                + "device_limit = excluded.device_limit",
            app,
            conditions.requiresToken,
            conditions.deviceLimit
        )
    }

    /// The conditions of an app; `usual` when nobody has set any.
    static func enrolmentConditions(
        of app: String,
        usually usual: EnrolmentConditions = EnrolmentConditions(),
        _ connection: any Connection
    ) throws -> EnrolmentConditions {
        guard let row = try connection.first("SELECT * FROM enrolment_conditions WHERE app = ?", app) else {
            return usual
        }
        return EnrolmentConditions(
            requiresToken: try row.bool("requires_token"),
            deviceLimit: try row.optionalInteger("device_limit")
        )
    }

    // MARK: Tokens

    /// Creates an enrolment token for devices.
    ///
    /// - Parameters:
    ///   - team: the team that it is valid for.
    ///   - app: the only app that it is valid for; `nil` for all.
    ///   - uses: the number of devices that may enrol with it; `nil` for any number.
    ///   - lifetime: its lifetime in seconds, up to 366 days.
    ///   - actor: the person or program that creates it.
    /// - Returns: the token and its text, which cannot be shown again.
    /// - Throws: a ``ServiceError`` for values out of range, or without permission.
    public func createEnrolmentToken(
        team: String,
        app: String?,
        uses: Int?,
        lifetime: Double,
        as actor: Principal
    ) async throws -> (StoredEnrolmentToken, text: String) {
        try actor.require(.manageKeys, in: team)
        guard lifetime >= 1, lifetime <= Self.maximumTokenLifetime else {
            throw ServiceError.invalid("days", "A token is valid for 1 to 366 days.")
        }
        if let uses, !(1...1_000_000_000).contains(uses) {
            throw ServiceError.invalid("uses", "1 to 1,000,000,000 devices, or any number.")
        }
        if role == .control {
            return try await createEnrolmentTokenAtKeyService(
                team: team,
                app: app,
                uses: uses,
                lifetime: lifetime,
                as: actor
            )
        }
        let (token, time) = (try EnrolmentToken(), now())
        let stored = StoredEnrolmentToken(
            id: token.id,
            team: team,
            app: app,
            expires: time.addingTimeInterval(lifetime),
            remaining: uses,
            created: time,
            createdBy: actor.name
        )
        let key = token.publicKey
        try await database.write { connection in
            if let app {
                guard try Self.app(app, connection)?.team == team else { throw ServiceError.notFound("app \"\(app)\"") }
            }
            try connection.execute(
                "INSERT INTO enrolment_tokens (team, id, app, algorithm, public_key, not_after, remaining, created, created_by) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                team,
                stored.id,
                app,
                key.algorithm.rawValue,
                key.bytes,
                stored.expires.milliseconds,
                uses,
                time.milliseconds,
                actor.name
            )
            try Audit.record(
                connection,
                at: time,
                actor,
                team: team,
                "enrolment.createToken",
                stored.id,
                ["app": app ?? "", "uses": uses.map(String.init) ?? ""]
            )
        }
        return (stored, token.secretText)
    }

    private func createEnrolmentTokenAtKeyService(
        team: String,
        app: String?,
        uses: Int?,
        lifetime: Double,
        as actor: Principal
    ) async throws -> (StoredEnrolmentToken, text: String) {
        if let app {
            guard try await self.app(app, as: actor).team == team else { throw ServiceError.notFound("app \"\(app)\"") }
        }
        let made: CreatedEnrolmentToken = try await askKeyService(
            .makeToken(team: team, app: app, uses: uses, lifetime: lifetime),
            as: actor
        )
        let time = now()
        try await database.write { connection in
            try Audit.record(
                connection,
                at: time,
                actor,
                team: team,
                "enrolment.createToken",
                made.token.id,
                ["app": app ?? "", "uses": uses.map(String.init) ?? ""]
            )
        }
        return (made.token, made.text)
    }

    /// The enrolment tokens of a team, the latest first.
    public func enrolmentTokens(of team: String, as actor: Principal) async throws -> [StoredEnrolmentToken] {
        try actor.require(.manageKeys, in: team)
        if role == .control { return try await askKeyService(.tokens(team: team), as: actor) }
        return try await database.read { connection in
            try connection.query("SELECT * FROM enrolment_tokens WHERE team = ? ORDER BY created DESC", team).map {
                StoredEnrolmentToken(
                    id: try $0.text("id"),
                    team: team,
                    app: try $0.optionalText("app"),
                    expires: try $0.date("not_after"),
                    remaining: try $0.optionalInteger("remaining"),
                    created: try $0.date("created"),
                    createdBy: try $0.text("created_by")
                )
            }
        }
    }

    /// Removes an enrolment token; devices that enrolled with it stay.
    public func removeEnrolmentToken(_ id: String, team: String, as actor: Principal) async throws {
        try actor.require(.manageKeys, in: team)
        let (time, isHere) = (now(), role != .control)
        if !isHere { let _: KeyLinkDone = try await askKeyService(.removeToken(team: team, token: id), as: actor) }
        try await database.write { connection in
            if isHere {
                let count = try connection.execute("DELETE FROM enrolment_tokens WHERE team = ? AND id = ?", team, id)
                guard count == 1 else { throw ServiceError.notFound("enrolment token \"\(id)\"") }
            }
            try Audit.record(connection, at: time, actor, team: team, "enrolment.removeToken", id)
        }
    }
}
