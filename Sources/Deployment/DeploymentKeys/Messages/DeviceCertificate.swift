import MLEncryption
import MLFiles
import MLNumerics

/// A key service's certificate of a device: whose device has which keys, and what it has proved about itself.
public struct DeviceCertificate: SignedMessage {
    static let type: StaticString = "mlk-device-certificate"
    static let maximumTextByteCount = 8 << 10

    /// The team that the device belongs to.
    public let team: String
    /// The app that the device runs.
    public let app: String
    /// The device's identifier.
    public let device: DeviceIdentifier
    /// The certificate's serial number.
    public let serial: SerialNumber
    /// The key that the device signs with.
    public let identity: SigningPublicKey
    /// The key that content keys are wrapped for.
    public let recipient: RecipientPublicKey
    /// The level that the device proved when it enrolled.
    public let attestation: AttestationLevel
    /// The time from which the certificate is valid.
    public let notBefore: ServiceTime
    /// The time at which the certificate expires.
    public let notAfter: ServiceTime
    var signature = WireSignature.none

    /// The identifier of the key-service key that signed the certificate.
    public var issuer: SignerIdentifier { signature.keyID }

    init(
        team: String,
        app: String,
        serial: SerialNumber,
        identity: SigningPublicKey,
        recipient: RecipientPublicKey,
        attestation: AttestationLevel,
        notBefore: ServiceTime,
        notAfter: ServiceTime
    ) {
        self.team = team
        self.app = app
        device = DeviceIdentifier(team: team, app: app, identity: identity)
        self.serial = serial
        self.identity = identity
        self.recipient = recipient
        self.attestation = attestation
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Reads a certificate; throws `malformed`, `unsupported` or `tooLarge`.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text) }

    var members: [JSONValue.Member] {
        [
            .text("app", app), .text("attestation", attestation.name), .text("device", device),
            .init("identity", identity.json), .text("notAfter", notAfter), .text("notBefore", notBefore),
            .init("recipient", recipient.json), .text("serial", serial), .text("team", team),
        ]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        app = try reader.name("app")
        attestation = try reader.member("attestation") { (value) throws(ModelError) in
            try AttestationLevel.read(&value)
        }
        device = try reader.identifier("device")
        try reader.format()
        identity = try reader.signingKey("identity")
        notAfter = try reader.time("notAfter")
        notBefore = try reader.time("notBefore")
        recipient = try reader.recipientKey("recipient")
        serial = try reader.identifier("serial")
        signature = try reader.signature()
        team = try reader.name("team")
        try reader.type(Self.type)
        guard device == DeviceIdentifier(team: team, app: app, identity: identity) else {
            throw reader.error("the device's name is not that of its identity key")
        }
    }
}
