import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// The keys of a team at its key service: epochs of encryption keys, and signing keys.
///
/// Models are encrypted for the newest epoch; older epochs still open what was encrypted for them, until they are
/// revoked.
public struct TeamKeyRing: Sendable {
    /// The state of a key.
    public enum State: String, Sendable {
        /// Created but not used yet: devices must be told of it first.
        case prepared
        /// New models are encrypted for it; new answers are signed with it.
        case active
        /// Opens models that were encrypted for it; its signatures are still trusted.
        case retired
        /// Opens nothing, and nothing that it has signed is trusted.
        case revoked
    }

    /// A key that models are encrypted for.
    public struct Epoch: Sendable {
        /// The epoch's number, from 1 on.
        public let number: Int
        /// The key's state.
        public internal(set) var state: State
        /// The private key, or the public one after the private one was destroyed.
        var key: ModelKey

        /// The key's identifier.
        public var keyID: KeyIdentifier { KeyIdentifier(trusted: key.keyID.bytes) }
        /// The suite that content keys are wrapped with.
        public var suite: RecipientSuite { key.suite == .xWing ? .xWing : .x25519 }
        /// The date at which the key was created: `2026-11-23T08:00:00Z`.
        public var created: String { key.created }
        /// The text of the public `.mlmodelkey` file, for developers and build machines.
        public var publicFile: [UInt8] { key.with(.publicKey, signature: key.signature).text }
        /// The hash with which people compare keys, 32 bytes.
        public var fingerprint: [UInt8] { key.fingerprint }
        /// Whether a key of the team's own vouches for the public key; see ``TeamKeyRing/sign(_:withPEM:)``.
        public var isSigned: Bool { key.signature != nil }
    }

    /// A key that signs answers.
    struct Signer: Sendable {
        var state: State
        /// The private key; `nil` when it was destroyed.
        var key: IdentityKey?
        let publicKey: SigningPublicKey
    }

    /// The name of the team.
    public let team: String
    /// The version, which grows with every change, so that copies of a ring can be ordered.
    public private(set) var version = 1
    /// The epochs, the oldest first.
    public private(set) var epochs: [Epoch] = []
    private(set) var signers: [Signer] = []

    static let maximumEpochCount = 1024

    /// Creates a key ring with one key for encryption and one for signing.
    ///
    /// - Parameters:
    ///   - team: the name of the team, 1 to 200 bytes.
    ///   - suite: the suite of the encryption key, by default X-Wing.
    ///   - signing: the algorithm of the signing key, by default Ed25519.
    ///   - server: the address of the key service for the public files; `nil`, the default, for none.
    ///   - created: the date of the keys, by default now.
    /// - Throws: `malformed` for an impossible name.
    public init(
        team: String,
        suite: RecipientSuite = .xWing,
        signing: SigningAlgorithm = .ed25519,
        server: String? = nil,
        created: ServiceTime = .now
    ) throws(DeploymentKeyError) {
        guard WireName.isValid(team) else {
            throw DeploymentKeyError(
                .malformed,
                at: "team",
                "A team's name has 1 to 200 bytes and no control characters."
            )
        }
        self.team = team
        _ = try addEpoch(suite, server: server, created: created)
        try addSigner(signing)
    }

    init(team: String, version: Int, epochs: [Epoch], signers: [Signer]) {
        (self.team, self.version, self.epochs, self.signers) = (team, version, epochs, signers)
    }

    // MARK: Epochs

    /// The epoch that models are encrypted for; `nil` after it was revoked.
    public var active: Epoch? { epochs.last { $0.state == .active } }

    /// The epoch with a key; `nil` when the ring has none.
    public func epoch(_ keyID: KeyIdentifier) -> Epoch? { epochs.first { $0.keyID == keyID } }

