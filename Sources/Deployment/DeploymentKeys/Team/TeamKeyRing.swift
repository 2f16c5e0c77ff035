import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// The keys of a team at its key service: those that models are encrypted for, epoch by epoch, and those that sign.
///
/// Models are encrypted for the newest epoch; older ones still open what was encrypted for them, until they are revoked.
public struct TeamKeyRing: Sendable {
    public enum State: String, Sendable {
        /// Made, and of no use before it is taken into use: devices are to be told of it first.
        case prepared
        /// New models are encrypted with it; new answers are signed with it.
        case active
        /// Opens what was encrypted with it; what it has signed is still believed.
        case retired
        /// Given up: opens nothing, and nothing it has signed is believed.
        case revoked
    }

    /// A key that models are encrypted for.
    public struct Epoch: Sendable {
        public let number: Int
        public internal(set) var state: State
        /// The private half, or after it was destroyed the public one.
        var key: ModelKey

        public var keyID: KeyIdentifier { KeyIdentifier(trusted: key.keyID.bytes) }
        public var suite: RecipientSuite { key.suite == .xWing ? .xWing : .x25519 }
        public var created: String { key.created }
        /// The text of the public `.mlmodelkey` file, for developers and build machines.
        public var publicFile: [UInt8] { key.with(.publicKey, signature: key.signature).text }
        /// The hash by which people compare keys.
        public var fingerprint: [UInt8] { key.fingerprint }
        public var isSigned: Bool { key.signature != nil }
    }

    /// A key that signs answers.
    struct Signer: Sendable {
        var state: State
        /// The private half; `nil` when it was destroyed.
        var key: IdentityKey?
        let publicKey: SigningPublicKey
    }

    public let team: String
    /// Grows with every change, so that copies of a ring have an order.
    public private(set) var version = 1
    /// The oldest first.
    public private(set) var epochs: [Epoch] = []
    private(set) var signers: [Signer] = []

    static let mostEpochs = 1024

    /// A ring with one key to encrypt for and one to sign with.
    ///
    /// - Parameter server: the address of the key service, which stands in the public files.
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

    /// The epoch that models are encrypted for.
    public var active: Epoch? { epochs.last { $0.state == .active } }

    public func epoch(_ keyID: KeyIdentifier) -> Epoch? { epochs.first { $0.keyID == keyID } }

    /// Begins a new epoch: models are encrypted for it from now on, and the one before is retired.
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

    /// Begins a new epoch with a key that was made elsewhere: the text of a private `.mlmodelkey` file.
    @discardableResult
    public mutating func importKey(_ text: [UInt8]) throws(DeploymentKeyError) -> Epoch {
        let key = try keyErrors(.malformed, at: "private key") { () throws(ModelError) in
            try text.withUnsafeBufferPointer { (bytes) throws(ModelError) in
                try ModelKey(text: UnsafeRawBufferPointer(bytes))
            }
        }
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
        guard epochs.count < Self.mostEpochs else {
            throw DeploymentKeyError(.malformed, at: "team \(team)", "A ring holds at most \(Self.mostEpochs) keys.")
        }
        for index in epochs.indices where epochs[index].state == .active { epochs[index].state = .retired }
        let epoch = Epoch(number: (epochs.last?.number ?? 0) + 1, state: .active, key: key)
        epochs.append(epoch)
        return epoch
    }

    /// Gives a key up: nothing that was encrypted for it is released any more.
    ///
    /// - Parameter destroying: whether the private half is destroyed, too; then it cannot be had back from any copy of the
    ///   ring that is made from now on.
    public mutating func revoke(_ keyID: KeyIdentifier, destroying: Bool) throws(DeploymentKeyError) {
        guard let index = epochs.firstIndex(where: { $0.keyID == keyID }) else { throw unknown(keyID) }
        epochs[index].state = .revoked
        if destroying {
            let key = epochs[index].key
            epochs[index].key = key.with(.publicKey, signature: key.signature)
        }
        version += 1
    }

