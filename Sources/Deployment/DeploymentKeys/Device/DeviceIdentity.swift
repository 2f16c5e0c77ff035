import MLEncryption
import MLFiles
import MLNumerics

/// A device's identity at key services: its signing and recipient keys, its certificate and its leases.
///
/// They are stored in a folder that only its owner can enter. Secrets are sealed under one key, which is protected as
/// strongly as the machine allows. Threads and processes may share a folder.
public final class DeviceIdentity: Sendable {
    /// The folder's path.
    public let folder: String
    /// The team that the device belongs to.
    public let team: String
    /// The app that the device runs.
    public let app: String
    /// The device's identifier, derived from team, app and identity key.
    public let device: DeviceIdentifier
    /// The protection of the stored secrets.
    public let strength: StorageStrength
    let identity: IdentityKey
    let recipient: RecipientPublicKey
    let recipientSecret: SecretBytes
    let sealingKey: ModelKey
    let clock: DeviceClock

    /// The public key that verifies the device's signatures.
    public var identityKey: SigningPublicKey { SigningPublicKey(identity.publicKey) }
    /// The public key that content keys are wrapped for.
    public var recipientKey: RecipientPublicKey { recipient }

    // MARK: Making and opening

    /// Creates a new device in a folder that holds none.
    ///
    /// - Parameters:
    ///   - folder: the folder's path; it is created with mode `0700`.
    ///   - team: the name of the team, 1 to 200 bytes.
    ///   - app: the name of the app, 1 to 200 bytes.
    ///   - signing: the algorithm of the identity key, by default Ed25519.
    ///   - suite: the suite that content keys are wrapped with, by default X-Wing.
    ///   - strength: how the secrets are to be protected; `nil`, the default, for the strongest way that the machine
    ///     has.
    ///   - clock: the sources of time.
    /// - Returns: the device, not enrolled yet.
    /// - Throws: `malformed` for an impossible name, or `storage`.
    public static func make(
        in folder: String,
        team: String,
        app: String,
        signing: SigningAlgorithm = .ed25519,
        suite: RecipientSuite = .xWing,
        strength: StorageStrength? = nil,
        clock: DeviceClock = .system
    ) throws(DeploymentKeyError) -> DeviceIdentity {
        guard WireName.isValid(team), WireName.isValid(app) else {
            throw DeploymentKeyError(
                .malformed,
                at: "team \(team), app \(app)",
                "Names of teams and apps have 1 to 200 bytes and no control characters."
            )
        }
        try keyErrors(.storage, at: folder) { () throws(ModelError) in try PrivateFiles.makeFolder(folder) }
        return try withLock(folder) { () throws(DeploymentKeyError) in
            guard FileAccess.kind(of: folder + "/" + StoredDevice.name) == nil else {
                throw DeploymentKeyError(
                    .storage,
                    at: folder,
                    "The folder already contains a device; open or erase it."
                )
            }
            let (key, strength) = try SealingKey.openOrMake(folder, StoredDevice.sealingName, strength)
            let stored = try keyErrors(.storage, at: folder) { () throws(ModelError) in
                let stored = try StoredDevice(team: team, app: app, signing, suite, key)
                try PrivateFiles.write(stored.text(), to: folder + "/" + StoredDevice.name)
                return stored
            }
            return DeviceIdentity(folder, stored, key, strength, clock)
        }
    }

    /// Opens the device in a folder.
    ///
    /// - Parameters:
    ///   - folder: the folder's path.
    ///   - clock: the sources of time.
    /// - Returns: the device; `nil` when the folder holds none.
    /// - Throws: `storage`, or `storageDamaged` where the folder was changed or copied from another machine.
    public static func open(
        in folder: String,
        clock: DeviceClock = .system
    ) throws(DeploymentKeyError) -> DeviceIdentity? {
        let path = folder + "/" + StoredDevice.name
        guard FileAccess.kind(of: path) != nil else { return nil }
        guard let (key, strength) = try SealingKey.open(folder, StoredDevice.sealingName) else {
            throw DeploymentKeyError(
                .storageDamaged,
                at: folder,
                "The device's sealing key is gone; enrol a new device."
            )
        }
        let stored = try keyErrors(.storageDamaged, at: path) { () throws(ModelError) in
            try StoredDevice(text: try PrivateFiles.read(path, limit: StoredDevice.maximumTextByteCount) ?? [], key)
        }
        return DeviceIdentity(folder, stored, key, strength, clock)
    }

