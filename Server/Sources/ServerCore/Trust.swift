import DeploymentKeys
import Foundation
import ServerDatabase
import UpdateFramework

/// A team's signed metadata (The Update Framework), which devices trust, as the server changes it.
///
/// Names of roles and files are those of `Documentation/Formats/trust.md`.
struct TeamTrust {
    /// The lifetimes of signed documents in days.
    enum Lifetime {
        static let root = 365
        static let targets = 180
        static let snapshot = 7
        static let timestamp = 1
    }

    var metadata: RepositoryMetadata
    let team: String
    let keys: SigningKeys
    let time: UTCTime

    // MARK: Making and loading

    /// Creates the metadata of a new team, and its keys.
    init(newTeam team: String, leaseKeys: [SigningPublicKey], keys: SigningKeys, at time: Date) throws {
        var roles: [MetadataType: (keys: [PublicKey], threshold: Int)] = [:]
        for type in MetadataType.allCases {
            roles[type] = ([try keys.make(team: team, role: type.rawValue).publicKey], 1)
        }
        self.team = team
        self.keys = keys
        self.time = UTCTime(time)
        metadata = try RepositoryMetadata(
            roles: roles,
            rootExpires: self.time + UTCTime.days(Lifetime.root),
            signers: try keys.keys(team: team, role: "root")
        )
        let leases = leaseKeys.filter { $0.algorithm == .ed25519 }.map {
            PublicKey(scheme: .ed25519, value: $0.bytes.hexadecimal)
        }
        try metadata.updateTargets(expires: self.time + UTCTime.days(Lifetime.targets), signers: try signers("targets"))
        {
            targets throws(UpdateError) in
            try targets.delegate(
                to: Self.leaseRole(team),
                keys: leases,
                threshold: 1,
                paths: .patterns(["teams/\(team)/leases/*"]),
                isTerminating: true
            )
        }
    }

    /// Loads the current metadata of a team.
    init(team: String, _ connection: any Connection, keys: any SigningKeyStore, at time: Date) throws {
        var documents: [String: SignedDocument] = [:]
        for row in try connection.query(
            "SELECT name, signed FROM trust_metadata WHERE team = ? AND is_current = 1",
            team
        ) {
            let name = try row.text("name")
            documents[name] = try SignedDocument(parsing: try row.bytes("signed"), role: name)
        }
        guard let root = documents.removeValue(forKey: "root") else { throw ServiceError.notFound("team \"\(team)\"") }
        let (snapshot, timestamp) = (
            documents.removeValue(forKey: "snapshot"), documents.removeValue(forKey: "timestamp")
        )
        self.team = team
        self.keys = SigningKeys(store: keys, connection: connection)
        self.time = UTCTime(time)
        metadata = try RepositoryMetadata(root: root, targets: documents, snapshot: snapshot, timestamp: timestamp)
    }

    // MARK: Roles

    /// The role that signs the leases of a team's keys.
    static func leaseRole(_ team: String) -> String { "\(team)@keys" }
    /// The role that signs the policies of an app.
    static func directorRole(_ app: String) -> String { "\(app)@director" }
    /// The role that signs the releases of a collection.
    static func collectionRole(_ app: String, _ collection: String) -> String { "\(app).\(collection)" }

    /// The keys of a role that the server has; throws `conflict` when it has none.
    func signers(_ role: String) throws -> [SigningKey] {
        let keys = try keys.keys(team: team, role: role)
        guard !keys.isEmpty else {
            throw ServiceError.conflict(
                "The key of the role \"\(role)\" is not on this server: make the change with coreml trust, where it is."
            )
        }
        return keys
    }

    /// Delegates to a role with a new key of this server.
    ///
    /// It takes effect at once where the targets keys are here, else in a draft that waits for their holders.
    private mutating func delegate(to role: String, paths: String) throws {
        // A ceremony may have named the role's keys already.
        guard try !isDelegated(role) else { return }
        let key = try keys.make(team: team, role: role).publicKey
        try changeDelegations { targets throws(UpdateError) in
            try targets.delegate(to: role, keys: [key], threshold: 1, paths: .patterns([paths]), isTerminating: true)
        }
    }

    /// Whether devices know who signs for the role.
    func isDelegated(_ role: String) throws -> Bool {
        try metadata.targetsMetadata("targets")?.keys(ofDelegated: role) != nil
    }

    /// Lets a new key sign the policies of an app.
    mutating func addDirector(app: String) throws {
        try delegate(to: Self.directorRole(app), paths: "apps/\(app)/policies/*")
    }

