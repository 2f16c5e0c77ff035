import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// The body of `POST /v1/enroll`: a device asks to be registered with the service.
public struct EnrolmentRequest: SignedMessage {
    static let type: StaticString = "mlk-enrolment-request"
    static let maximumTextByteCount = 64 << 10

    /// The team that the device belongs to.
    public let team: String
    /// The app that the device runs.
    public let app: String
    /// A recent challenge of the service.
    public let challenge: Challenge
    /// The device's signing key, which signs the request.
    public let identity: SigningPublicKey
    /// The key that content keys are to be wrapped for.
    public let recipient: RecipientPublicKey
    /// The evidence of what the device proves about itself.
    public internal(set) var attestation: AttestationEvidence
    var signature = WireSignature.none

    init(
        team: String,
        app: String,
        challenge: Challenge,
        identity: SigningPublicKey,
        recipient: RecipientPublicKey,
        attestation: AttestationEvidence
    ) {
        self.team = team
        self.app = app
        self.challenge = challenge
        self.identity = identity
        self.recipient = recipient
        self.attestation = attestation
    }

    /// Reads a request; throws `malformed`, `unsupported` or `tooLarge`.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text) }

    /// The identifier that the device will have.
    public var device: DeviceIdentifier { DeviceIdentifier(team: team, app: app, identity: identity) }

    /// The hash that evidence must be bound to: of the request without evidence and signature.
    public var binding: [UInt8] {
        var text = Array("mlk/1 attestation\0".utf8)
        text += CanonicalWriter.bytes(.object(unsignedMembers.filter { $0.name != "attestation" }))
        return Array(SHA256.hash(data: text))
    }

    var members: [JSONValue.Member] {
        [
            .text("app", app), .init("attestation", attestation.json), .base64("challenge", challenge.bytes),
            .init("identity", identity.json), .init("recipient", recipient.json), .text("team", team),
        ]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        app = try reader.name("app")
        attestation = try reader.member("attestation") { (value) throws(ModelError) in
            try AttestationEvidence(&value)
        }
        challenge = Challenge(trusted: try reader.base64("challenge", count: Challenge.byteCount))
        try reader.format()
        identity = try reader.signingKey("identity")
        recipient = try reader.recipientKey("recipient")
        signature = try reader.signature()
        team = try reader.name("team")
        try reader.type(Self.type)
    }
}

/// The body of `POST /v1/renew`: a registered device asks for a new certificate.
public struct RenewalRequest: SignedMessage {
    static let type: StaticString = "mlk-renewal-request"
    static let maximumTextByteCount = 16 << 10

    /// The current certificate, which may have expired a while ago.
    public let certificate: DeviceCertificate
    /// A recent challenge of the service.
    public let challenge: Challenge
    /// The key that content keys are to be wrapped for from now on: the same as before, or a new one.
    public let recipient: RecipientPublicKey
    var signature = WireSignature.none

    init(certificate: DeviceCertificate, challenge: Challenge, recipient: RecipientPublicKey) {
        (self.certificate, self.challenge, self.recipient) = (certificate, challenge, recipient)
    }

    /// Reads a request; throws `malformed`, `unsupported` or `tooLarge`.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text) }

    var members: [JSONValue.Member] {
        [
            .init("certificate", certificate.json), .base64("challenge", challenge.bytes),
            .init("recipient", recipient.json),
        ]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        certificate = try reader.member("certificate") { (value) throws(ModelError) in
            try DeviceCertificate.read(&value)
        }
        challenge = Challenge(trusted: try reader.base64("challenge", count: Challenge.byteCount))
        try reader.format()
        recipient = try reader.recipientKey("recipient")
        signature = try reader.signature()
        try reader.type(Self.type)
    }
}

/// The answer to enrolment and renewal.
public struct EnrolmentResponse: SignedMessage {
    static let type: StaticString = "mlk-enrolment-response"
    static let maximumTextByteCount = 16 << 10

    /// The new certificate.
    public let certificate: DeviceCertificate
    /// The SHA-256 of the request's text.
    public let request: [UInt8]
    /// The service's time.
    public let time: ServiceTime
    var signature = WireSignature.none

    init(certificate: DeviceCertificate, request: [UInt8], time: ServiceTime) {
        (self.certificate, self.request, self.time) = (certificate, request, time)
    }

    /// Reads an answer; `isSigned(byOneOf:)` tells whether it is genuine.
    ///
    /// Throws `responseMalformed` for any other text.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text, else: .responseMalformed) }

    var members: [JSONValue.Member] {
        [.init("certificate", certificate.json), .hexadecimal("request", request), .text("time", time)]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        certificate = try reader.member("certificate") { (value) throws(ModelError) in
            try DeviceCertificate.read(&value)
        }
        try reader.format()
        request = try reader.hash("request")
        signature = try reader.signature()
        time = try reader.time("time")
        try reader.type(Self.type)
    }
}