    /// Removes the device in a folder: its keys, its certificate and its leases.
    public static func erase(_ folder: String) throws(DeploymentKeyError) {
        try keyErrors(.storage, at: folder) { () throws(ModelError) in try FileAccess.remove(folder) }
    }

    private init(
        _ folder: String,
        _ stored: StoredDevice,
        _ sealingKey: ModelKey,
        _ strength: StorageStrength,
        _ clock: DeviceClock
    ) {
        self.folder = folder
        team = stored.team
        app = stored.app
        identity = stored.identity
        recipient = stored.recipient
        recipientSecret = stored.recipientSecret
        self.sealingKey = sealingKey
        self.strength = strength
        self.clock = clock
        device = DeviceIdentifier(
            team: stored.team,
            app: stored.app,
            identity: SigningPublicKey(stored.identity.publicKey)
        )
    }

    // MARK: State

    private static func withLock<R>(
        _ folder: String,
        _ body: () throws(DeploymentKeyError) -> R
    ) throws(DeploymentKeyError) -> R {
        try PrivateFiles.locked(folder + "/lock", { DeploymentKeyError(.storage, $0, at: folder) }, body)
    }

    /// Runs `body` while no other thread or process works in the folder.
    func locked<R>(_ body: () throws(DeploymentKeyError) -> R) throws(DeploymentKeyError) -> R {
        try Self.withLock(folder, body)
    }

    private var statePath: String { folder + "/state.json" }

    /// The stored counter and times; hold the lock when they are to be changed.
    func state() throws(DeploymentKeyError) -> DeviceState {
        try keyErrors(.storageDamaged, at: statePath) { () throws(ModelError) in
            guard let text = try PrivateFiles.read(statePath, limit: DeviceState.maximumTextByteCount) else {
                return DeviceState()
            }
            return try DeviceState(text: text, sealingKey)
        }
    }

    /// Changes counter and times; they are on disk when this returns.
    func changeState(_ change: (inout DeviceState) -> Void) throws(DeploymentKeyError) {
        try locked { () throws(DeploymentKeyError) in
            var state = try state()
            let before = state
            change(&state)
            guard state != before else { return }
            try keyErrors(.storage, at: statePath) { () throws(ModelError) in
                try PrivateFiles.write(state.text(sealingKey), to: statePath)
            }
        }
    }

    /// The time at which the device judges leases and certificates.
    ///
    /// It is the newest time that a service has signed plus what has passed since, where that is known; else the
    /// clock's, but never before the newest signed time.
    public func trustedTime() throws(DeploymentKeyError) -> ServiceTime { try state().time(clock) }

    // MARK: Certificate

    private var certificatePath: String { folder + "/certificate.json" }

    /// The certificate; `nil` before the device is enrolled.
    public func certificate() throws(DeploymentKeyError) -> DeviceCertificate? {
        let text = try keyErrors(.storage, at: certificatePath) { () throws(ModelError) in
            try PrivateFiles.read(certificatePath, limit: DeviceCertificate.maximumTextByteCount)
        }
        guard let text else { return nil }
        let certificate = try DeviceCertificate.read(text, else: .storageDamaged)
        guard certificate.device == device else {
            throw DeploymentKeyError(
                .storageDamaged,
                at: certificatePath,
                "The certificate belongs to another device; enrol again."
            )
        }
        return certificate
    }

    /// Whether the certificate should be renewed: a third of its lifetime or less is left.
    ///
    /// False before the device is enrolled.
    public func needsRenewal() throws(DeploymentKeyError) -> Bool {
        guard let certificate = try certificate() else { return false }
        let left = try trustedTime().distance(to: certificate.notAfter)
        return left <= certificate.notBefore.distance(to: certificate.notAfter) / 3
    }

    func store(_ certificate: DeviceCertificate) throws(DeploymentKeyError) {
        try keyErrors(.storage, at: certificatePath) { () throws(ModelError) in
            try PrivateFiles.write(certificate.text, to: certificatePath)
        }
    }