    /// Lets a new key sign the releases of a collection.
    mutating func addCollection(app: String, collection: String) throws {
        let role = Self.collectionRole(app, collection)
        try delegate(to: role, paths: "apps/\(app)/collections/\(collection)/*")
        // A role without keys signs nothing: `signNewRoles` does it when the targets have named some.
        guard try isDelegated(role), try isStoredHere(role), try metadata.targetsMetadata(role) == nil else { return }
        try metadata.updateTargets(role, expires: time + UTCTime.days(Lifetime.targets), signers: try signers(role))
    }

    /// Adds a release to the targets of its collection.
    mutating func addRelease(
        app: String,
        collection: String,
        path: String,
        bytes: [UInt8],
        _ connection: any Connection
    ) throws {
        let role = Self.collectionRole(app, collection)
        guard try isDelegated(role) else { throw Self.pendingSignatures(for: "The collection \"\(collection)\"") }
        guard try isStoredHere(role) else { return try draft(Target(path: path, bytes: bytes), of: role, connection) }
        try metadata.updateTargets(role, expires: time + UTCTime.days(Lifetime.targets), signers: try signers(role)) {
            targets throws(UpdateError) in
            targets.set(Target(path: path, bytes: bytes))
        }
    }

    /// Whether the timestamp is missing or expires within `margin` seconds, so that it must be signed again.
    func timestampExpires(within margin: Int64) throws -> Bool {
        guard let timestamp = metadata.timestamp else { return true }
        let expires = try Timestamp(timestamp.signed, role: "timestamp").expires
        return expires < time + margin
    }

    // MARK: Checking and restoring

    /// Verifies everything as a client would, at a time when nothing had expired.
    func verify() throws {
        let signedUntil = try metadata.timestamp.map { try Timestamp($0.signed, role: "timestamp").expires }
        try metadata.verify(trustedRoot: metadata.root, at: min(time, (signedUntil ?? time) + -1))
    }

    /// The keys that may sign for a role that the top-level targets delegate to.
    func keys(ofDelegated role: String) throws -> RoleKeys {
        guard let targets = try metadata.targetsMetadata("targets"), let keys = targets.keys(ofDelegated: role) else {
            throw ServiceError.notFound("role \"\(role)\" in the metadata of the team \"\(team)\"")
        }
        return keys
    }

    /// Signs everything but the root again with versions that are higher by `versions`.
    mutating func advance(by versions: Int) throws {
        for role in metadata.targets.keys.map(\.text) {
            try metadata.updateTargets(
                role,
                expires: time + UTCTime.days(Lifetime.targets),
                skipping: versions,
                signers: try signers(role)
            )
        }
        try metadata.updateSnapshot(
            expires: time + UTCTime.days(Lifetime.snapshot),
            skipping: versions,
            signers: try signers("snapshot")
        )
        try metadata.updateTimestamp(
            expires: time + UTCTime.days(Lifetime.timestamp),
            skipping: versions,
            signers: try signers("timestamp")
        )
    }

    // MARK: Storing

    /// Makes the next snapshot and timestamp, and stores everything new.
    mutating func store(_ connection: any Connection) throws {
        try metadata.updateSnapshot(expires: time + UTCTime.days(Lifetime.snapshot), signers: try signers("snapshot"))
        try storeTimestamp(connection)
    }

    /// Signs the timestamp again, and the snapshot when it expires soon, and stores them.
    mutating func storeTimestamp(_ connection: any Connection) throws {
        if let snapshot = metadata.snapshot,
            try Snapshot(snapshot.signed, role: "snapshot").expires < time + UTCTime.days(2)
        {
            try metadata.updateSnapshot(
                expires: time + UTCTime.days(Lifetime.snapshot),
                signers: try signers("snapshot")
            )
        }
        try metadata.updateTimestamp(
            expires: time + UTCTime.days(Lifetime.timestamp),
            signers: try signers("timestamp")
        )
        try store(connection, "root", metadata.root, Root.self)
        for (name, document) in metadata.targets { try store(connection, name.text, document, Targets.self) }
        if let snapshot = metadata.snapshot { try store(connection, "snapshot", snapshot, Snapshot.self) }
        if let timestamp = metadata.timestamp { try store(connection, "timestamp", timestamp, Timestamp.self) }
        // Only the newest timestamp is ever requested.
        try connection.execute(
            "DELETE FROM trust_metadata WHERE team = ? AND name = 'timestamp' AND is_current = 0",
            team
        )
    }

