/// The newest metadata of a repository, as its publisher keeps, changes and signs it.
///
/// Every change makes the next version of a role.  What keys sign may arrive bit by bit: a document counts when `isComplete` says
/// that enough keys signed, and `files` holds what has to be published, in an order in which clients never miss a file.
public struct RepositoryMetadata: Sendable {
    public private(set) var root: SignedDocument
    /// Top-level targets (`targets`) and delegated roles, by name.
    public private(set) var targets: [Name: SignedDocument] = [:]
    public private(set) var snapshot: SignedDocument?
    public private(set) var timestamp: SignedDocument?

    /// A new repository, of whose root version 1 is signed by `signers`.
    /// - Parameter roles: keys and threshold of each top-level role.
    /// - Throws: `invalidEdit` when a role has no keys.
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
        self.root = SignedDocument(signed: root.signed)
        for signer in signers { try self.root.sign(with: signer) }
    }

    /// A repository whose newest files were read back.
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
        _ = try Root(root.signed, role: "root")
        for (name, document) in targets { _ = try Targets(document.signed, role: name) }
    }

    public var rootMetadata: Root { get throws(UpdateError) { try Root(root.signed, role: "root") } }

    /// The targets metadata of a role; `nil` when it was never published.
    public func targetsMetadata(_ role: String) throws(UpdateError) -> Targets? {
        guard let document = targets[Name(role)] else { return nil }
        return try Targets(document.signed, role: role)
    }

    // MARK: Changing

    /// The next version of the root.  Clients take it when enough keys of the old *and* of the new root signed it: sign a change
    /// of root keys with both.
    public mutating func updateRoot(
        expires: UTCTime,
        signers: [SigningKey],
        edit: (inout Root) throws(UpdateError) -> Void = { (_) throws(UpdateError) in }
    ) throws(UpdateError) {
        var new = try rootMetadata
        new.header = Header(version: new.version + 1, expires: expires)
        try edit(&new)
        root = try Self.signed(new, by: signers)
    }

    /// The next version of a role of targets metadata.
    public mutating func updateTargets(
        _ role: String = "targets",
        expires: UTCTime,
        signers: [SigningKey],
        edit: (inout Targets) throws(UpdateError) -> Void = { (_) throws(UpdateError) in }
    ) throws(UpdateError) {
        var new = try targetsMetadata(role) ?? Targets(header: Header(version: 0, expires: expires))
        new.header = Header(version: new.version + 1, expires: expires)
        try edit(&new)
        targets[Name(role)] = try Self.signed(new, by: signers)
    }

    /// Takes the metadata of a role that was changed and signed elsewhere.
    /// - Throws: `rollback` when it is older than the one that is here; `threshold` when too few of its keys signed.
    public mutating func replaceTargets(_ role: String, with document: SignedDocument) throws(UpdateError) {
        let new = try Targets(document.signed, role: role)
        if let old = try targetsMetadata(role), new.version <= old.version {
            throw UpdateError(
                .rollback,
                role,
                "version \(new.version) is not above \(old.version)",
                remedy: "Change the newest version"
            )
        }
        try document.verify(try keys(of: role))
        targets[Name(role)] = document
    }

    /// The next version of the snapshot: the versions, lengths and hashes of all targets metadata that is here.
    public mutating func updateSnapshot(expires: UTCTime, signers: [SigningKey]) throws(UpdateError) {
        var files: [Name: MetadataFile] = [:]
        for (role, document) in targets {
            let version = try Targets(document.signed, role: role.text).version
            files[Name(role.text + ".json")] = MetadataFile(version: version, bytes: document.bytes)
        }
        var new =
            try snapshot.map { (document) throws(UpdateError) in try Snapshot(document.signed, role: "snapshot") }
            ?? Snapshot(header: Header(version: 0, expires: expires), files: [:])
        new.header = Header(version: new.version + 1, expires: expires)
        new.files = files
        snapshot = try Self.signed(new, by: signers)
    }

    /// The next version of the timestamp, which names the snapshot that is here.
    /// - Throws: `invalidEdit` when there is no snapshot yet.
    public mutating func updateTimestamp(expires: UTCTime, signers: [SigningKey]) throws(UpdateError) {
        guard let snapshot else {
            throw UpdateError(.invalidEdit, "timestamp", "there is no snapshot", remedy: "Make a snapshot first")
        }
        let file = MetadataFile(
            version: try Snapshot(snapshot.signed, role: "snapshot").version,
            bytes: snapshot.bytes
        )
        var new =
            try timestamp.map { (document) throws(UpdateError) in
                try Timestamp(document.signed, role: "timestamp")
            } ?? Timestamp(header: Header(version: 0, expires: expires), snapshot: file)
        new.header = Header(version: new.version + 1, expires: expires)
        new.snapshot = file
        timestamp = try Self.signed(new, by: signers)
    }

    private static func signed(_ metadata: some RoleMetadata, by signers: [SigningKey]) throws(UpdateError)
        -> SignedDocument
    {
        var document = SignedDocument(signed: metadata.signed)
        for signer in signers { try document.sign(with: signer) }
        return document
    }

    // MARK: Signatures

    /// The document of a role; `nil` when there is none.
    public func document(_ role: String) -> SignedDocument? {
        switch Name(role) {
        case "root": root
        case "snapshot": snapshot
        case "timestamp": timestamp
        default: targets[Name(role)]
        }
    }

    /// Adds a signature, made here or elsewhere, to the newest version of a role.
    /// - Throws: `threshold` when it is none by a key of the role.
    public mutating func add(_ signature: SignedDocument.Signature, to role: String) throws(UpdateError) {
        guard var document = document(role) else { throw Self.noRole(role) }
        document.add(signature)
        var keyIDs: [String] = []
        for keys in try allKeys(of: role) { keyIDs += try document.signers(keys) }
        guard keyIDs.contains(where: { Name($0) == Name(signature.keyID) }) else {
            throw UpdateError(
                .threshold,
                role,
                "the signature is not by one of its keys over this version",
                remedy: "Sign the newest version with one of the role's keys"
            )
        }
        set(document, role)
    }

    public mutating func sign(_ role: String, with key: SigningKey) throws(UpdateError) {
        guard let document = document(role) else { throw Self.noRole(role) }
        let message = try document.message(of: role)
        let signature = Hex.text(try key.sign(message))
        try add(SignedDocument.Signature(keyID: try key.publicKey.id, value: signature), to: role)
    }

    public mutating func removeSignature(of keyID: String, from role: String) throws(UpdateError) {
        guard var document = document(role) else { throw Self.noRole(role) }
        document.removeSignature(of: keyID)
        set(document, role)
    }

    private mutating func set(_ document: SignedDocument, _ role: String) {
        switch Name(role) {
        case "root": root = document
        case "snapshot": snapshot = document
        case "timestamp": timestamp = document
        default: targets[Name(role)] = document
        }
    }

    /// Whether enough of the keys that the newest root and targets name signed the newest version of a role.
    public func isComplete(_ role: String) throws(UpdateError) -> Bool {
        guard let document = document(role) else { return false }
        let keys = try keys(of: role)
        return try document.signers(keys).count >= keys.threshold
    }

    /// The keys that sign for a role.  A delegated role is looked for in all targets metadata that is here.
    public func keys(of role: String) throws(UpdateError) -> RoleKeys {
        guard let keys = try allKeys(of: role).first else { throw Self.noRole(role) }
        return keys
    }

    private func allKeys(of role: String) throws(UpdateError) -> [RoleKeys] {
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

    private static func noRole(_ role: String) -> UpdateError {
        UpdateError(.invalidEdit, role, "there is no such role", remedy: "Delegate to it first")
    }

    // MARK: Files

    /// The newest metadata as files below the repository's folder of metadata, names percent-encoded.  The timestamp is last: once it
    /// is there, clients ask for the others.
    public func files() throws(UpdateError) -> [(name: String, bytes: [UInt8])] {
        let root = try rootMetadata
        func name(_ role: String, _ version: Int) -> String {
            let name = PercentEncoding.encode(role) + ".json"
            return root.hasConsistentSnapshots ? "\(version).\(name)" : name
        }
        var files = [(name: "\(root.version).root.json", bytes: self.root.bytes)]
        for (role, document) in targets.sorted(by: { $0.key < $1.key }) {
            let version = try Targets(document.signed, role: role.text).version
            files.append((name(role.text, version), document.bytes))
        }
        if let snapshot {
            files.append((name("snapshot", try Snapshot(snapshot.signed, role: "snapshot").version), snapshot.bytes))
        }
        if let timestamp { files.append(("timestamp.json", timestamp.bytes)) }
        return files
    }

    /// Goes through all of it as a client would that trusts `trustedRoot`, the root before this one or this one itself.
    /// - Throws: what a client would meet.
    public func verify(trustedRoot: SignedDocument, at start: UTCTime) throws(UpdateError) {
        var trusted = try TrustedMetadata(trustedRoot: trustedRoot.bytes, start: start)
        if trusted.root.version < (try rootMetadata.version) { try trusted.updateRoot(root.bytes) }
        try trusted.finishRoot()
        guard let timestamp, let snapshot else { throw Self.noRole("timestamp") }
        _ = try trusted.updateTimestamp(timestamp.bytes)
        try trusted.updateSnapshot(snapshot.bytes)
        guard let top = targets["targets"] else { throw Self.noRole("targets") }
        try trusted.updateTargets(top.bytes)
        for (role, document) in targets where role != "targets" {
            for keys in try allKeys(of: role.text) { try trusted.updateTargets(document.bytes, keys) }
        }
    }
}
