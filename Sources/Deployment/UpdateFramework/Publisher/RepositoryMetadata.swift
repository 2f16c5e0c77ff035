/// The newest metadata of a repository, as its publisher stores, changes and signs it.
///
/// Every change makes the next version of a role, and takes effect when enough of the role's keys signed it. A
/// publisher that has the keys calls `update…`. When several people sign on machines of their own, a draft is passed
/// among them (``SignedDocument/message(of:)``, ``SignedDocument/add(_:)``), and `replace…` accepts it once
/// ``status(of:role:)`` misses nobody.
public struct RepositoryMetadata: Sendable {
    /// The state of a draft's signatures by the keys of one delegator.
    public struct SignatureStatus: Sendable {
        /// The role's keys; a threshold of them must sign.
        public let keys: RoleKeys
        /// The ids of the keys that signed.
        public let signers: [String]
        /// The number of keys that must still sign.
        public var missing: Int { max(0, keys.threshold - signers.count) }
    }

    /// The newest root.
    public private(set) var root: SignedDocument
    /// The newest top-level targets (`targets`) and delegated roles, by name.
    public private(set) var targets: [Name: SignedDocument] = [:]
    /// The newest snapshot; `nil` before there is one.
    public private(set) var snapshot: SignedDocument?
    /// The newest timestamp; `nil` before there is one.
    public private(set) var timestamp: SignedDocument?

    /// Creates a repository with version 1 of its root.
    ///
    /// - Parameters:
    ///   - roles: the keys and threshold of each top-level role.
    ///   - rootExpires: the time at which the root expires.
    ///   - signers: the keys that sign the root.
    ///   - hasConsistentSnapshots: whether the names of files contain their version or hash, as by default.
    /// - Throws: `invalidEdit` when a role has no keys; `threshold` when too few keys of the root sign.
    public init(
        roles: [MetadataType: (keys: [PublicKey], threshold: Int)],
        rootExpires: UTCTime,
        signers: [SigningKey],
        hasConsistentSnapshots: Bool = true
    ) throws(UpdateError) {
        var root = Root(
            header: Header(version: 1, expires: rootExpires),
            hasConsistentSnapshots: hasConsistentSnapshots
        )
        for type in MetadataType.allCases {
            let (keys, threshold) = roles[type] ?? ([], 1)
            try root.setKeys(keys, threshold: threshold, of: type)
        }
        self.root = try Self.signed(root, by: signers)
        try self.root.verify(root.keys(of: .root))
    }

    /// Creates a repository from its newest files; throws `malformed` or the like where they cannot be read.
    public init(
        root: SignedDocument,
        targets: [String: SignedDocument],
        snapshot: SignedDocument?,
        timestamp: SignedDocument?
    ) throws(UpdateError) {
        self.root = root
        for (name, document) in targets { self.targets[Name(name)] = document }
        self.snapshot = snapshot
        self.timestamp = timestamp
        _ = try rootMetadata
        for name in targets.keys { _ = try targetsMetadata(name) }
    }

    /// The `signed` part of the root.
    public var rootMetadata: Root { get throws(UpdateError) { try Root(root.signed, role: "root") } }

    /// The targets metadata of a role; `nil` when there is none yet.
    public func targetsMetadata(_ role: String) throws(UpdateError) -> Targets? {
        guard let document = targets[Name(role)] else { return nil }
        return try Targets(document.signed, role: role)
    }

    // MARK: Root

    /// The next version of the root, without signatures.
    ///
    /// - Parameters:
    ///   - expires: the time at which it expires.
    ///   - edit: changes the root, by default not at all.
    /// - Returns: the draft.
    /// - Throws: errors of `edit`, or `invalidEdit` when there is no next version.
    public func rootDraft(
        expires: UTCTime,
        edit: (inout Root) throws(UpdateError) -> Void = { (_) throws(UpdateError) in }
    ) throws(UpdateError) -> SignedDocument {
        var new = try rootMetadata
        new.header = try Self.header(after: new, expires, "root")
        try edit(&new)
        return SignedDocument(signed: new.signed)
    }

    /// Accepts the next version of the root, which enough keys of this root *and* of the new one signed.
    ///
    /// Throws `wrongVersion` or `threshold`.
    public mutating func replaceRoot(with document: SignedDocument) throws(UpdateError) {
        let (old, new) = (try rootMetadata, try Root(document.signed, role: "root"))
        guard new.version - 1 == old.version else {
            throw Self.notNext("root", new.version, old.version)
        }
        try document.verify(old.keys(of: .root))
        try document.verify(new.keys(of: .root))
        root = document
    }

    /// Changes and signs the root at once.
    ///
    /// Sign a change of the root's keys with the old and the new ones.
    public mutating func updateRoot(
        expires: UTCTime,
        signers: [SigningKey],
        edit: (inout Root) throws(UpdateError) -> Void = { (_) throws(UpdateError) in }
    ) throws(UpdateError) {
        try replaceRoot(with: Self.signed(try rootDraft(expires: expires, edit: edit), by: signers))
    }