    private func store<Metadata: RoleMetadata>(
        _ connection: any Connection,
        _ name: String,
        _ document: SignedDocument,
        _ type: Metadata.Type
    ) throws {
        let metadata = try Metadata(document.signed, role: name)
        guard
            try connection.first(
                "SELECT version FROM trust_metadata WHERE team = ? AND name = ? AND version = ?",
                team,
                name,
                metadata.version
            )
                == nil
        else { return }
        try connection.execute("UPDATE trust_metadata SET is_current = 0 WHERE team = ? AND name = ?", team, name)
        try connection.execute(
            "INSERT INTO trust_metadata (team, name, version, is_current, signed, expires) VALUES (?, ?, ?, 1, ?, ?)",
            team,
            name,
            metadata.version,
            document.bytes,
            Int(metadata.expires.secondsSince1970) * 1000
        )
    }
}

extension Service {
    /// Changes the signed metadata of a team, and the records that belong to it, in one transaction.
    func changeTrust<R: Sendable>(
        of team: String,
        _ body: @escaping @Sendable (any Connection, inout TeamTrust) throws -> R
    ) async throws -> R {
        let (keys, time) = (keys, now())
        return try await database.write { connection in
            var trust = try TeamTrust(team: team, connection, keys: keys, at: time)
            let result = try body(connection, &trust)
            try trust.store(connection)
            return result
        }
    }

    // MARK: What devices fetch

    /// A file of a team's metadata: `3.root.json`, `timestamp.json`, `5.shop.FlowerModels.json`.
    ///
    /// `nil` when there is none with this name.
    public func trustMetadata(team: String, file: String) async throws -> [UInt8]? {
        guard file.hasSuffix(".json") else { return nil }
        let name = String(file.dropLast(5))
        return try await database.read { connection in
            if name == "timestamp" {
                return try connection.first(
                    "SELECT signed FROM trust_metadata WHERE team = ? AND name = 'timestamp' AND is_current = 1",
                    team
                )?.bytes("signed")
            }
            guard let dot = name.firstIndex(of: "."), let version = Int(name[..<dot]) else { return nil }
            return try connection.first(
                "SELECT signed FROM trust_metadata WHERE team = ? AND name = ? AND version = ?",
                team,
                String(name[name.index(after: dot)...]),
                version
            )?.bytes("signed")
        }
    }

    /// A release document by its path below a team's targets: `apps/A/collections/C/HASH.3.json`.
    ///
    /// `nil` when there is none with this path.
    public func target(team: String, path: String) async throws -> [UInt8]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0] == "apps", parts[2] == "collections", parts[4].hasSuffix(".json") else {
            return nil
        }
        let name = parts[4].dropLast(5).split(separator: ".")
        guard name.count == 2, let number = Int(name[1]) else { return nil }
        let hash = String(name[0])
        return try await database.read { connection in
            try connection.first(
                "SELECT r.document FROM releases r JOIN apps a ON a.id = r.app "
                    + "WHERE a.team = ? AND r.app = ? AND r.collection = ? AND r.number = ? AND r.sha256 = ?",
                team,
                parts[1],
                parts[3],
                number,
                hash
            )?.bytes("document")
        }
    }

    /// The current root of a team, which apps contain.
    func currentRoot(team: String) async throws -> [UInt8]? {
        try await database.read { connection in
            try connection.first(
                "SELECT signed FROM trust_metadata WHERE team = ? AND name = 'root' AND is_current = 1",
                team
            )?.bytes("signed")
        }
    }

    /// Signs timestamps and policies again that expire within `margin` seconds, by default 23 hours.
    ///
    /// It is to be called periodically; of several servers that share a database one does it at a time.
    public func renewSignatures(margin: Int = 23 * 3600) async throws {
        _ = try await database.exclusively("renewal") { try await renewAll(margin: margin) }
    }

    private func renewAll(margin: Int) async throws {
        let teams = try await database.read { connection in
            try connection.query("SELECT id FROM teams").map { try $0.text("id") }
        }
        let (keys, time) = (keys, now())
        for team in teams {
            try await database.write { connection in
                var trust = try TeamTrust(team: team, connection, keys: keys, at: time)
                if try trust.timestampExpires(within: Int64(margin)) { try trust.storeTimestamp(connection) }
            }
        }
        try await renewPolicies(margin: margin)
        try await activateServiceKeys()
    }
}

extension UTCTime {
    init(_ date: Date) { self.init(secondsSince1970: Int64(date.timeIntervalSince1970)) }
}
