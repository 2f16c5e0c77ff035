import DeploymentPolicy
public import Foundation
import ServerDatabase
import UpdateFramework

/// The holders of a team's signing keys, and the consequences.
public struct TrustStatus: Sendable, Codable {
    /// The risk if an attacker controls the server.
    public enum Level: String, Sendable, Codable {
        /// Sign everything: the keys of root or targets are on the server.
        case server
        /// Sign releases of collections whose keys are on the server, until the holders of the targets keys replace
        /// them.
        case releases
        /// Choose among the releases that their publishers signed, and nothing else.
        case selection
    }

    /// The state of a role.
    public struct Role: Sendable, Codable {
        /// The role's name.
        public let name: String
        /// The version of its metadata.
        public let version: Int
        /// The date at which its metadata expires.
        public let expires: Date
        /// The number of keys that must sign.
        public let threshold: Int
        /// The ids of its keys.
        public let keys: [String]
        /// The number of its keys that are on this server.
        public let held: Int
    }

    /// The risk if an attacker controls the server.
    public let level: Level
    /// The roles of the team.
    public let roles: [Role]
}

/// Metadata that still lacks signatures.
public struct TrustDraft: Sendable, Codable {
    /// The role that it belongs to.
    public let role: String
    /// The file with its present signatures.
    public let document: Data
    /// The number of keys that must still sign.
    public let missing: Int
    /// The ids of the keys that may sign and have not.
    public let waitsFor: [String]
    /// The effects of signing it, as text for people.
    public let changes: [String]
}

extension TeamTrust {
    /// Drafts are stored beside signed metadata, under names that no role has, and are never current.
    static let draftSuffix = "~draft"

    func isStoredHere(_ role: String) throws -> Bool {
        let named = Set(try metadata.requireKeys(of: role).flatMap(\.keyIDs))
        return try keys.keys(team: team, role: role).contains { named.contains(try $0.publicKey.id) }
    }

    // MARK: Status

    func status() throws -> TrustStatus {
        let root = try metadata.rootMetadata
        var roles: [TrustStatus.Role] = [try role(root.keys(of: .root), root)]
        if let snapshot = try metadata.snapshotMetadata { roles.append(try role(root.keys(of: .snapshot), snapshot)) }
        if let timestamp = try metadata.timestampMetadata {
            roles.append(try role(root.keys(of: .timestamp), timestamp))
        }
        for name in metadata.targets.keys.sorted() {
            guard let targets = try metadata.targetsMetadata(name.text) else { continue }
            roles.append(try role(try metadata.requireKeys(of: name.text)[0], targets))
        }
        func isSignedByServer(_ role: TrustStatus.Role) -> Bool { role.held >= role.threshold }
        let isAll = roles.contains { ["root", "targets"].contains($0.name) && isSignedByServer($0) }
        let online = ["root", "targets", "snapshot", "timestamp"]
        let signsReleases = roles.contains { !online.contains($0.name) && isSignedByServer($0) }
        return TrustStatus(level: isAll ? .server : signsReleases ? .releases : .selection, roles: roles)
    }

    private func role(_ keys: RoleKeys, _ metadata: some RoleMetadata) throws -> TrustStatus.Role {
        let held = Set(try self.keys.keys(team: team, role: keys.role).map { try $0.publicKey.id })
        return TrustStatus.Role(
            name: keys.role,
            version: metadata.version,
            expires: Date(timeIntervalSince1970: Double(metadata.expires.secondsSince1970)),
            threshold: keys.threshold,
            keys: keys.keyIDs,
            held: keys.keyIDs.count { held.contains($0) }
        )
    }

    // MARK: Replacing

    /// Accepts metadata that was signed elsewhere: a root, targets, roles of collections.
    ///
    /// The server adds the signatures of the keys that it holds, so that the old root's key can hand over to new ones.
    mutating func replace(_ documents: [String: SignedDocument], _ connection: any Connection) throws {
        var documents = documents
        if var root = documents.removeValue(forKey: "root") {
            try addOwnSignatures(&root, role: "root")
            try metadata.replaceRoot(with: root)
            // A waiting draft follows the previous root.
            try removeDraft(of: "root", connection)
        }
        // The top-level role first: it names the keys of the others.
        for role in documents.keys.sorted(by: { $0 == "targets" || $1 != "targets" && $0 < $1 }) {
            guard var document = documents[role] else { continue }
            try addOwnSignatures(&document, role: role)
            if let draft = try draft(of: role, connection), draft.signed.fileBytes == document.signed.fileBytes {
                for signature in draft.signatures { document.addIfNew(signature) }
            }
            let missing = try metadata.status(of: document, role: role).map(\.missing).max() ?? 0
            guard missing == 0 || !Self.isCollection(role) else {
                try store(draft: document, of: role, connection)
                continue
            }
            if role == "targets" { try checkOnlineKeys(document, connection) }
            try metadata.replaceTargets(role, with: document)
            if role == "targets" {
                try carryDelegationsOn(after: document, connection)
            } else {
                try removeDraft(of: role, connection)
            }
        }
        try signNewRoles()
        // Roles with new keys must be signed with them.
        _ = try metadata.files()
    }

