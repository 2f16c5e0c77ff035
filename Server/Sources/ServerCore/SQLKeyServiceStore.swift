import DeploymentKeys
import Foundation
import ServerDatabase

/// The key service's records in the server's database.
struct SQLKeyServiceStore: KeyServiceStore {
    let database: any Database
    let vault: KeyVault
    /// Whether the deployment server's statements decide who may have a key, rather than recorded deployments.
    let believesGrants: Bool
    /// The conditions of enrolment for apps for which nobody has set any.
    let usualConditions: EnrolmentConditions
    let now: @Sendable () -> Date

    /// The time for which devices may still get a release's key after another release replaced it.
    private static let grace = 30 * 86_400.0

    // MARK: Teams

    func keyRing(team: String) async throws -> TeamKeyRing? {
        let vault = vault
        return try await database.read { connection in try Service.ring(of: team, vault, connection) }
    }

    func enrolmentPolicy(team: String, app: String) async throws -> EnrolmentPolicy? {
        let usualConditions = usualConditions
        return try await database.read { connection in
            guard try Service.app(app, connection)?.team == team else { return nil }
            let conditions = try Service.enrolmentConditions(of: app, usually: usualConditions, connection)
            return EnrolmentPolicy(
                minimumAttestation: conditions.requiresToken ? .token : .none,
                deviceLimit: conditions.deviceLimit
            )
        }
    }

    func enrolmentToken(team: String, id: String) async throws -> EnrolmentTokenRecord? {
        try await database.read { connection in
            guard let row = try connection.first("SELECT * FROM enrolment_tokens WHERE team = ? AND id = ?", team, id),
                let algorithm = SigningAlgorithm(rawValue: try row.text("algorithm"))
            else { return nil }
            return EnrolmentTokenRecord(
                id: id,
                publicKey: try SigningPublicKey(algorithm, bytes: row.bytes("public_key")),
                app: try row.optionalText("app"),
                notAfter: ServiceTime(seconds: try row.integer("not_after") / 1000),
                remainingUses: try row.optionalInteger("remaining")
            )
        }
    }

    // MARK: Devices

    func enrol(_ device: DeviceRecord, limit: Int?, token: String?) async throws -> EnrolmentOutcome {
        let time = now()
        return try await database.write { connection in
            if var known = try Self.device(device.device, device.team, connection) {
                guard known.status == .active else { return .refused(known.status) }
                known.renew(device)
                try Self.store(known, connection)
                return .enrolled
            }
            let count = try connection.first(
                "SELECT COUNT(*) AS count FROM devices WHERE team = ? AND app = ?",
                device.team,
                device.app
            )
            if let limit, try count?.integer("count") ?? 0 >= limit { return .deviceLimit }
            if let token {
                let used = try connection.execute(
                    "UPDATE enrolment_tokens SET remaining = remaining - 1 WHERE team = ? AND id = ? AND remaining > 0",
                    device.team,
                    token
                )
                let isUnlimited = try connection.first(
                    "SELECT id FROM enrolment_tokens WHERE team = ? AND id = ? AND remaining IS NULL",
                    device.team,
                    token
                )
                guard used == 1 || isUnlimited != nil else { return .tokenUsedUp }
            }
            try connection.execute(
                "INSERT INTO devices (team, device, app, status, record, enrolled) VALUES (?, ?, ?, ?, ?, ?)",
                device.team,
                device.device.description,
                device.app,
                device.status.rawValue,
                device.text,
                time.milliseconds
            )
            return .enrolled
        }
    }

    func device(_ device: DeviceIdentifier, team: String) async throws -> DeviceRecord? {
        try await database.read { connection in try Self.device(device, team, connection) }
    }

    func updateDevice<R: Sendable>(
        team: String,
        _ device: DeviceIdentifier,
        _ body: @Sendable (inout DeviceRecord?) throws -> R
    ) async throws -> R {
        try await withoutActuallyEscaping(body) { body in
            try await database.write { connection in
                let known = try Self.device(device, team, connection)
                var record = known
                let result = try body(&record)
                if known != nil, let record { try Self.store(record, connection) }
                return result
            }
        }
    }

    private static func device(
        _ device: DeviceIdentifier,
        _ team: String,
        _ connection: any Connection
    ) throws -> DeviceRecord? {
        try connection.first("SELECT record FROM devices WHERE team = ? AND device = ?", team, device.description).map {
            try DeviceRecord(text: $0.bytes("record"))
        }
    }

    private static func store(_ device: DeviceRecord, _ connection: any Connection) throws {
        try connection.execute(
            "UPDATE devices SET status = ?, record = ? WHERE team = ? AND device = ?",
            device.status.rawValue,
            device.text,
            device.team,
            device.device.description
        )
    }

    // MARK: Keys

    func entitlement(_ query: EntitlementQuery) async throws -> KeyEntitlement? {
        let (believesGrants, time) = (believesGrants, now())
        return try await database.read { connection in
            let content = query.content.description
            let isEntitled =
                believesGrants
                ? try Service.isGranted([query.team, query.app, content], connection)
                : try Self.isDeployed(content: content, team: query.team, app: query.app, at: time, connection)
            return isEntitled ? KeyEntitlement() : nil
        }
    }