    // MARK: Targets

    /// The next version of a role's targets metadata without signatures; the first one when there is none.
    ///
    /// - Parameters:
    ///   - role: the role, by default the top-level targets.
    ///   - expires: the time at which it expires.
    ///   - skipping: the number of versions to leave out, which a lost repository may have published. By default 0.
    ///   - edit: changes the metadata, by default not at all.
    /// - Returns: the draft.
    /// - Throws: errors of `edit`, or `invalidEdit` when there is no next version.
    public func targetsDraft(
        _ role: String = "targets",
        expires: UTCTime,
        skipping: Int = 0,
        edit: (inout Targets) throws(UpdateError) -> Void = { (_) throws(UpdateError) in }
    ) throws(UpdateError) -> SignedDocument {
        var new = try targetsMetadata(role) ?? Targets(header: Header(version: 0, expires: expires))
        new.header = try Self.header(after: new, expires, role, skipping: skipping)
        try edit(&new)
        return SignedDocument(signed: new.signed)
    }

    /// Accepts a newer version of a role that was changed and signed elsewhere.
    ///
    /// - Parameters:
    ///   - role: the role, by default the top-level targets.
    ///   - document: the signed version.
    /// - Throws: `rollback` when it is not newer; `threshold` when too few keys signed; `invalidEdit` when nobody
    ///   delegates to it.
    public mutating func replaceTargets(
        _ role: String = "targets",
        with document: SignedDocument
    ) throws(UpdateError) {
        let new = try Targets(document.signed, role: role)
        if let old = try targetsMetadata(role), new.version <= old.version {
            throw Self.notNext(role, new.version, old.version)
        }
        for keys in try requireKeys(of: role) { try document.verify(keys) }
        targets[Name(role)] = document
    }

    /// Changes and signs a role's targets metadata at once.
    ///
    /// Delegate to a role before giving it metadata.
    public mutating func updateTargets(
        _ role: String = "targets",
        expires: UTCTime,
        skipping: Int = 0,
        signers: [SigningKey],
        edit: (inout Targets) throws(UpdateError) -> Void = { (_) throws(UpdateError) in }
    ) throws(UpdateError) {
        let draft = try targetsDraft(role, expires: expires, skipping: skipping, edit: edit)
        try replaceTargets(role, with: Self.signed(draft, by: signers))
    }

    // MARK: Snapshot and timestamp

    /// Makes the next version of the snapshot, with versions, lengths and hashes of all targets metadata.
    ///
    /// Roles stay in it for ever, even when nobody delegates to them any more: clients refuse a snapshot that lacks
    /// one. Throws `threshold`.
    public mutating func updateSnapshot(
        expires: UTCTime,
        skipping: Int = 0,
        signers: [SigningKey]
    ) throws(UpdateError) {
        var new = try snapshotMetadata ?? Snapshot(header: Header(version: 0, expires: expires), files: [:])
        new.header = try Self.header(after: new, expires, "snapshot", skipping: skipping)
        for (role, document) in targets {
            let version = try Targets(document.signed, role: role.text).version
            new.files[Name(role.text + ".json")] = MetadataFile(version: version, bytes: document.bytes)
        }
        let document = try Self.signed(new, by: signers)
        try document.verify(try rootMetadata.keys(of: .snapshot))
        snapshot = document
    }

    /// Makes the next version of the timestamp, which names the current snapshot.
    ///
    /// Throws `invalidEdit` when there is no snapshot yet, or `threshold`.
    public mutating func updateTimestamp(
        expires: UTCTime,
        skipping: Int = 0,
        signers: [SigningKey]
    ) throws(UpdateError) {
        guard let snapshot, let version = try snapshotMetadata?.version else {
            throw UpdateError(.invalidEdit, "timestamp", "there is no snapshot", remedy: "Make a snapshot first")
        }
        let file = MetadataFile(version: version, bytes: snapshot.bytes)
        var new = try timestampMetadata ?? Timestamp(header: Header(version: 0, expires: expires), snapshot: file)
        new.header = try Self.header(after: new, expires, "timestamp", skipping: skipping)
        new.snapshot = file
        let document = try Self.signed(new, by: signers)
        try document.verify(try rootMetadata.keys(of: .timestamp))
        timestamp = document
    }

    /// The `signed` part of the snapshot; `nil` before there is one.
    public var snapshotMetadata: Snapshot? {
        get throws(UpdateError) {
            guard let snapshot else { return nil }
            return try Snapshot(snapshot.signed, role: "snapshot")
        }
    }

    /// The `signed` part of the timestamp; `nil` before there is one.
    public var timestampMetadata: Timestamp? {
        get throws(UpdateError) {
            guard let timestamp else { return nil }
            return try Timestamp(timestamp.signed, role: "timestamp")
        }
    }