    private static func isCollection(_ role: String) -> Bool { role.contains(".") }

    func addOwnSignatures(_ document: inout SignedDocument, role: String) throws {
        let named = Set(try metadata.status(of: document, role: role).flatMap { $0.keys.keyIDs })
        for key in try keys.keys(team: team, role: role) where named.contains(try key.publicKey.id) {
            try document.sign(with: key)
        }
    }

    /// Removes private keys that their roles do not name any more, and returns their number.
    func retireKeys() throws -> Int {
        var count = 0
        let delegated = try metadata.targetsMetadata("targets")?.delegations?.roles.map(\.name) ?? []
        for role in MetadataType.allCases.map(\.rawValue) + delegated {
            let named = try Set(metadata.requireKeys(of: role).flatMap(\.keyIDs)).union(waitingKeys(of: role))
            count += try keys.retire(team: team, role: role, keeping: named)
        }
        return count
    }

    // MARK: Drafts

    func drafts(_ connection: any Connection) throws -> [TrustDraft] {
        let collections = metadata.targets.keys.map(\.text).filter { $0 != "targets" }.sorted()
        return try (["root", "targets"] + collections).compactMap { role in
            guard let draft = try draft(of: role, connection) else { return nil }
            let status = try metadata.status(of: draft, role: role)
            return TrustDraft(
                role: role,
                document: Data(draft.bytes),
                missing: status.map(\.missing).max() ?? 0,
                waitsFor: Set(status.flatMap { status in status.keys.keyIDs.filter { !status.signers.contains($0) } })
                    .sorted(),
                changes: try changes(in: draft, of: role)
            )
        }
    }

    func draft(of role: String, _ connection: any Connection) throws -> SignedDocument? {
        try connection.first(
            "SELECT signed FROM trust_metadata WHERE team = ? AND name = ?",
            team,
            role + Self.draftSuffix
        ).map { try SignedDocument(parsing: $0.bytes("signed"), role: role) }
    }

    /// Drafts metadata that signs a release with a role's keys, in addition to those already waiting.
    func draft(_ target: Target, of role: String, _ connection: any Connection) throws {
        let waiting = try draft(of: role, connection).map { try Targets($0.signed, role: role) }
        let document = try metadata.targetsDraft(role, expires: time + UTCTime.days(Lifetime.targets)) {
            targets throws(UpdateError) in
            for (_, other) in waiting?.targets ?? [:] { targets.set(other) }
            targets.set(target)
        }
        try store(draft: document, of: role, connection)
    }

    func store(draft: SignedDocument, of role: String, _ connection: any Connection) throws {
        try removeDraft(of: role, connection)
        let header =
            role == "root" ? try Root(draft.signed, role: role).header : try Targets(draft.signed, role: role).header
        try connection.execute(
            "INSERT INTO trust_metadata (team, name, version, is_current, signed, expires) VALUES (?, ?, ?, 0, ?, ?)",
            team,
            role + Self.draftSuffix,
            header.version,
            draft.bytes,
            Int(header.expires.secondsSince1970) * 1000
        )
    }

    func removeDraft(of role: String, _ connection: any Connection) throws {
        try connection.execute(
            "DELETE FROM trust_metadata WHERE team = ? AND name = ?",
            team,
            role + Self.draftSuffix
        )
    }

