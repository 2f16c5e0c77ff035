import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// `POST /v1/enroll`: a device asks to be known to the service.
public struct EnrolmentRequest: SignedMessage {
    static let type: StaticString = "mlk-enrolment-request"
    static let largestText = 64 << 10

    public let team: String
    public let app: String
    public let challenge: Challenge
    public let identity: SigningPublicKey
    public let recipient: RecipientPublicKey
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

    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text) }

    public var device: DeviceIdentifier { DeviceIdentifier(team: team, app: app, identity: identity) }

    /// What evidence must be bound to: a hash of the request without evidence and signature.
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

/// `POST /v1/renew`: a device that is known asks for a new certificate.
public struct RenewalRequest: SignedMessage {
    static let type: StaticString = "mlk-renewal-request"
    static let largestText = 16 << 10

    /// The certificate that ends; it may have ended a while ago.
    public let certificate: DeviceCertificate
    public let challenge: Challenge
    /// What content keys are wrapped for from now on: the same key as before, or a new one.
    public let recipient: RecipientPublicKey
    var signature = WireSignature.none

    init(certificate: DeviceCertificate, challenge: Challenge, recipient: RecipientPublicKey) {
        (self.certificate, self.challenge, self.recipient) = (certificate, challenge, recipient)
    }

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
    static let largestText = 16 << 10

    public let certificate: DeviceCertificate
    /// The hash of the request's text.
    public let request: [UInt8]
    public let time: ServiceTime
    var signature = WireSignature.none

    init(certificate: DeviceCertificate, request: [UInt8], time: ServiceTime) {
        (self.certificate, self.request, self.time) = (certificate, request, time)
    }

    /// Reads an answer; whether it is genuine is asked by `isSigned(byOneOf:)`.
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