    private static func header(
        after old: some RoleMetadata,
        _ expires: UTCTime,
        _ role: String,
        skipping: Int = 0
    ) throws(UpdateError) -> Header {
        let (start, isFull) = old.version.addingReportingOverflow(1)
        let (version, isTooLarge) = start.addingReportingOverflow(skipping)
        if !isFull, !isTooLarge { return Header(version: version, expires: expires) }
        throw UpdateError(
            .invalidEdit,
            role,
            "there is no version after \(old.version)",
            remedy: "Give the role new keys, and begin again with version 1"
        )
    }

    // MARK: Signatures

    private static func signed(
        _ metadata: some RoleMetadata,
        by signers: [SigningKey]
    ) throws(UpdateError) -> SignedDocument {
        try signed(SignedDocument(signed: metadata.signed), by: signers)
    }

    private static func signed(_ draft: SignedDocument, by signers: [SigningKey]) throws(UpdateError) -> SignedDocument
    {
        var document = draft
        for signer in signers { try document.sign(with: signer) }
        return document
    }

    /// The signatures that a draft of a role has and lacks, for each delegator.
    ///
    /// For a root these are the keys of the current root and its own, for other roles the keys that each delegator
    /// names.
    public func status(of draft: SignedDocument, role: String) throws(UpdateError) -> [SignatureStatus] {
        var all = try requireKeys(of: role)
        if Name(role) == "root" { all.append(try Root(draft.signed, role: role).keys(of: .root)) }
        var result: [SignatureStatus] = []
        for keys in all { result.append(SignatureStatus(keys: keys, signers: try draft.signers(keys))) }
        return result
    }

    /// The keys that sign for a role, for each role that delegates to it; throws `invalidEdit` when nobody does.
    public func requireKeys(of role: String) throws(UpdateError) -> [RoleKeys] {
        let keys = try keys(of: role)
        if !keys.isEmpty { return keys }
        throw UpdateError(.invalidEdit, role, "no role delegates to it", remedy: "Delegate to the role first")
    }

    private func keys(of role: String) throws(UpdateError) -> [RoleKeys] {
        if let type = MetadataType.allCases.first(where: { Name($0.rawValue) == Name(role) }) {
            return [try rootMetadata.keys(of: type)]
        }
        var found: [RoleKeys] = []
        for (name, document) in targets.sorted(by: { $0.key < $1.key }) {
            let delegator = try Targets(document.signed, role: name.text)
            if let keys = delegator.keys(ofDelegated: role) { found.append(keys) }
        }
        return found
    }

    private static func notNext(_ role: String, _ version: Int, _ old: Int) -> UpdateError {
        UpdateError(
            role == "root" ? .wrongVersion : .rollback,
            role,
            "version \(version) does not come after \(old)",
            remedy: "Change the newest version"
        )
    }

    // MARK: Files

    /// The newest metadata as files below the repository's folder of metadata, with percent-encoded names.
    ///
    /// The timestamp is last: once it is there, clients request the others. Throws `threshold` when the keys of a role
    /// changed and its metadata was not signed again.
    public func files() throws(UpdateError) -> [(name: String, bytes: [UInt8])] {
        let root = try rootMetadata
        var files = [(name: "\(root.version).root.json", bytes: self.root.bytes)]
        for (role, document) in targets.sorted(by: { $0.key < $1.key }) {
            for keys in try keys(of: role.text) { try document.verify(keys) }
            let version = try Targets(document.signed, role: role.text).version
            files.append((Self.fileName(role.text, version, root), document.bytes))
        }
        if let snapshot, let version = try snapshotMetadata?.version {
            try snapshot.verify(root.keys(of: .snapshot))
            files.append((Self.fileName("snapshot", version, root), snapshot.bytes))
        }
        if let timestamp {
            try timestamp.verify(root.keys(of: .timestamp))
            files.append(("timestamp.json", timestamp.bytes))
        }
        return files
    }

    private static func fileName(_ role: String, _ version: Int, _ root: Root) -> String {
        let name = PercentEncoding.encode(role) + ".json"
        return root.hasConsistentSnapshots ? "\(version).\(name)" : name
    }

    /// Verifies everything as a client would that trusts `trustedRoot`: the current root or the previous one.
    ///
    /// Throws the error that the client would get.
    public func verify(trustedRoot: SignedDocument, at start: UTCTime) throws(UpdateError) {
        var trusted = try TrustedMetadata(trustedRoot: trustedRoot.bytes, start: start)
        if trusted.root.version < (try rootMetadata.version) { try trusted.updateRoot(root.bytes) }
        try trusted.finishRoot()
        _ = try trusted.updateTimestamp(try Self.require(timestamp, "timestamp").bytes)
        try trusted.updateSnapshot(try Self.require(snapshot, "snapshot").bytes)
        try trusted.updateTargets(try Self.require(targets["targets"], "targets").bytes)
        for (role, document) in targets where role != "targets" {
            for keys in try keys(of: role.text) { try trusted.updateTargets(document.bytes, keys) }
        }
    }

    private static func require(_ document: SignedDocument?, _ role: String) throws(UpdateError) -> SignedDocument {
        guard let document else {
            throw UpdateError(.missing, role, "it was never made", remedy: "Make and sign it first")
        }
        return document
    }
}
