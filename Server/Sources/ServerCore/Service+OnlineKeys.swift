import DeploymentKeys
import Foundation
import ServerDatabase
import UpdateFramework

// New keys for everything that the server signs by itself, and the signatures that they need.

extension TeamTrust {
    static func pendingSignatures(for subject: String) -> ServiceError {
        .conflict(
            "\(subject) waits for the holders of the targets keys, who authorise its signer for devices: coreml trust "
                + "ceremony begin --waiting."
        )
    }

    // MARK: Delegations that wait

    /// Changes the delegations of the top-level targets, at once or in the waiting draft.
    mutating func changeDelegations(_ edit: (inout Targets) throws(UpdateError) -> Void) throws {
        let expires = time + UTCTime.days(Lifetime.targets)
        if try isStoredHere("targets") {
            return try metadata.updateTargets(expires: expires, signers: try signers("targets"), edit: edit)
        }
        let connection = keys.connection
        let waiting = try draft(of: "targets", connection).map { try Targets($0.signed, role: "targets") }
        let draft = try metadata.targetsDraft(expires: expires) { targets throws(UpdateError) in
            try targets.takeDelegations(of: waiting) { _ in true }
            try edit(&targets)
        }
        try store(draft: draft, of: "targets", connection)
    }

    /// Drafts the delegations that still wait after targets were signed.
    ///
    /// Delegations that were just signed, with whatever keys, are not among them.
    func carryDelegationsOn(after signed: SignedDocument, _ connection: any Connection) throws {
        guard let waiting = try draft(of: "targets", connection) else { return }
        let (now, requested) = (
            try Targets(signed.signed, role: "targets"), try Targets(waiting.signed, role: "targets")
        )
        let missing = Set(requested.delegations?.roles.map(\.name) ?? []).subtracting(
            now.delegations?.roles.map(\.name) ?? []
        )
        guard !missing.isEmpty else { return try removeDraft(of: "targets", connection) }
        let draft = try metadata.targetsDraft(expires: time + UTCTime.days(Lifetime.targets)) {
            targets throws(UpdateError) in
            try targets.takeDelegations(of: requested) { missing.contains($0) }
        }
        try store(draft: draft, of: "targets", connection)
    }

    /// Signs for the collections that were just delegated to keys of this server.
    mutating func signNewRoles() throws {
        for role in try metadata.targetsMetadata("targets")?.delegations?.roles.map(\.name) ?? []
        where role.contains(".") {
            guard try isStoredHere(role) else { continue }
            if let document = metadata.targets[Name(role)],
                try metadata.requireKeys(of: role).allSatisfy({ try document.signers($0).count >= $0.threshold })
            {
                continue
            }
            try metadata.updateTargets(role, expires: time + UTCTime.days(Lifetime.targets), signers: try signers(role))
        }
    }

    /// The keys that a draft names for a role.
    func waitingKeys(of role: String) throws -> [String] {
        let connection = keys.connection
        if let type = MetadataType.allCases.first(where: { $0.rawValue == role }) {
            return try draft(of: "root", connection).map { try Root($0.signed, role: "root").keys(of: type).keyIDs }
                ?? []
        }
        let targets = try draft(of: "targets", connection).map { try Targets($0.signed, role: "targets") }
        return targets?.keys(ofDelegated: role)?.keyIDs ?? []
    }

    /// Throws while devices do not know who signs the policies of an app.
    static func checkDirector(
        of app: String,
        _ team: String,
        _ keys: any SigningKeyStore,
        at time: Date,
        _ connection: any Connection
    ) throws {
        let name = "targets" + draftSuffix
        // The metadata is loaded only where a draft waits.
        guard
            try connection.first("SELECT version FROM trust_metadata WHERE team = ? AND name = ?", team, name) != nil
        else { return }
        let trust = try TeamTrust(team: team, connection, keys: keys, at: time)
        guard try trust.isDelegated(directorRole(app)) else { throw pendingSignatures(for: "The app \"\(app)\"") }
    }

    // MARK: New keys

    /// Names new keys for everything that the server signs by itself.
    ///
    /// These are timestamp, snapshot, the directors of all apps, the key service, and collections whose keys are on
    /// this server. Whatever needs the signatures of other people's keys waits as drafts.
    mutating func replaceOnlineKeys(serviceKey: SigningPublicKey) throws {
        let connection = keys.connection
        let old = try metadata.targetsMetadata("targets")?.delegations?.roles ?? []
        var changed: [(role: Delegations.Role, key: PublicKey)] = []
        for role in old {
            if role.name == Self.leaseRole(team) {
                changed.append((role, PublicKey(scheme: .ed25519, value: serviceKey.bytes.hexadecimal)))
            } else if try role.name.hasSuffix("@director") || isStoredHere(role.name) {
                changed.append((role, try keys.make(team: team, role: role.name).publicKey))
            }
        }
        try changeDelegations { targets throws(UpdateError) in
            for (role, key) in changed {
                try targets.delegate(
                    to: role.name,
                    keys: [key],
                    threshold: 1,
                    paths: role.paths,
                    isTerminating: role.isTerminating
                )
            }
        }
        try signNewRoles()
        let (timestamp, snapshot) = (
            try keys.make(team: team, role: "timestamp").publicKey,
            try keys.make(team: team, role: "snapshot").publicKey
        )
        let isHere = try isStoredHere("root")
        var root = try metadata.rootDraft(expires: time + UTCTime.days(Lifetime.root)) { root throws(UpdateError) in
            try root.setKeys([timestamp], threshold: 1, of: .timestamp)
            try root.setKeys([snapshot], threshold: 1, of: .snapshot)
        }
        guard isHere else { return try store(draft: root, of: "root", connection) }
        try addOwnSignatures(&root, role: "root")
        try metadata.replaceRoot(with: root)
    }