    /// Begins a new epoch: models are encrypted for it from now on, and the previous one is retired.
    ///
    /// The address of the key service is that of the previous epoch unless `server` is given.
    @discardableResult
    public mutating func rotate(
        suite: RecipientSuite = .xWing,
        server: String? = nil,
        created: ServiceTime = .now
    ) throws(DeploymentKeyError) -> Epoch {
        let epoch = try addEpoch(suite, server: server ?? active?.key.server, created: created)
        version += 1
        return epoch
    }

    /// Begins a new epoch with an existing key: the text of a private `.mlmodelkey` file.
    ///
    /// Throws `malformed` for other texts, keys of other teams, and keys that the ring already has.
    @discardableResult
    public mutating func importKey(_ text: [UInt8]) throws(DeploymentKeyError) -> Epoch {
        let key = try keyErrors(.malformed, at: "private key") { () throws(ModelError) in try ModelKey(text: text) }
        guard case .privateKey = key.material, key.team == team else {
            throw DeploymentKeyError(
                .malformed,
                at: "key \(key.keyID)",
                "A ring takes private keys of its own team, \"\(team)\", in the clear."
            )
        }
        guard epoch(KeyIdentifier(trusted: key.keyID.bytes)) == nil else {
            throw DeploymentKeyError(.malformed, at: "key \(key.keyID)", "The ring has this key already.")
        }
        let epoch = try append(key)
        version += 1
        return epoch
    }

    private mutating func addEpoch(
        _ suite: RecipientSuite,
        server: String?,
        created: ServiceTime
    ) throws(DeploymentKeyError) -> Epoch {
        let key = try keyErrors(.storage, at: "key of \(team)") { [team] () throws(ModelError) in
            try ModelKey.make(suite.engine, team: team, created: created.description, server: server)
        }
        return try append(key)
    }

    private mutating func append(_ key: ModelKey) throws(DeploymentKeyError) -> Epoch {
        guard epochs.count < Self.maximumEpochCount else {
            throw DeploymentKeyError(
                .malformed,
                at: "team \(team)",
                "A ring holds at most \(Self.maximumEpochCount) keys."
            )
        }
        for index in epochs.indices where epochs[index].state == .active { epochs[index].state = .retired }
        let epoch = Epoch(number: (epochs.last?.number ?? 0) + 1, state: .active, key: key)
        epochs.append(epoch)
        return epoch
    }

    /// Revokes a key: content keys that are wrapped for it are not released any more.
    ///
    /// If `destroying` is true, the private key is removed, too; no copy of the ring made from then on contains it.
    /// Throws `unknownKey`.
    public mutating func revoke(_ keyID: KeyIdentifier, destroying: Bool) throws(DeploymentKeyError) {
        guard let index = epochs.firstIndex(where: { $0.keyID == keyID }) else { throw unknown(keyID) }
        epochs[index].state = .revoked
        if destroying {
            let key = epochs[index].key
            epochs[index].key = key.with(.publicKey, signature: key.signature)
        }
        version += 1
    }

    /// Signs the public key of an epoch with an Ed25519 key of the team's own, in PEM form.
    ///
    /// Then nobody, not even this service, can hand out another key in its place. Throws `unknownKey`, or `malformed`
    /// for another PEM text.
    public mutating func sign(_ keyID: KeyIdentifier, withPEM pem: [UInt8]) throws(DeploymentKeyError) {
        guard let index = epochs.firstIndex(where: { $0.keyID == keyID }) else { throw unknown(keyID) }
        let key = epochs[index].key
        let signature = try keyErrors(.malformed, at: "signing key") { () throws(ModelError) in
            try KeySignature.sign(key, with: SigningKey(pem: pem)).signature
        }
        epochs[index].key = key.with(key.material, signature: signature)
        version += 1
    }

    private func unknown(_ keyID: KeyIdentifier) -> DeploymentKeyError {
        DeploymentKeyError(.unknownKey, at: "key \(keyID)", "The team \"\(team)\" has no such key.")
    }

    // MARK: Content keys