    /// The certificate, which requests need; throws `notEnrolled` without one.
    func enrolledCertificate() throws(DeploymentKeyError) -> DeviceCertificate {
        guard let certificate = try certificate() else {
            throw DeploymentKeyError(.notEnrolled, at: "device \(device)", "Enrol the device first.")
        }
        return certificate
    }
}

/// The file that makes a folder a device: its public keys, and the private ones under the sealing key.
struct StoredDevice {
    static let name = "device.json"
    static let sealingName = "sealing.json"
    static let type: StaticString = "mlk-device"
    static let maximumTextByteCount = 16 << 10

    let team: String
    let app: String
    let identity: IdentityKey
    let recipient: RecipientPublicKey
    let recipientSecret: SecretBytes
    private let sealingKey: ModelKey

    /// Creates a new device with new keys.
    init(
        team: String,
        app: String,
        _ signing: SigningAlgorithm,
        _ suite: RecipientSuite,
        _ sealingKey: ModelKey
    ) throws(ModelError) {
        self.team = team
        self.app = app
        identity = try IdentityKey(signing.engine)
        recipientSecret = .random()
        recipient = try Self.recipient(suite, recipientSecret)
        self.sealingKey = sealingKey
    }

    private static func recipient(
        _ suite: RecipientSuite,
        _ secret: SecretBytes
    ) throws(ModelError) -> RecipientPublicKey {
        let bytes = try KeyPair.publicKey(suite.engine, of: secret) ?? []
        do throws(DeploymentKeyError) { return try RecipientPublicKey(suite, bytes: bytes) } catch {
            throw ModelError(.malformed, error.message)
        }
    }

    /// The purpose that a secret is sealed for: its role, and whose it is.
    private func purpose(_ role: String) -> [UInt8] {
        let device = DeviceIdentifier(team: team, app: app, identity: SigningPublicKey(identity.publicKey))
        return Self.purpose(role, device, recipient)
    }

    private static func purpose(_ role: String, _ device: DeviceIdentifier, _ recipient: RecipientPublicKey) -> [UInt8]
    {
        Array("mlk/1 device \(role)\0".utf8) + device.bytes + DeviceIdentifier.prefixed(recipient.bytes)
    }

    func text() throws(ModelError) -> [UInt8] {
        CanonicalWriter.bytes(
            .object([
                .text("app", app), .integer("format", 1), .init("identity", SigningPublicKey(identity.publicKey).json),
                .base64(
                    "identitySecret",
                    try KeyPair.wrap(identity.secret, with: sealingKey, purpose: purpose("identity"))
                ),
                .init("recipient", recipient.json),
                .base64(
                    "recipientSecret",
                    try KeyPair.wrap(recipientSecret, with: sealingKey, purpose: purpose("recipient"))
                ),
                .text("team", team), .text("type", Self.type.description),
            ])
        )
    }

    init(text: [UInt8], _ sealingKey: ModelKey) throws(ModelError) {
        self = try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.object { (object) throws(ModelError) in try StoredDevice(members: &object, sealingKey) }
        }
    }

    private init(members reader: inout CanonicalReader, _ sealingKey: ModelKey) throws(ModelError) {
        app = try reader.name("app")
        try reader.format()
        let identityKey = try reader.signingKey("identity")
        let identitySecret = try reader.base64("identitySecret", limit: 128)
        recipient = try reader.recipientKey("recipient")
        let secret = try reader.base64("recipientSecret", limit: 128)
        team = try reader.name("team")
        try reader.type(Self.type)
        let device = DeviceIdentifier(team: team, app: app, identity: identityKey)
        identity = try IdentityKey(
            identityKey.algorithm.engine,
            secret: KeyPair.unwrap(
                identitySecret,
                with: sealingKey,
                purpose: Self.purpose("identity", device, recipient)
            )
        )
        recipientSecret = try KeyPair.unwrap(
            secret,
            with: sealingKey,
            purpose: Self.purpose("recipient", device, recipient)
        )
        guard identity.publicKey == identityKey.engine,
            try Self.recipient(recipient.suite, recipientSecret) == recipient
        else { throw ModelError(.malformed, "The device's private keys are not those of its public ones.") }
        self.sealingKey = sealingKey
    }
}