    /// Throws when targets name keys for the server's own roles that it does not have, such as those of a replaced
    /// draft.
    func checkOnlineKeys(_ document: SignedDocument, _ connection: any Connection) throws {
        let (old, new) = (try metadata.targetsMetadata("targets"), try Targets(document.signed, role: "targets"))
        for role in new.delegations?.roles.map(\.name) ?? [] where role.contains("@") {
            guard let keys = new.keys(ofDelegated: role), keys.keyIDs != old?.keys(ofDelegated: role)?.keyIDs else {
                continue
            }
            let isHere: Bool
            if role == Self.leaseRole(team) {
                let pending = try connection.first("SELECT key_id FROM pending_service_keys WHERE team = ?", team)
                isHere = try keys.keys.values.map(\.value) == [pending?.text("key_id")]
            } else {
                let held = Set(try self.keys.keys(team: team, role: role).map { try $0.publicKey.id })
                isHere = keys.keyIDs.count { held.contains($0) } >= keys.threshold
            }
            guard isHere else {
                throw ServiceError.conflict(
                    "The targets name keys for \(Self.displayName(role)) that the server does not have any more: begin the ceremony again."
                )
            }
        }
    }

    // MARK: What a draft changes

    /// The effects of signing a draft, as text.
    func changes(in draft: SignedDocument, of role: String) throws -> [String] {
        if role == "root" {
            let (old, new) = (try metadata.rootMetadata, try Root(draft.signed, role: role))
            return MetadataType.allCases.filter { old.keys(of: $0).keyIDs != new.keys(of: $0).keyIDs }.map {
                "new keys of \($0.rawValue)"
            }
        }
        let (old, new) = (try metadata.targetsMetadata(role), try Targets(draft.signed, role: role))
        let targets = new.targets.keys.filter { old?.target($0.text)?.hashes.sha256 != new.targets[$0]?.hashes.sha256 }
        let delegations = (new.delegations?.roles.map(\.name) ?? []).filter {
            old?.keys(ofDelegated: $0)?.keyIDs != new.keys(ofDelegated: $0)?.keyIDs
        }
        return targets.map { "signs \($0.text)" }.sorted()
            + delegations.map {
                (old?.keys(ofDelegated: $0) == nil ? "adds " : "new keys of ") + Self.displayName($0)
            }
    }

    /// The display name of a delegated role.
    static func displayName(_ role: String) -> String {
        if role.hasSuffix("@director") { return "the app \(role.dropLast(9))" }
        if role.hasSuffix("@keys") { return "the key service" }
        return "the collection \(role)"
    }
}

extension Targets {
    /// Adopts the delegations of other metadata.
    fileprivate mutating func takeDelegations(
        of other: Targets?,
        where isWanted: (String) -> Bool
    ) throws(UpdateError) {
        for role in other?.delegations?.roles ?? [] where isWanted(role.name) {
            guard let keys = other?.keys(ofDelegated: role.name) else { continue }
            try delegate(
                to: role.name,
                keys: keys.keyIDs.compactMap { keys.keys[Name($0)] },
                threshold: keys.threshold,
                paths: role.paths,
                isTerminating: role.isTerminating
            )
        }
    }
}

extension Service {
    /// The increase of policies' versions when their director gets a new key: more than a thief may have signed.
    private static let versionsAfterTheft = 1_000_000