    /// Unwraps the content key of a model that was encrypted for one of the team's keys.
    ///
    /// Throws `unknownKey`, `keyRevoked` or `contentKeyInvalid`.
    public func contentKey(_ model: WrappedContentKey) throws(DeploymentKeyError) -> ContentKey {
        let epoch = try opening(model.keyID)
        return ContentKey(
            try keyErrors(.contentKeyInvalid, at: "key \(model.keyID)") { () throws(ModelError) in
                try KeyPair.unwrap(model.wrapped, with: epoch.key, purpose: Self.purpose(model.keyID, model.content))
            }
        )
    }

    /// The epoch with this key, unless it is revoked.
    private func opening(_ keyID: KeyIdentifier) throws(DeploymentKeyError) -> Epoch {
        guard let epoch = epoch(keyID) else { throw unknown(keyID) }
        guard epoch.state != .revoked else {
            throw DeploymentKeyError(
                .keyRevoked,
                at: "key \(keyID)",
                "The team has revoked this key; install a version of the model with a newer key."
            )
        }
        return epoch
    }

    /// Wraps the same content key for the active epoch.
    ///
    /// Throws `unknownKey`, `keyRevoked` or `contentKeyInvalid`.
    public func rewrap(_ model: WrappedContentKey) throws(DeploymentKeyError) -> WrappedContentKey {
        let contentKey = try contentKey(model)
        let (newest, content) = (try newest(), model.content)
        let wrapped = try keyErrors(.contentKeyInvalid, at: "key \(newest.keyID)") { () throws(ModelError) in
            try KeyPair.wrap(contentKey.secret, with: newest.key, purpose: Self.purpose(newest.keyID, content))
        }
        return try WrappedContentKey(keyID: newest.keyID, content: content, wrapped: wrapped, archive: model.archive)
    }

    /// An `encryption.json`, the record of an encrypted model, for the active epoch instead of the one it names.
    ///
    /// Throws `malformed`, `unknownKey`, `keyRevoked` or `contentKeyInvalid`.
    public func rewrap(record text: [UInt8]) throws(DeploymentKeyError) -> [UInt8] {
        let record = try keyErrors(.malformed, at: "encryption.json") { () throws(ModelError) in
            try EncryptionRecord(text: text)
        }
        let (epoch, newest) = (try opening(KeyIdentifier(trusted: record.keyID.bytes)), try newest())
        return try keyErrors(.contentKeyInvalid, at: "encryption.json") { () throws(ModelError) in
            try record.rewrapped(record.contentKey(epoch.key), for: newest.key).text
        }
    }

    private func newest() throws(DeploymentKeyError) -> Epoch {
        guard let epoch = active else {
            throw DeploymentKeyError(.keyRevoked, at: "team \(team)", "The team has no active key; rotate first.")
        }
        return epoch
    }

    private static func purpose(_ keyID: KeyIdentifier, _ content: ContentIdentifier) -> [UInt8] {
        Array("mlk/1 wrap\0".utf8) + keyID.bytes + content.bytes
    }

    // MARK: Signing

    /// The public keys of answers that are valid, active and retired, to be published in the team's metadata.
    public var serviceKeys: [SigningPublicKey] {
        signers.filter { $0.state == .active || $0.state == .retired }.map(\.publicKey)
    }

    /// The public key of the signer that signs answers now.
    public var activeServiceKey: SigningPublicKey? { signers.last { $0.state == .active }?.publicKey }

    /// Creates a key that is to sign answers later, replacing one that was prepared before.
    ///
    /// Publish it in the team's metadata in place of the one that signs now; then call ``activateSigner(_:)``.
    public mutating func prepareSigner(
        _ algorithm: SigningAlgorithm = .ed25519
    ) throws(DeploymentKeyError) -> SigningPublicKey {
        let key = try keyErrors(.storage, at: "key-service key of \(team)") { () throws(ModelError) in
            try IdentityKey(algorithm.engine)
        }
        signers.removeAll { $0.state == .prepared }
        let signer = Signer(state: .prepared, key: key, publicKey: SigningPublicKey(key.publicKey))
        // The key in use stays the last that is active.
        signers.append(signer)
        version += 1
        return signer.publicKey
    }

