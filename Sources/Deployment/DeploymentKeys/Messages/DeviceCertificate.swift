import MLEncryption
import MLFiles
import MLNumerics

/// What a key service vouches for: whose device has which keys, and how much the device has proved of itself.
public struct DeviceCertificate: SignedMessage {
    static let type: StaticString = "mlk-device-certificate"
    static let largestText = 8 << 10

    public let team: String
    public let app: String
    public let device: DeviceIdentifier
    public let serial: SerialNumber
    /// What the device signs with.
    public let identity: SigningPublicKey
    /// What content keys are wrapped for.
    public let recipient: RecipientPublicKey
    public let attestation: AttestationLevel
    public let notBefore: ServiceTime
    public let notAfter: ServiceTime
    var signature = WireSignature.none

    /// The name of the key-service key that signed the certificate.
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
