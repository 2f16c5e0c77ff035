/// The metadata that a client trusts, and the rules by which newer metadata replaces it (TUF specification, section 5).
///
/// It uses neither network nor disk: the caller offers bytes in the specification's order, and each file either is
/// trusted from then on or refused with an error that leaves everything unchanged.
public struct TrustedMetadata: Sendable {
    /// Whether expired metadata is refused or only noted in ``TrustedMetadata/expired``.
    public enum ExpiryRule: Sendable { case refuse, note }

    /// The time at which the update started, which every expiry is compared with (section 5.2).
    public let start: UTCTime
    /// Whether expired metadata is refused or only noted.
    public let expiryRule: ExpiryRule
    /// The newest root.
    public private(set) var root: Root
    /// The newest timestamp; `nil` before there is one.
    public private(set) var timestamp: Timestamp?
    /// The newest snapshot; `nil` before there is one.
    public private(set) var snapshot: Snapshot?
    /// Targets metadata by role and the keys that verified it: one delegator's keys do not count for another's.
    private var roles: [RoleKeys.Identity: Targets] = [:]
    /// The roles whose metadata had expired at the start, where that is only noted.
    public private(set) var expired: [(role: String, expires: UTCTime)] = []
    /// The reasons why stored metadata could not be used any more.
    ///
    /// It is damaged, or older than what the repository has, or its role has other keys now; the repository's metadata
    /// replaces it.
    public internal(set) var setAside: [UpdateError] = []
    /// Whether the snapshot is the one that the timestamp names.
    private var isSnapshotFinal = false
    private var isRootFinal = false

    /// Begins with a root that is trusted beforehand, which must be signed by its own keys but may have expired.
    ///
    /// - Parameters:
    ///   - bytes: the root's file.
    ///   - start: the time at which the update starts.
    ///   - expiryRule: whether expired metadata is refused, as by default, or only noted.
    /// - Throws: `malformed`, `wrongType`, `unsupportedKey` or `threshold`.
    public init(
        trustedRoot bytes: [UInt8],
        start: UTCTime,
        expiryRule: ExpiryRule = .refuse
    ) throws(UpdateError) {
        let document = try SignedDocument(parsing: bytes, role: "root")
        root = try Root(document.signed, role: "root")
        try document.verify(root.keys(of: .root))
        self.start = start
        self.expiryRule = expiryRule
    }

    // MARK: Root (section 5.3)

    /// Accepts the next root, which the keys of the current one and its own must sign.
    ///
    /// Throws `wrongVersion` unless its version is one more, and `threshold`.
    public mutating func updateRoot(_ bytes: [UInt8]) throws(UpdateError) {
        precondition(!isRootFinal, "roots come before all other metadata")
        let document = try SignedDocument(parsing: bytes, role: "root")
        let new = try Root(document.signed, role: "root")
        try document.verify(root.keys(of: .root))
        guard new.version - 1 == root.version else {
            throw wrongVersion("root", new.version, "the version of its name, one more than \(root.version)")
        }
        try document.verify(new.keys(of: .root))
        root = new
    }

    /// Declares that there is no newer root; throws `expired` when the current one has expired.
    public mutating func finishRoot() throws(UpdateError) {
        try checkExpiry("root", root.expires)
        isRootFinal = true
    }

    // MARK: Timestamp (section 5.4)

    /// Accepts a timestamp that was trusted in an earlier update, so that no older one can replace it; it may have
    /// expired.
    public mutating func restoreTimestamp(_ bytes: [UInt8]) throws(UpdateError) {
        precondition(isRootFinal && timestamp == nil, "the stored timestamp comes first after the root")
        timestamp = try read(Timestamp.self, bytes, root.keys(of: .timestamp))
    }