    /// Signs answers with the prepared key from now on.
    ///
    /// Signatures of the previous key are still accepted here, so that certificates of devices remain valid, but not
    /// by devices once the metadata does not name it. Returns false when no key with this identifier is prepared: it is
    /// in use already, or another was prepared since.
    @discardableResult
    public mutating func activateSigner(_ keyID: SignerIdentifier) -> Bool {
        guard let index = signers.firstIndex(where: { $0.publicKey.keyID == keyID && $0.state == .prepared }) else {
            return false
        }
        retireSigners()
        signers[index].state = .active
        version += 1
        return true
    }

    /// Signs answers with a new key from now on; devices must have been told of it before.
    public mutating func rotateSigner(_ algorithm: SigningAlgorithm = .ed25519) throws(DeploymentKeyError) {
        try addSigner(algorithm)
        version += 1
    }

    /// Revokes a key that signed answers: certificates that it signed are void.
    ///
    /// Throws `unknownKey`.
    public mutating func revokeSigner(_ keyID: SignerIdentifier) throws(DeploymentKeyError) {
        guard let index = signers.firstIndex(where: { $0.publicKey.keyID == keyID }) else {
            throw DeploymentKeyError(.unknownKey, at: "key \(keyID)", "The team has no such key-service key.")
        }
        signers[index].state = .revoked
        signers[index].key = nil
        version += 1
    }

    private mutating func addSigner(_ algorithm: SigningAlgorithm) throws(DeploymentKeyError) {
        let key = try keyErrors(.storage, at: "key-service key of \(team)") { () throws(ModelError) in
            try IdentityKey(algorithm.engine)
        }
        retireSigners()
        signers.append(Signer(state: .active, key: key, publicKey: SigningPublicKey(key.publicKey)))
    }

    private mutating func retireSigners() {
        for index in signers.indices where signers[index].state == .active {
            // A key that only vouches for what it has signed needs no private half.
            signers[index].state = .retired
            signers[index].key = nil
        }
    }

    /// The key that signs answers now.
    func signer() throws(DeploymentKeyError) -> IdentityKey {
        guard let key = signers.last(where: { $0.state == .active })?.key else {
            throw DeploymentKeyError(
                .unavailable,
                at: "team \(team)",
                "The team's key service has no key to sign with; make one with rotateSigner."
            )
        }
        return key
    }

    func sign<M: SignedMessage>(_ message: M) throws(DeploymentKeyError) -> M {
        let key = try signer()
        return try keyErrors(.unavailable, at: "team \(team)") { () throws(ModelError) in try message.signed(by: key) }
    }

    /// The revocation state as devices get it, signed by the current key.
    ///
    /// Throws `tooLarge` for a list of more than 65,536 entries, and `unavailable` without a key to sign with.
    public func text(of state: RevocationState) throws(DeploymentKeyError) -> [UInt8] {
        guard
            [state.devices.count, state.keys.count, state.leases.count].allSatisfy({
                $0 <= RevocationState.maximumEntryCount
            }
            )
        else {
            throw DeploymentKeyError(
                .tooLarge,
                at: "revocations of \(team)",
                "A list holds at most \(RevocationState.maximumEntryCount) names: remove the names whose leases have ended."
            )
        }
        return try sign(state).text
    }

    /// The key with which replicas of a service recognise each other's challenges.
    func challengeKey() throws(DeploymentKeyError) -> SymmetricKey {
        let code = try signer().secret.withBytes {
            HMAC<SHA256>.authenticationCode(for: Array("mlk/1 challenge key\0".utf8), using: SymmetricKey(data: $0))
        }
        return SymmetricKey(data: code)
    }
}
