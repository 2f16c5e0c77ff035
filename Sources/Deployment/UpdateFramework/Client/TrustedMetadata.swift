/// The metadata that a client trusts, and the rules by which newer metadata takes its place (TUF specification, section 5).
///
/// It knows neither network nor disk: whoever has bytes offers them in the specification's order, and each either is trusted from
/// then on or refused with an error that leaves everything as it was.
public struct TrustedMetadata: Sendable {
    /// Whether metadata past its time is refused or only noted.
    public enum ExpiryRule: Sendable { case refuse, note }

    /// The update's start, which every expiry is compared with (section 5.2).
    public let start: UTCTime
    public let expiryRule: ExpiryRule
    public private(set) var root: Root
    public private(set) var timestamp: Timestamp?
    public private(set) var snapshot: Snapshot?
    /// Targets metadata by the role and the keys that it was verified with: who is trusted by one delegator is not by another.
    private var roles: [RoleKeys.Identity: Targets] = [:]
    /// What was past its time at the start, when that is only noted.
    public private(set) var expired: [(role: String, expires: UTCTime)] = []
    /// Stored metadata that cannot be used any more, and why: it is damaged, or older than what the repository has, or its role
    /// has other keys now.  The repository's takes its place.
    public internal(set) var setAside: [UpdateError] = []
    /// Whether the snapshot is the one that the timestamp names.
    private var isSnapshotFinal = false
    private var isRootFinal = false

    /// Begins with a root that is trusted beforehand.  It has to be signed by itself; it may be expired.
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

    /// Takes the next root, which the keys of this one and its own have to sign.
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

    /// Says that there is no newer root.
    /// - Throws: `expired`.
    public mutating func finishRoot() throws(UpdateError) {
        try checkExpiry("root", root.expires)
        isRootFinal = true
    }

    // MARK: Timestamp (section 5.4)

    /// Takes a timestamp that was trusted in an earlier update, so that no older one can take its place.  It may be expired.
    public mutating func restoreTimestamp(_ bytes: [UInt8]) throws(UpdateError) {
        precondition(isRootFinal && timestamp == nil, "the stored timestamp comes first behind the root")
        timestamp = try read(Timestamp.self, bytes, root.keys(of: .timestamp))
    }

    /// Takes a timestamp of the repository.
    /// - Returns: whether it is newer than the trusted one.
    public mutating func updateTimestamp(_ bytes: [UInt8]) throws(UpdateError) -> Bool {
        precondition(isRootFinal && snapshot == nil, "the timestamp comes behind the root and before the snapshot")
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

    /// Trusts the restored timestamp as the newest, when there is no network to ask.
    public mutating func finishTimestamp() throws(UpdateError) {
        guard let timestamp else { throw Self.isMissing("timestamp") }
        try checkExpiry("timestamp", timestamp.expires)
    }

    // MARK: Snapshot (section 5.5)

    /// Takes a snapshot that was trusted in an earlier update.
    /// - Returns: whether it still is the newest.  If not, it only keeps newer ones from rolling back.
    public mutating func restoreSnapshot(_ bytes: [UInt8]) throws(UpdateError) -> Bool {
        let timestamp = try finalTimestamp
        let old = try read(Snapshot.self, bytes, root.keys(of: .snapshot))
        snapshot = old
        isSnapshotFinal = old.version == timestamp.snapshot.version && (expiryRule == .note || start < old.expires)
        if isSnapshotFinal { try checkExpiry("snapshot", old.expires) }
        return isSnapshotFinal
    }

    /// Takes a snapshot of the repository.
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

    /// A role may neither vanish from the snapshot nor go back in it.
    private func checkRollback(to new: Snapshot) throws(UpdateError) {
        for (name, old) in (snapshot?.files ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let file = new.files[name] else {
                throw UpdateError(
                    .rollback,
                    name.text,
                    "the new snapshot does not list it any more",
                    remedy:
                        "Publish a snapshot that lists it, or give the snapshot role new keys; this may be an attack"
                )
            }
            guard file.version >= old.version else { throw rollback(name.text, from: old.version, to: file.version) }
        }
    }

    // MARK: Targets (sections 5.6 and 5.6.7)

    /// Takes the top-level targets.
    public mutating func updateTargets(_ bytes: [UInt8]) throws(UpdateError) {
        try updateTargets(bytes, root.keys(of: .targets))
    }

    /// Takes targets metadata that the given keys, which its delegator names, have to sign.
    @discardableResult
    mutating func updateTargets(_ bytes: [UInt8], _ keys: RoleKeys) throws(UpdateError) -> Targets {
        let targets = try verifiedTargets(bytes, keys)
        roles[keys.identity] = targets
        return targets
    }

    /// What was loaded of a role by the given keys.
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

    /// What the snapshot says of a role's metadata.
    /// - Throws: `notListed`.
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

    /// The top-level targets; there are some behind every update.
    public var targets: Targets? { loaded(root.keys(of: .targets)) }

    /// The keys and threshold of a role that the top-level targets delegate to.
    public func keys(ofDelegated name: String) -> RoleKeys? { targets?.keys(ofDelegated: name) }

    // MARK: Validity

    /// Until when all that was loaded is valid: the earliest of the expiry dates.
    public var validUntil: UTCTime {
        let dates = [root.expires, timestamp?.expires, snapshot?.expires] + roles.values.map(\.expires)
        return dates.compactMap(\.self).min() ?? root.expires
    }

    /// - Throws: `expired` when something was past its time and only noted: nothing may be installed by it.
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
            remedy: "Publish it anew; if others get newer metadata, somebody may hold it back, or the clock is wrong"
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
            remedy: "Publish files that belong together; somebody may have mixed them"
        )
    }

    private static func isMissing(_ role: String) -> UpdateError {
        UpdateError(.missing, role, "no usable one is there", remedy: "Update from the repository first")
    }
}