    /// Accepts a timestamp of the repository.
    ///
    /// - Parameter bytes: the timestamp's file.
    /// - Returns: whether it is newer than the trusted one.
    /// - Throws: `rollback`, `expired`, `threshold` or `malformed`.
    public mutating func updateTimestamp(_ bytes: [UInt8]) throws(UpdateError) -> Bool {
        precondition(isRootFinal && snapshot == nil, "the timestamp comes after the root and before the snapshot")
        let new = try read(Timestamp.self, bytes, root.keys(of: .timestamp))
        if let old = timestamp {
            guard new.version >= old.version else { throw rollback("timestamp", from: old.version, to: new.version) }
            if new.version == old.version {
                try checkExpiry("timestamp", old.expires)
                return false
            }
            guard new.snapshot.version >= old.snapshot.version else {
                throw rollback("snapshot", from: old.snapshot.version, to: new.snapshot.version)
            }
        }
        try checkExpiry("timestamp", new.expires)
        timestamp = new
        return true
    }

    /// Accepts the restored timestamp as the newest, when there is no network to ask; throws `missing` or `expired`.
    public mutating func finishTimestamp() throws(UpdateError) {
        guard let timestamp else { throw Self.isMissing("timestamp") }
        try checkExpiry("timestamp", timestamp.expires)
    }

    // MARK: Snapshot (section 5.5)

    /// Accepts a snapshot that was trusted in an earlier update.
    ///
    /// - Parameter bytes: the snapshot's file.
    /// - Returns: whether it is still the newest; if not, it only keeps newer ones from rolling back.
    /// - Throws: `missing` without a timestamp, `threshold` or `malformed`.
    public mutating func restoreSnapshot(_ bytes: [UInt8]) throws(UpdateError) -> Bool {
        let timestamp = try finalTimestamp
        let old = try read(Snapshot.self, bytes, root.keys(of: .snapshot))
        snapshot = old
        isSnapshotFinal = old.version == timestamp.snapshot.version && (expiryRule == .note || start < old.expires)
        if isSnapshotFinal { try checkExpiry("snapshot", old.expires) }
        return isSnapshotFinal
    }

    /// Accepts a snapshot of the repository.
    ///
    /// Throws `wrongLength`, `wrongHash`, `wrongVersion`, `rollback`, `expired`, `threshold` or `malformed`.
    public mutating func updateSnapshot(_ bytes: [UInt8]) throws(UpdateError) {
        precondition(roles.isEmpty, "the snapshot comes before targets")
        let promised = try finalTimestamp.snapshot
        try promised.verify(bytes, role: "snapshot")
        let new = try read(Snapshot.self, bytes, root.keys(of: .snapshot))
        try checkRollback(to: new)
        guard new.version == promised.version else {
            throw wrongVersion("snapshot", new.version, "that of the timestamp, \(promised.version)")
        }
        try checkExpiry("snapshot", new.expires)
        snapshot = new
        isSnapshotFinal = true
    }

    /// Throws `rollback` when a role has vanished from the snapshot or has a lower version.
    private func checkRollback(to new: Snapshot) throws(UpdateError) {
        for (name, old) in (snapshot?.files ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let file = new.files[name] else {
                throw UpdateError(
                    .rollback,
                    name.text,
                    "the new snapshot no longer lists it",
                    remedy:
                        "Publish a snapshot that lists it, or give the snapshot role new keys; this may be an attack"
                )
            }
            guard file.version >= old.version else { throw rollback(name.text, from: old.version, to: file.version) }
        }
    }

    // MARK: Targets (sections 5.6 and 5.6.7)

    /// Accepts the top-level targets.
    ///
    /// Throws `wrongLength`, `wrongHash`, `wrongVersion`, `notListed`, `expired`, `threshold` or `malformed`.
    public mutating func updateTargets(_ bytes: [UInt8]) throws(UpdateError) {
        try updateTargets(bytes, root.keys(of: .targets))
    }

    /// Accepts targets metadata that the given keys, which its delegator names, must sign.
    @discardableResult
    mutating func updateTargets(_ bytes: [UInt8], _ keys: RoleKeys) throws(UpdateError) -> Targets {
        let targets = try verifiedTargets(bytes, keys)
        roles[keys.identity] = targets
        return targets
    }

    /// The metadata of a role that the given keys verified; `nil` when none was loaded.
    func loaded(_ keys: RoleKeys) -> Targets? { roles[keys.identity] }