    /// Whether a deployment of the app has a model with a content key, or had one recently.
    static func isDeployed(
        content: String,
        team: String,
        app: String,
        at time: Date,
        _ connection: any Connection
    ) throws -> Bool {
        let limit = time.addingTimeInterval(-grace)
        let rows = try connection.query(
            "SELECT r.collection, r.number FROM archives a JOIN release_archives r ON r.sha256 = a.sha256 "
                + "WHERE a.team = ? AND a.content_id = ? AND r.app = ?",
            team,
            content,
            app
        )
        return try rows.contains { row in
            try isLive(
                try row.integer("number"),
                app: app,
                collection: try row.text("collection"),
                since: limit,
                connection
            )
        }
    }

    /// Whether a deployment that is live, or was live after `limit`, names the release.
    private static func isLive(
        _ number: Int,
        app: String,
        collection: String,
        since limit: Date,
        _ connection: any Connection
    ) throws -> Bool {
        var ends: [String: Date] = [:]
        let rows = try connection.query(
            "SELECT environment, since, summary FROM live WHERE app = ? AND collection = ? ORDER BY version DESC",
            app,
            collection
        )
        for row in rows {
            let environment = try row.text("environment")
            let end = ends[environment] ?? .distantFuture
            ends[environment] = try row.date("since")
            guard end > limit else { continue }
            let deployment = try JSON.read(Deployment.self, row.text("summary"))
            if deployment.definition.releases.contains(number) { return true }
        }
        return false
    }

    func addHolder(
        _ device: DeviceIdentifier,
        team: String,
        keyID: KeyIdentifier,
        content: ContentIdentifier,
        limit: Int?
    ) async throws -> Bool {
        try await database.write { connection in
            let place = [team, keyID.description, content.description]
            let known = try connection.first(
                "SELECT device FROM key_holders WHERE team = ? AND key_id = ? AND content = ? AND device = ?",
                place[0],
                place[1],
                place[2],
                device.description
            )
            if known != nil { return true }
            if let limit {
                let count = try connection.first(
                    "SELECT COUNT(*) AS count FROM key_holders WHERE team = ? AND key_id = ? AND content = ?",
                    place[0],
                    place[1],
                    place[2]
                )
                guard try count?.integer("count") ?? 0 < limit else { return false }
            }
            try connection.execute(
                "INSERT INTO key_holders (team, key_id, content, device) VALUES (?, ?, ?, ?)",
                place[0],
                place[1],
                place[2],
                device.description
            )
            return true
        }
    }

    func record(_ lease: LeaseTerms) async throws {
        try await database.write { connection in
            _ = try connection.execute(
                "INSERT INTO leases (serial, team, app, device, key_id, content, not_before, not_after) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                lease.serial.description,
                lease.team,
                lease.app,
                lease.device.description,
                lease.keyID.description,
                lease.content.description,
                lease.notBefore.seconds * 1000,
                lease.notAfter.map { $0.seconds * 1000 }
            )
        }
    }

    // MARK: Revocations

    /// Everything that a team has revoked.
    struct Revocations: Codable {
        var version = 0
        var devices: Set<String> = []
        var keys: Set<String> = []
        var leases: Set<String> = []
    }

    func revocations(team: String) async throws -> RevocationState? {
        let time = now()
        return try await database.read { connection in
            guard try connection.first("SELECT id FROM teams WHERE id = ?", team) != nil else { return nil }
            let state = try Self.revocations(team, connection)
            return RevocationState(
                team: team,
                version: state.version,
                time: ServiceTime(seconds: Int(time.timeIntervalSince1970)),
                devices: Set(state.devices.compactMap { DeviceIdentifier($0) }),
                keys: Set(state.keys.compactMap { KeyIdentifier($0) }),
                leases: Set(state.leases.compactMap { SerialNumber($0) })
            )
        }
    }

    static func revocations(_ team: String, _ connection: any Connection) throws -> Revocations {
        guard let row = try connection.first("SELECT * FROM revocations WHERE team = ?", team) else {
            return Revocations()
        }
        return Revocations(
            version: try row.integer("version"),
            devices: try JSON.read(Set<String>.self, row.text("devices")),
            keys: try JSON.read(Set<String>.self, row.text("keys")),
            leases: try JSON.read(Set<String>.self, row.text("leases"))
        )
    }

    /// Stores a team's revocations as the next version.
    static func store(_ state: Revocations, _ team: String, at time: Date, _ connection: any Connection) throws {
        try connection.execute(
            "INSERT INTO revocations (team, version, changed, devices, keys, leases) VALUES (?, ?, ?, ?, ?, ?) "
                + "ON CONFLICT (team) DO UPDATE SET version = excluded.version, changed = excluded.changed, "
                + "devices = excluded.devices, keys = excluded.keys, leases = excluded.leases",
            team,
            state.version + 1,
            time.milliseconds,
            try JSON.text(state.devices.sorted()),
            try JSON.text(state.keys.sorted()),
            try JSON.text(state.leases.sorted())
        )
    }
}
