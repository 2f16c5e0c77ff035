import DeploymentKeys
import Foundation
import ServerDatabase

/// A key that a team's models are encrypted for.
public struct TeamKey: Sendable, Codable, Equatable {
    /// The key's identifier: 32 hexadecimal digits.
    public let id: String
    /// The number of the epoch, from 1 on.
    public let number: Int
    /// `active`, `retired` (still opens what was encrypted for it) or `revoked`.
    public let state: String
    /// The suite that content keys are wrapped with.
    public let suite: String
    /// The date at which the key was created, such as `2026-11-23T08:00:00Z`.
    public let created: String
}

extension Service {
    /// The keys of a team, the oldest first.
    public func keys(of team: String, as actor: Principal) async throws -> [TeamKey] {
        try actor.require(.view, in: team)
        if role == .control { return try await askKeyService(.keys(team: team), as: actor) }
        let vault = vault
        return try await database.read { connection in
            try Self.ring(of: team, vault, connection)?.epochs.map(TeamKey.init) ?? []
        }
    }

    /// The public key of a team, for developers and build machines: a `.mlmodelkey` file that encrypts but cannot
    /// decrypt.
    ///
    /// `id` names the key, `nil` the one that models are encrypted for now. Throws a ``ServiceError`` for one that is
    /// unknown or revoked.
    public func publicKey(_ id: String?, of team: String, as actor: Principal) async throws -> [UInt8] {
        try actor.require(.view, in: team)
        if role == .control {
            let file: Data = try await askKeyService(.publicKey(team: team, key: id), as: actor)
            return Array(file)
        }
        let vault = vault
        return try await database.read { connection in
            let ring = try Self.ring(of: team, vault, connection)
            let epoch = id == nil ? ring?.active : id.flatMap { KeyIdentifier($0) }.flatMap { ring?.epoch($0) }
            guard let epoch, epoch.state != .revoked else {
                throw ServiceError.notFound("key \(id ?? "") of the team \"\(team)\" that is not revoked")
            }
            return epoch.publicFile
        }
    }

    /// Creates a new key, for which models are encrypted from now on; earlier keys still open.
    public func rotateKey(of team: String, as actor: Principal) async throws -> TeamKey {
        try await changeRing(of: team, actor, "key.rotate", elsewhere: .rotate(team: team)) { ring, _ in
            TeamKey(try ring.rotate())
        }
    }

    /// Revokes a key: content keys that are wrapped for it are not released any more.
    public func revokeKey(_ id: String, of team: String, as actor: Principal) async throws -> TeamKey {
        guard let key = KeyIdentifier(id) else { throw ServiceError.notFound("key \"\(id)\"") }
        let time = now()
        return try await changeRing(of: team, actor, "key.revoke", elsewhere: .revoke(team: team, key: id)) {
            ring,
            connection in
            guard let epoch = ring.epoch(key) else { throw ServiceError.notFound("key \"\(id)\"") }
            try ring.revoke(key, destroying: false)
            var state = try SQLKeyServiceStore.revocations(team, connection)
            state.keys.insert(id)
            try SQLKeyServiceStore.store(state, team, at: time, connection)
            return TeamKey(ring.epoch(key) ?? epoch)
        }
    }

    private func changeRing(
        of team: String,
        _ actor: Principal,
        _ action: String,
        elsewhere call: KeyCall,
        _ body: @escaping @Sendable (inout TeamKeyRing, any Connection) throws -> TeamKey
    ) async throws -> TeamKey {
        try actor.require(.manageKeys, in: team)
        let (vault, time) = (vault, now())
        if role == .control {
            let key: TeamKey = try await askKeyService(call, as: actor)
            try await database.write { connection in
                try Audit.record(connection, at: time, actor, team: team, action, key.id, ["state": key.state])
            }
            return key
        }
        return try await database.write { connection in
            guard var ring = try Self.ring(of: team, vault, connection) else {
                throw ServiceError.notFound("team \"\(team)\"")
            }
            let key = try body(&ring, connection)
            try Self.store(ring, vault, connection)
            try Audit.record(connection, at: time, actor, team: team, action, key.id, ["state": key.state])
            return key
        }
    }

    static func ring(of team: String, _ vault: KeyVault, _ connection: any Connection) throws -> TeamKeyRing? {
        try connection.first("SELECT sealed FROM key_rings WHERE team = ?", team).map {
            try vault.open($0.bytes("sealed"))
        }
    }

    static func store(_ ring: TeamKeyRing, _ vault: KeyVault, _ connection: any Connection) throws {
        try connection.execute(
            "INSERT INTO key_rings (team, sealed, version) VALUES (?, ?, ?) ON CONFLICT (team) DO UPDATE SET "
                + "sealed = excluded.sealed, version = excluded.version",
            ring.team,
            try vault.seal(ring),
            ring.version
        )
    }
}

extension TeamKey {
    init(_ epoch: TeamKeyRing.Epoch) {
        self.init(
            id: epoch.keyID.description,
            number: epoch.number,
            state: epoch.state.rawValue,
            suite: epoch.suite.rawValue,
            created: epoch.created
        )
    }
}