    /// Whether a release still lacks its publisher's signature.
    static func isWaiting(_ release: ReleaseDocument, _ connection: any Connection) throws -> Bool {
        let role = collectionRole(release.app, release.collection)
        guard
            let row = try connection.first(
                "SELECT m.signed FROM trust_metadata m JOIN apps a ON a.team = m.team WHERE a.id = ? AND m.name = ?",
                release.app,
                role + draftSuffix
            )
        else { return false }
        let draft = try SignedDocument(parsing: try row.bytes("signed"), role: role)
        guard try Targets(draft.signed, role: role).target(release.target) != nil else { return false }
        // A release in a later draft may already be signed.
        let current = try connection.first(
            "SELECT m.signed FROM trust_metadata m JOIN apps a ON a.team = m.team WHERE a.id = ? AND m.name = ? AND m.is_current = 1",
            release.app,
            role
        )
        guard let current else { return true }
        let signed = try SignedDocument(parsing: try current.bytes("signed"), role: role)
        return try Targets(signed.signed, role: role).target(release.target) == nil
    }
}

extension SignedDocument {
    fileprivate mutating func addIfNew(_ signature: Signature) {
        if !signatures.contains(where: { $0.keyID == signature.keyID }) { add(signature) }
    }
}

extension Service {
    /// The holders of a team's signing keys.
    public func trustStatus(of team: String, as actor: Principal) async throws -> TrustStatus {
        try actor.require(.view, in: team)
        let (keys, time) = (keys, now())
        return try await database.read { connection in
            try TeamTrust(team: team, connection, keys: keys, at: time).status()
        }
    }

    /// The metadata of a team that lacks signatures.
    public func trustDrafts(of team: String, as actor: Principal) async throws -> [TrustDraft] {
        try actor.require(.view, in: team)
        let (keys, time) = (keys, now())
        return try await database.read { connection in
            try TeamTrust(team: team, connection, keys: keys, at: time).drafts(connection)
        }
    }

    /// Accepts metadata that was signed elsewhere, and removes the private keys that it replaces.
    ///
    /// - Parameters:
    ///   - team: the team.
    ///   - files: the signed files by the names of their roles, 1 to 64.
    ///   - actor: the person who uploads them.
    /// - Returns: the new status.
    /// - Throws: a ``ServiceError`` that names the file that devices would refuse.
    public func replaceTrust(of team: String, with files: [String: Data], as actor: Principal) async throws
        -> TrustStatus
    {
        try actor.require(.manageKeys, in: team)
        return try await replace(files, of: team, as: actor)
    }

    /// Accepts metadata that publishers signed, for the roles of collections only.
    ///
    /// Throws a ``ServiceError`` for other roles, and where ``replaceTrust(of:with:as:)`` does.
    public func signReleases(of team: String, with files: [String: Data], as actor: Principal) async throws
        -> TrustStatus
    {
        try actor.require(.publish, in: team)
        for role in files.keys where !role.contains(".") {
            throw ServiceError.invalid("documents.\(role)", "Only roles of collections are signed in this way.")
        }
        return try await replace(files, of: team, as: actor)
    }

    private func replace(_ files: [String: Data], of team: String, as actor: Principal) async throws -> TrustStatus {
        guard !files.isEmpty, files.count <= 64 else {
            throw ServiceError.invalid("documents", "1 to 64 signed files are needed.")
        }
        let time = now()
        let status: TrustStatus
        do {
            let documents = try Dictionary(
                uniqueKeysWithValues: files.map { ($0.key, try SignedDocument(parsing: Array($0.value), role: $0.key)) }
            )
            status = try await changeTrust(of: team) { connection, trust in
                try trust.replace(documents, connection)
                try Audit.record(
                    connection,
                    at: time,
                    actor,
                    team: team,
                    "trust.replace",
                    team,
                    ["roles": documents.keys.sorted().joined(separator: " ")]
                )
                return try trust.status()
            }
        } catch let error as UpdateError {
            throw ServiceError.invalid("documents.\(error.role)", "\(error.description) (\(error.code.rawValue))")
        }
        try await renewPoliciesOfNewDirectors(of: team)
        try await activateServiceKeysIfReachable()
        // Keys are removed only after the metadata was stored.
        let keys = keys
        let retired = try await database.write { connection in
            try TeamTrust(team: team, connection, keys: keys, at: time).retireKeys()
        }
        return retired == 0 ? status : try await trustStatus(of: team, as: actor)
    }

    /// Throws `conflict` while a release lacks its publisher's signature: devices would refuse it.
    static func requireSignature(of release: ReleaseDocument, _ connection: any Connection) throws {
        guard try TeamTrust.isWaiting(release, connection) else { return }
        throw ServiceError.conflict(
            "Release \(release.number) of \"\(release.collection)\" waits for the signature of its publisher: coreml trust "
                + "sign-release, where the key is."
        )
    }
}