    /// Creates new keys for everything that the server signs by itself, after they may have been stolen.
    ///
    /// Whatever needs the signatures of keys held elsewhere waits for them; until then the old keys remain in use.
    /// Returns the waiting drafts, none when the new keys are in use. Throws a ``ServiceError`` without permission.
    public func replaceOnlineKeys(of team: String, as actor: Principal) async throws -> [TrustDraft] {
        try actor.require(.manageKeys, in: team)
        _ = try await self.team(team, as: actor)
        let prepared =
            role == .control
            ? try await (askKeyService(.prepareServiceKey(team: team), as: actor) as ServiceKeyText).key()
            : try await prepareServiceKey(of: team, as: actor)
        let time = now()
        let drafts = try await changeTrust(of: team) { connection, trust in
            try trust.replaceOnlineKeys(serviceKey: prepared)
            try connection.execute(
                "INSERT INTO pending_service_keys (team, key_id) VALUES (?, ?) ON CONFLICT (team) DO UPDATE SET "
                    + "key_id = excluded.key_id",
                team,
                prepared.bytes.hexadecimal
            )
            let drafts = try trust.drafts(connection)
            let waiting = drafts.filter { !$0.role.contains(".") }.map(\.role).joined(separator: " ")
            try Audit.record(connection, at: time, actor, team: team, "trust.newOnlineKeys", team, ["waiting": waiting])
            return drafts
        }
        try await renewPoliciesOfNewDirectors(of: team)
        try await activateServiceKeysIfReachable()
        let keys = keys
        _ = try await database.write { connection in
            try TeamTrust(team: team, connection, keys: keys, at: time).retireKeys()
        }
        return drafts
    }

    /// Signs the policies again that were not signed by a key that the team's metadata names now.
    func renewPoliciesOfNewDirectors(of team: String) async throws {
        let (keys, time) = (keys, now())
        let isAny = try await database.write { connection in
            let trust = try TeamTrust(team: team, connection, keys: keys, at: time)
            var isAny = false
            for row in try connection.query(
                "SELECT p.app, p.collection, p.environment, p.signed FROM policies p JOIN apps a ON a.id = p.app "
                    + "WHERE a.team = ?",
                team
            ) {
                let app = try row.text("app")
                let document = try SignedDocument(parsing: try row.bytes("signed"), role: "policy")
                let named = try trust.keys(ofDelegated: TeamTrust.directorRole(app))
                guard try document.signers(named).count < named.threshold else { continue }
                isAny = true
                try connection.execute(
                    "UPDATE policies SET version = version + ?, expires = 0 WHERE app = ? AND collection = ? AND environment = ?",
                    Self.versionsAfterTheft,
                    app,
                    try row.text("collection"),
                    try row.text("environment")
                )
            }
            return isAny
        }
        if isAny { try await renewPolicies(margin: 0) }
    }

    // MARK: The key that signs for the key service

    func serviceKeys(of team: String) async throws -> [SigningPublicKey] {
        let vault = vault
        return try await database.read { connection in try Self.ring(of: team, vault, connection)?.serviceKeys ?? [] }
    }

    /// Creates a key that is to sign the key service's answers once the team's metadata names it.
    func prepareServiceKey(of team: String, as actor: Principal) async throws -> SigningPublicKey {
        let (vault, time) = (vault, now())
        return try await database.write { connection in
            guard var ring = try Self.ring(of: team, vault, connection) else {
                throw ServiceError.notFound("team \"\(team)\"")
            }
            let key = try ring.prepareSigner()
            try Self.store(ring, vault, connection)
            try Audit.record(connection, at: time, actor, team: team, "key.prepareSigner", key.keyID.description)
            return key
        }
    }

    /// Signs the key service's answers with the prepared key, whose public key is given in hexadecimal digits.
    func activateServiceKey(_ publicKey: String, of team: String, as actor: Principal) async throws {
        guard let bytes = [UInt8](hexadecimal: publicKey) else { throw ServiceError.invalid("key", "No public key.") }
        let (key, vault, time) = (try SigningPublicKey(.ed25519, bytes: bytes), vault, now())
        try await database.write { connection in
            guard var ring = try Self.ring(of: team, vault, connection) else {
                throw ServiceError.notFound("team \"\(team)\"")
            }
            guard ring.activateSigner(key.keyID) else { return }
            try Self.store(ring, vault, connection)
            try Audit.record(connection, at: time, actor, team: team, "key.activateSigner", key.keyID.description)
        }
    }

    /// Activates prepared keys now, or with the next renewal of signatures if the key service does not answer.
    ///
    /// Signed metadata is stored in either case.
    func activateServiceKeysIfReachable() async throws {
        do { try await activateServiceKeys() } catch let error as ServiceError where error.code == .unavailable {}
    }

    /// Activates prepared keys that the metadata of their teams names; repeated until it has succeeded.
    func activateServiceKeys() async throws {
        let (keys, time) = (keys, now())
        let named = try await database.read { connection in
            try connection.query("SELECT team, key_id FROM pending_service_keys").compactMap {
                row -> (String, String)? in
                let (team, key) = (try row.text("team"), try row.text("key_id"))
                let trust = try TeamTrust(team: team, connection, keys: keys, at: time)
                let values = try trust.keys(ofDelegated: TeamTrust.leaseRole(team)).keys.values.map(\.value)
                return values.contains(key) ? (team, key) : nil
            }
        }
        for (team, key) in named {
            if role == .control {
                let _: KeyLinkDone = try await askKeyService(.activateServiceKey(team: team, key: key), as: .server)
            } else {
                try await activateServiceKey(key, of: team, as: .server)
            }
            try await database.write { connection in
                _ = try connection.execute("DELETE FROM pending_service_keys WHERE team = ? AND key_id = ?", team, key)
            }
        }
    }
}