    private mutating func verifiedTargets(_ bytes: [UInt8], _ keys: RoleKeys) throws(UpdateError) -> Targets {
        let promised = try file(of: keys.role)
        try promised.verify(bytes, role: keys.role)
        let new = try read(Targets.self, bytes, keys)
        guard new.version == promised.version else {
            throw wrongVersion(keys.role, new.version, "that of the snapshot, \(promised.version)")
        }
        try checkExpiry(keys.role, new.expires)
        return new
    }

    /// The snapshot that the timestamp names.
    var promisedSnapshot: MetadataFile { get throws(UpdateError) { try finalTimestamp.snapshot } }

    /// The snapshot's entry for a role's metadata; throws `notListed` where there is none.
    func file(of role: String) throws(UpdateError) -> MetadataFile {
        guard let snapshot, isSnapshotFinal else { throw Self.isMissing("snapshot") }
        guard let file = snapshot.file(of: role) else {
            throw UpdateError(
                .notListed,
                role,
                "the snapshot does not list it, although it is delegated to",
                remedy: "Publish the role and a new snapshot"
            )
        }
        return file
    }

    /// The top-level targets; never `nil` after an update.
    public var targets: Targets? { loaded(root.keys(of: .targets)) }

    /// The keys and threshold of a role that the top-level targets delegate to; `nil` when they do not.
    public func keys(ofDelegated name: String) -> RoleKeys? { targets?.keys(ofDelegated: name) }

    // MARK: Validity

    /// The time until which all loaded metadata is valid: the earliest of the expiry dates.
    public var validUntil: UTCTime {
        let dates = [root.expires, timestamp?.expires, snapshot?.expires] + roles.values.map(\.expires)
        return dates.compactMap(\.self).min() ?? root.expires
    }

    /// Throws `expired` when metadata had expired and was only noted: nothing may be installed by it.
    public func requireCurrent() throws(UpdateError) {
        if let first = expired.first { throw Self.isExpired(first.role, first.expires, start) }
    }

    // MARK: Rules

    private var finalTimestamp: Timestamp {
        get throws(UpdateError) {
            guard let timestamp else { throw Self.isMissing("timestamp") }
            guard expiryRule == .note || start < timestamp.expires else {
                throw Self.isExpired("timestamp", timestamp.expires, start)
            }
            return timestamp
        }
    }

    private func read<Metadata: RoleMetadata>(
        _ type: Metadata.Type,
        _ bytes: [UInt8],
        _ keys: RoleKeys
    ) throws(UpdateError) -> Metadata {
        let document = try SignedDocument(parsing: bytes, role: keys.role)
        let metadata = try Metadata(document.signed, role: keys.role)
        try document.verify(keys)
        return metadata
    }

    private mutating func checkExpiry(_ role: String, _ expires: UTCTime) throws(UpdateError) {
        if start < expires { return }
        guard expiryRule == .note else { throw Self.isExpired(role, expires, start) }
        expired.append((role, expires))
    }

    private static func isExpired(_ role: String, _ expires: UTCTime, _ start: UTCTime) -> UpdateError {
        UpdateError(
            .expired,
            role,
            "it expired at \(expires), and it is \(start)",
            remedy: "Publish it again; if others get newer metadata, someone may withhold it, or the clock is wrong"
        )
    }

    private func rollback(_ role: String, from old: Int, to new: Int) -> UpdateError {
        UpdateError(
            .rollback,
            role,
            "version \(new) is offered, but \(old) was trusted before",
            remedy: "Publish a version above \(old), or give the role new keys; this may be an attack"
        )
    }

    private func wrongVersion(_ role: String, _ version: Int, _ expected: String) -> UpdateError {
        UpdateError(
            .wrongVersion,
            role,
            "its version is \(version), but must be \(expected)",
            remedy: "Publish files that belong together; someone may have mixed them"
        )
    }

    private static func isMissing(_ role: String) -> UpdateError {
        UpdateError(.missing, role, "there is no usable one", remedy: "Update from the repository first")
    }
}
