public import DeploymentKeys
public import Foundation
import ServerBlobs
public import ServerDatabase
import UpdateFramework

/// A key service as a process of its own: only it has teams' private keys, and the keys that sign leases.
///
/// It also has records of its own, so that an attacker who controls the deployment server can neither read the sealed
/// keys nor change who was enrolled.
public struct KeyHost: Sendable {
    /// The code that serves a deployment server with keys of its own, over the key service's records.
    let service: Service
    private let gate: KeyLinkGate

    /// Opens a key service.
    ///
    /// - Parameters:
    ///   - database: its records.
    ///   - vault: seals its keys.
    ///   - secret: the secret that it shares with the deployment server.
    ///   - holdsEnrolment: whether enrolment tokens and conditions are managed only here. Then an attacker who controls
    ///     the deployment server cannot enrol a device.
    ///   - now: the current time.
    /// - Throws: a ``ServiceError`` when the database has another role, or an error of the database.
    public init(
        database: any Database,
        vault: KeyVault,
        secret: KeyLinkSecret,
        holdsEnrolment: Bool,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws {
        service = try await Self.service(database: database, vault: vault, holdsEnrolment: holdsEnrolment, now: now)
        gate = KeyLinkGate(secret: secret)
    }

    /// The service for commands that work beside a running key service.
    public static func service(
        database: any Database,
        vault: KeyVault,
        holdsEnrolment: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> Service {
        try await Service(
            database: database,
            blobs: NoBlobs(),
            keys: NoSigningKeys(),
            vault: vault,
            role: .keys,
            holdsEnrolment: holdsEnrolment,
            now: now
        )
    }

    /// Throws when the records cannot be read.
    public func checkReadiness() async throws { try await service.checkReadiness() }

    /// Answers a message of the deployment server with a status and a body; see `Documentation/Formats/key-link.md`.
    public func answer(_ message: [UInt8]) async -> (status: Int, body: [UInt8]) {
        do throws(KeyLinkGate.Refusal) {
            let (request, head) = try gate.open(message, at: service.now().timeIntervalSince1970)
            do { return (200, try gate.seal(await text(of: request), head)) } catch {
                return (500, Array("The answer cannot be written.".utf8))
            }
        } catch {
            switch error {
            case .session(let session): return (409, session)
            case .secret: return (401, Array("The message's sender does not have the secret.".utf8))
            case .malformed: return (400, Array("This is not a message of a deployment server.".utf8))
            case .clock:
                return (403, Array("the clocks of both differ by more than \(Int(KeyLinkGate.tolerance)) seconds".utf8))
            case .replayed: return (403, Array("the message was sent before".utf8))
            }
        }
    }

    private func text(of request: KeyLinkRequest) async throws -> Data {
        func answer<Value: Codable & Sendable>(_ work: () async throws -> Value) async throws -> Data {
            let answer: KeyLinkAnswer<Value>
            do { answer = .value(try await work()) } catch let error as ServiceError { answer = .init(error) } catch {
                answer = .init(ServiceError(.unavailable, "The key service's records cannot be used.", retryAfter: 30))
            }
            return try JSONEncoder().encode(answer)
        }
        let name = "\(request.actor) at the deployment server"
        func actor(_ team: String) -> Principal {
            Principal(kind: .token(id: "key-link"), name: name, roles: [team: [.owner]])
        }
        switch request.call {
        case .storage: return try await answer { try await service.keyStorage() }
        case .makeTeam(let team, let title, let server):
            return try await answer {
                try await service.makeKeys(of: team, name: title, server: server, as: actor(team)).map(
                    ServiceKeyText.init
                )
            }
        case .serviceKeys(let team):
            return try await answer { try await service.serviceKeys(of: team).map(ServiceKeyText.init) }
        case .keys(let team): return try await answer { try await service.keys(of: team, as: actor(team)) }
        case .publicKey(let team, let key):
            return try await answer { Data(try await service.publicKey(key, of: team, as: actor(team))) }
        case .rotate(let team): return try await answer { try await service.rotateKey(of: team, as: actor(team)) }
        case .revoke(let team, let key):
            return try await answer { try await service.revokeKey(key, of: team, as: actor(team)) }
        case .prepareServiceKey(let team):
            return try await answer { ServiceKeyText(try await service.prepareServiceKey(of: team, as: actor(team))) }
        case .activateServiceKey(let team, let key):
            return try await answer {
                try await service.activateServiceKey(key, of: team, as: actor(team))
                return KeyLinkDone()
            }
        case .conditions(let team, let app):
            return try await answer {
                try await service.mirror(app, of: team)
                return try await service.enrolmentConditions(of: app, as: actor(team))
            }
        case .setConditions(let team, let app, let conditions):
            return try await answer {
                try refuseEnrolment()
                try await service.mirror(app, of: team)
                return try await service.setEnrolmentConditions(conditions, of: app, as: actor(team))
            }
        case .makeToken(let team, let app, let uses, let lifetime):
            return try await answer {
                try refuseEnrolment()
                if let app { try await service.mirror(app, of: team) }
                let (token, text) = try await service.createEnrolmentToken(
                    team: team,
                    app: app,
                    uses: uses,
                    lifetime: lifetime,
                    as: actor(team)
                )
                return CreatedEnrolmentToken(token: token, text: text)
            }
        case .tokens(let team): return try await answer { try await service.enrolmentTokens(of: team, as: actor(team)) }
        case .removeToken(let team, let token):
            return try await answer {
                try await service.removeEnrolmentToken(token, team: team, as: actor(team))
                return KeyLinkDone()
            }
        case .advanceRevocations(let versions):
            return try await answer {
                try await service.advanceRevocations(by: versions)
                return KeyLinkDone()
            }
        case .check: return try await answer { try await service.check().problems }
        case .device(let device):
            return try await answer {
                if let claim = device.claim { try await service.note(claim) }
                return await service.answerLocally(device)
            }
        }
    }

    private func refuseEnrolment() throws(ServiceError) {
        guard service.holdsEnrolment else { return }
        throw .forbidden(
            "Enrolment is controlled where the keys are: coreml-server keys token, or keys enrolment, on that machine."
        )
    }
}

/// A new enrolment token and its text, which is shown once.
struct CreatedEnrolmentToken: Codable, Sendable {
    let token: StoredEnrolmentToken
    let text: String
}

extension Service {
    /// Creates the keys of a team, unless it has some, and returns those that sign for the key service.
    func makeKeys(of team: String, name: String, server: String?, as actor: Principal) async throws
        -> [SigningPublicKey]
    {
        try Self.checkName(team, "team")
        let (vault, time) = (vault, now())
        let new = try TeamKeyRing(team: team, server: server)
        return try await database.write { connection in
            if let ring = try Self.ring(of: team, vault, connection) { return ring.serviceKeys }
            try connection.execute(
                "INSERT INTO teams (id, name, created) VALUES (?, ?, ?)",
                team,
                name,
                time.milliseconds
            )
            try Self.store(new, vault, connection)
            try Audit.record(connection, at: time, actor, team: team, "team.create", team, ["name": name])
            return new.serviceKeys
        }
    }

    /// Records an app of a team, as the deployment server or a person at the key service states it.
    public func mirror(_ app: String, of team: String) async throws {
        let known = try await database.read { connection in try Self.app(app, connection)?.team }
        if known == team { return }
        try Self.checkName(app, "app")
        let time = now()
        try await database.write { connection in
            if let known = try Self.app(app, connection)?.team {
                guard known == team else { throw ServiceError.conflict("The app \"\(app)\" belongs to another team.") }
                return
            }
            guard try connection.first("SELECT id FROM teams WHERE id = ?", team) != nil else {
                throw ServiceError.notFound("team \"\(team)\"")
            }
            try connection.execute(
                "INSERT INTO apps (id, team, name, environments, created) VALUES (?, ?, ?, '[]', ?)",
                app,
                team,
                app,
                time.milliseconds
            )
            try Audit.record(connection, at: time, Self.deploymentServer, team: team, "app.create", app)
        }
    }

    /// Records what the deployment server states about an app and a content key.
    func note(_ claim: KeyClaim) async throws {
        try await mirror(claim.app, of: claim.team)
        guard let content = claim.content, content.utf8.count <= 64 else { return }
        let place = [claim.team, claim.app, content]
        let isGranted = try await database.read { connection in try Self.isGranted(place, connection) }
        guard isGranted != claim.isEntitled else { return }
        let time = now()
        try await database.write { connection in
            guard try Self.isGranted(place, connection) != claim.isEntitled else { return }
            if claim.isEntitled {
                try connection.execute(
                    "INSERT INTO key_grants (team, app, content, granted) VALUES (?, ?, ?, ?)",
                    place[0],
                    place[1],
                    place[2],
                    time.milliseconds
                )
            } else {
                try connection.execute(
                    "DELETE FROM key_grants WHERE team = ? AND app = ? AND content = ?",
                    place[0],
                    place[1],
                    place[2]
                )
            }
            try Audit.record(
                connection,
                at: time,
                Self.deploymentServer,
                team: claim.team,
                claim.isEntitled ? "key.grant" : "key.withdraw",
                content,
                ["app": claim.app]
            )
        }
    }

    private static let deploymentServer = Principal(kind: .server, name: "deployment server")

    static func isGranted(_ place: [String], _ connection: any Connection) throws -> Bool {
        try connection.first(
            "SELECT granted FROM key_grants WHERE team = ? AND app = ? AND content = ?",
            place[0],
            place[1],
            place[2]
        ) != nil
    }
}

/// The file store of a key service, which has no files.
private struct NoBlobs: BlobStore {
    private let none = BlobError.failure("a key service keeps no files")
    var pieceByteCount: Int { 1 << 20 }
    func upload() async throws -> any BlobUpload { throw none }
    func byteCount(_ digest: BlobDigest) async throws -> Int? { nil }
    func read(_ digest: BlobDigest, _ range: Range<Int>) async throws -> [UInt8] { throw BlobError.missing(digest) }
    func localFile(_ digest: BlobDigest) async throws -> LocalBlob { throw BlobError.missing(digest) }
    func temporaryAddress(_ digest: BlobDigest, seconds: Int) -> URL? { nil }
    func digests() async throws -> [BlobDigest] { [] }
    func remove(_ digest: BlobDigest) async throws {}
}

/// The signing keys of a key service, which signs no metadata.
private struct NoSigningKeys: SigningKeyStore {
    private static let none = ServiceError.conflict("A key service signs no metadata: use the deployment server.")
    func prepare(_ database: any Database) async throws {}
    func make(team: String, role: String, _ connection: any Connection) throws -> SigningKey { throw Self.none }
    func keys(team: String, role: String, _ connection: any Connection) throws -> [SigningKey] { [] }
    func retire(team: String, role: String, keeping: Set<String>, _ connection: any Connection) throws -> Int { 0 }
}