    /// Vouches for the public half of a key with a key of the team's own, in PEM form (Ed25519), so that nobody can hand out
    /// another one: not even this service.
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

    /// The content key of a model that was encrypted for one of the team's keys.
    public func contentKey(_ model: WrappedContentKey) throws(DeploymentKeyError) -> ContentKey {
        let epoch = try opening(model.keyID)
        return ContentKey(
            try keyErrors(.contentKeyInvalid, at: "key \(model.keyID)") { () throws(ModelError) in
                try KeyPair.unwrap(model.wrapped, with: epoch.key, purpose: Self.purpose(model.keyID, model.content))
            }
        )
    }

    /// The epoch with this key, when it still opens anything.
    private func opening(_ keyID: KeyIdentifier) throws(DeploymentKeyError) -> Epoch {
        guard let epoch = epoch(keyID) else { throw unknown(keyID) }
        guard epoch.state != .revoked else {
            throw DeploymentKeyError(
                .keyRevoked,
                at: "key \(keyID)",
                "The team has given this key up; install a version of the model with a newer key."
            )
        }
        return epoch
    }

    /// The same content key wrapped for the active epoch.
    public func rewrap(_ model: WrappedContentKey) throws(DeploymentKeyError) -> WrappedContentKey {
        let contentKey = try contentKey(model)
        let (newest, content) = (try newest(), model.content)
        let wrapped = try keyErrors(.contentKeyInvalid, at: "key \(newest.keyID)") { () throws(ModelError) in
            try KeyPair.wrap(contentKey.secret, with: newest.key, purpose: Self.purpose(newest.keyID, content))
        }
        return try WrappedContentKey(keyID: newest.keyID, content: content, wrapped: wrapped, archive: model.archive)
    }

    /// An `encryption.json`, the text of an encrypted model's record, for the active epoch instead of the one it names.
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

    /// The public halves of the keys that sign answers: what devices trust, to be published in the team's metadata.
    public var serviceKeys: [SigningPublicKey] {
        signers.filter { $0.state == .active || $0.state == .retired }.map(\.publicKey)
    }

    /// The public half of the key that signs answers now.
    public var activeServiceKey: SigningPublicKey? { signers.last { $0.state == .active }?.publicKey }

    /// Makes a key that is to sign answers later, in place of one that was prepared before.
    ///
    /// Publish it in the team's metadata, in place of the one that signs now; then call `activateSigner`.
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

    /// Signs answers with the key that was prepared from now on.  What the one before has signed is still believed here, so that
    /// certificates of devices last, but not by devices, once the metadata does not name it.
    /// - Returns: false when no key of this name was prepared: it is in use already, or another was prepared since.
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

    /// Answers are signed with a new key from now on; devices must be told of it before.
    public mutating func rotateSigner(_ algorithm: SigningAlgorithm = .ed25519) throws(DeploymentKeyError) {
        try addSigner(algorithm)
        version += 1
    }

    /// Gives a key up that signed answers: certificates that it signed are void.
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

    /// The revocation state signed by the key that signs now, as devices get it.
    public func text(of state: RevocationState) throws(DeploymentKeyError) -> [UInt8] {
        guard
            [state.devices.count, state.keys.count, state.leases.count].allSatisfy({ $0 <= RevocationState.mostEntries }
            )
        else {
            throw DeploymentKeyError(
                .tooLarge,
                at: "revocations of \(team)",
                "A list holds at most \(RevocationState.mostEntries) names: leave out those whose leases have ended."
            )
        }
        return try sign(state).text
    }

    /// What replicas of a service recognise each other's challenges by.
    func challengeKey() throws(DeploymentKeyError) -> SymmetricKey {
        let code = try signer().secret.withBytes {
            HMAC<SHA256>.authenticationCode(for: Array("mlk/1 challenge key\0".utf8), using: SymmetricKey(data: $0))
        }
        return SymmetricKey(data: code)
    }
}
