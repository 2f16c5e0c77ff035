import DeploymentKeys
import Foundation
public import ServerDatabase

/// The part of the work that a server does: delivering models, storing their keys, or both.
public enum ServerRole: String, Sendable, Codable {
    /// It does both.
    case all
    /// It delivers models; their keys are at a key service of its own.
    case control
    /// It stores the keys of models and gives devices leases.
    case keys
}

extension Service {
    /// The role that a database was used for; `nil` for one that has not been used.
    public static func storedRole(_ database: any Database) async throws -> ServerRole? {
        try await database.migrate(migrations)
        return try await database.read { connection in
            if let row = try connection.first("SELECT role FROM server_role WHERE id = 1") {
                guard let role = ServerRole(rawValue: try row.text("role")) else {
                    throw DatabaseError.unexpected("role", try row["role"])
                }
                return role
            }
            // Before roles were written down there was one.
            return try connection.first("SELECT id FROM teams") == nil ? nil : .all
        }
    }

    /// Records the role of a database, and refuses one that has another role.
    static func take(_ role: ServerRole, _ database: any Database) async throws {
        let stored = try await storedRole(database)
        guard stored != role else { return }
        try await database.write { connection in
            if let stored, try connection.first("SELECT id FROM teams") != nil { throw wrongRole(stored, wanted: role) }
            try connection.execute(
                "INSERT INTO server_role (id, role) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET role = excluded.role",
                role.rawValue
            )
        }
    }

    private static func wrongRole(_ stored: ServerRole, wanted: ServerRole) -> ServiceError {
        switch (stored, wanted) {
        case (.all, .control):
            .conflict(
                "The keys of models are in this server's database: move them to the key service first, with coreml-server keys move."
            )
        case (.control, .all):
            .conflict(
                "The keys of this server's models are in a separate key service: pass --key-service and --key-service-secret."
            )
        case (.keys, _): .conflict("This is the database of a key service: coreml-server keys serve.")
        default: .conflict("This is the database of a deployment server, and a key service needs a separate one.")
        }
    }

    /// The place where the keys of a team's models are stored.
    public func keyStorage(of team: String, as actor: Principal) async throws -> KeyStorage {
        try actor.require(.view, in: team)
        return try await keyStorage()
    }

    /// The place where the keys of models are stored.
    public func keyStorage() async throws -> KeyStorage {
        guard role == .control else {
            return KeyStorage(
                isApart: false,
                address: nil,
                rest: vault.strength.description,
                holdsEnrolment: holdsEnrolment
            )
        }
        let there: KeyStorage = try await askKeyService(.storage, as: .server)
        return KeyStorage(
            isApart: true,
            address: link?.address.absoluteString,
            rest: there.rest,
            holdsEnrolment: there.holdsEnrolment
        )
    }

    /// Sends a call to the key service on behalf of an actor, whose permission the caller has checked.
    func askKeyService<Value: Codable & Sendable>(_ call: KeyCall, as actor: Principal) async throws -> Value {
        guard let link else {
            throw ServiceError(
                .unavailable,
                "The keys of models are in a separate key service: name it with --key-service and --key-service-secret."
            )
        }
        return try await link.ask(call, for: actor.name, at: now())
    }

    // MARK: What devices ask

    /// Answers a device's request to the key service, itself or by passing it on.
    public func answer(_ request: DeviceKeyRequest) async -> DeviceKeyAnswer {
        guard role == .control else { return await answerLocally(request) }
        do {
            var request = request
            request.claim = try await claim(request)
            return try await askKeyService(.device(request), as: .server)
        } catch {
            let problem = DeploymentKeyError(.unavailable, at: "key service", "The key service cannot be reached now.")
            return DeviceKeyAnswer(
                status: 503,
                body: Data(KeyService.failure(problem, body: Array(request.body), time: keyTime)),
                retryAfter: 5
            )
        }
    }

    private var keyTime: ServiceTime { ServiceTime(seconds: Int(now().timeIntervalSince1970)) }

    func answerLocally(_ request: DeviceKeyRequest) async -> DeviceKeyAnswer {
        let (body, caller) = (Array(request.body), KeyServiceContext(address: request.address))
        let reply =
            switch request.kind {
            case .challenge: await keyService.challenge(body)
            case .enrolment: await keyService.enrol(body, caller)
            case .renewal: await keyService.renew(body, caller)
            case .release: await keyService.release(keyID: request.name, body, caller)
            case .revocations: await keyService.revocations(team: request.name)
            }
        return DeviceKeyAnswer(status: reply.status, body: Data(reply.body), retryAfter: reply.retryAfter)
    }

    /// The statement of this server about the app and the model that a request names.
    ///
    /// The key service checks what the device proves.
    private func claim(_ request: DeviceKeyRequest) async throws -> KeyClaim? {
        struct Named: Decodable {
            struct Certificate: Decodable {
                let app: String
                let team: String
            }

            let app: String?
            let team: String?
            let certificate: Certificate?
            let contentID: String?
        }
        guard [.enrolment, .renewal, .release].contains(request.kind), request.body.count <= 1 << 17,
            let named = try? JSONDecoder().decode(Named.self, from: request.body),
            let app = named.certificate?.app ?? named.app, let team = named.certificate?.team ?? named.team
        else { return nil }
        let (content, time) = (request.kind == .release ? named.contentID : nil, now())
        return try await database.read { connection in
            guard try Self.app(app, connection)?.team == team else { return nil }
            let isEntitled = try content.map {
                try SQLKeyServiceStore.isDeployed(content: $0, team: team, app: app, at: time, connection)
            }
            return KeyClaim(team: team, app: app, content: content, isEntitled: isEntitled ?? false)
        }
    }
}
