package import MLEncryption
import MLFiles
import MLNumerics

/// The body of `POST /v1/keys/{keyID}/release`: a device asks for the content key of a model.
public struct ReleaseRequest: SignedMessage {
    static let type: StaticString = "mlk-release-request"
    static let maximumTextByteCount = 16 << 10

    /// The device's certificate.
    public let certificate: DeviceCertificate
    /// The key that the content key is wrapped for.
    public let keyID: KeyIdentifier
    /// The model's content identifier.
    public let content: ContentIdentifier
    /// The content key, wrapped for the team's key.
    public let contentKey: [UInt8]
    /// The SHA-256 of the archive that contained the model; `nil` for a model in the app bundle.
    public let archive: [UInt8]?
    /// Random bytes that make the request unique.
    public let nonce: RequestNonce
    /// The device's counter, larger than in all its earlier requests.
    public let counter: Int
    /// The device's time.
    public let time: ServiceTime
    /// A challenge that replaces ``time``, where there is one.
    public let challenge: Challenge?
    var signature = WireSignature.none

    init(
        certificate: DeviceCertificate,
        model: WrappedContentKey,
        nonce: RequestNonce,
        counter: Int,
        time: ServiceTime,
        challenge: Challenge?
    ) {
        self.certificate = certificate
        keyID = model.keyID
        content = model.content
        contentKey = model.wrapped
        archive = model.archive
        self.nonce = nonce
        self.counter = counter
        self.time = time
        self.challenge = challenge
    }

    /// Reads a request; throws `malformed`, `unsupported` or `tooLarge`.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text) }

    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("certificate", certificate.json), .text("contentID", content), .base64("contentKey", contentKey),
            .integer("counter", counter), .text("keyID", keyID), .text("nonce", nonce), .text("time", time),
        ]
        if let archive { members.append(.hexadecimal("archive", archive)) }
        if let challenge { members.append(.base64("challenge", challenge.bytes)) }
        return members
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        archive = try reader.optionalHash("archive")
        certificate = try reader.member("certificate") { (value) throws(ModelError) in
            try DeviceCertificate.read(&value)
        }
        challenge = try reader.optionalChallenge()
        content = try reader.identifier("contentID")
        contentKey = try reader.base64("contentKey", limit: 2048)
        counter = try reader.integer("counter")
        try reader.format()
        keyID = try reader.identifier("keyID")
        nonce = try reader.identifier("nonce")
        signature = try reader.signature()
        time = try reader.time("time")
        try reader.type(Self.type)
    }
}

/// The content key of a model as the model contains it: wrapped for the team's key.
public struct WrappedContentKey: Hashable, Sendable {
    /// The key that it is wrapped for.
    public let keyID: KeyIdentifier
    /// The content identifier of the model.
    public let content: ContentIdentifier
    /// The wrapped key, 1 to 2,048 bytes.
    public let wrapped: [UInt8]
    /// The SHA-256 of the archive that contained the model; `nil` for a model in the app bundle.
    public let archive: [UInt8]?

    /// Creates a wrapped key; throws `malformed` when the hash or the wrapped key has an impossible length.
    public init(
        keyID: KeyIdentifier,
        content: ContentIdentifier,
        wrapped: [UInt8],
        archive: [UInt8]? = nil
    ) throws(DeploymentKeyError) {
        guard 1...2048 ~= wrapped.count, archive.map({ $0.count == 32 }) ?? true else {
            throw DeploymentKeyError(
                .malformed,
                at: "content \(content)",
                "A wrapped key has at most 2048 bytes, the SHA-256 of an archive 32."
            )
        }
        (self.keyID, self.content, self.wrapped, self.archive) = (keyID, content, wrapped, archive)
    }
}

/// The terms of a lease: which content key a device may use, and for how long.
public struct LeaseTerms: WireMessage, Hashable {
    static let type: StaticString = "mlk-lease"
    static let maximumTextByteCount = 4 << 10

    /// The lease's serial number.
    public let serial: SerialNumber
    /// The team whose key it is.
    public let team: String
    /// The app that the device runs.
    public let app: String
    /// The device that the lease was given to.
    public let device: DeviceIdentifier
    /// The key that the content key is wrapped for.
    public let keyID: KeyIdentifier
    /// The model's content identifier.
    public let content: ContentIdentifier
    /// The time at which the lease was given.
    public let notBefore: ServiceTime
    /// The time at which the lease ends; `nil` for never.
    public let notAfter: ServiceTime?
    /// The seconds after the lease's end for which it still opens the model on a device that is offline.
    public let offlineGrace: Int
    /// The SHA-256 of the request's text.
    public let request: [UInt8]

    /// The time after which the lease opens nothing any more, grace period included; `nil` for never.
    public var end: ServiceTime? { notAfter?.advanced(by: offlineGrace) }

    init(
        serial: SerialNumber,
        request: ReleaseRequest,
        requestHash: [UInt8],
        notBefore: ServiceTime,
        notAfter: ServiceTime?,
        offlineGrace: Int
    ) {
        self.serial = serial
        team = request.certificate.team
        app = request.certificate.app
        device = request.certificate.device
        keyID = request.keyID
        content = request.content
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.offlineGrace = offlineGrace
        self.request = requestHash
    }

    var members: [JSONValue.Member] {
        [
            .text("app", app), .text("contentID", content), .text("device", device), .text("keyID", keyID),
            .text("notAfter", notAfter?.description ?? "never"), .text("notBefore", notBefore),
            .integer("offlineGrace", offlineGrace), .hexadecimal("request", request), .text("serial", serial),
            .text("team", team),
        ]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        app = try reader.name("app")
        content = try reader.identifier("contentID")
        device = try reader.identifier("device")
        try reader.format()
        keyID = try reader.identifier("keyID")
        notAfter = try reader.member("notAfter") { (value) throws(ModelError) in
            let text = try value.string(limit: 20)
            if text == "never" { return nil }
            guard let time = ServiceTime(text) else { throw value.error("a date or \"never\" was expected") }
            return time
        }
        notBefore = try reader.time("notBefore")
        offlineGrace = try reader.integer("offlineGrace")
        request = try reader.hash("request")
        serial = try reader.identifier("serial")
        team = try reader.name("team")
        try reader.type(Self.type)
    }
}

/// The answer to a ``ReleaseRequest``: the content key, wrapped for the device, and the lease.
public struct ReleaseResponse: SignedMessage {
    static let type: StaticString = "mlk-release-response"
    static let maximumTextByteCount = 16 << 10

    /// The terms of the lease.
    public let lease: LeaseTerms
    /// HPKE's encapsulated key and the ciphertext of the content key.
    public let contentKey: [UInt8]
    /// The suite that the content key is wrapped with.
    public let suite: RecipientSuite
    /// The service's time.
    public let time: ServiceTime
    var signature = WireSignature.none

    init(lease: LeaseTerms, contentKey: [UInt8], suite: RecipientSuite, time: ServiceTime) {
        (self.lease, self.contentKey, self.suite, self.time) = (lease, contentKey, suite, time)
    }

    var members: [JSONValue.Member] {
        [
            .base64("contentKey", contentKey), .init("lease", .object(lease.unsignedMembers)),
            .text("suite", suite.rawValue), .text("time", time),
        ]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        contentKey = try reader.base64("contentKey", limit: 2048)
        try reader.format()
        lease = try reader.member("lease") { (value) throws(ModelError) in try LeaseTerms.read(&value) }
        signature = try reader.signature()
        suite = try reader.choice("suite", RecipientSuite.self)
        time = try reader.time("time")
        try reader.type(Self.type)
        guard contentKey.count == suite.wrappedByteCount else {
            throw reader.error("the wrapped key does not have the length that this suite requires")
        }
    }

    /// Reads an answer; `isSigned(byOneOf:)` tells whether it is genuine.
    ///
    /// Throws `responseMalformed` for any other text.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text, else: .responseMalformed) }

    /// The content key, unwrapped with the private key that it was wrapped for.
    ///
    /// `hash` is the SHA-256 of the request's text. Throws `contentKeyInvalid` for another key or request.
    package func contentKey(
        with recipient: SecretBytes,
        request hash: [UInt8]
    ) throws(DeploymentKeyError) -> ContentKey {
        let purpose = Self.purpose(team: lease.team, app: lease.app, device: lease.device, keyID: lease.keyID)
        return ContentKey(
            try keyErrors(.contentKeyInvalid, at: "lease \(lease.serial)") { () throws(ModelError) in
                try KeyPair.unwrap(
                    contentKey,
                    suite.engine,
                    with: recipient,
                    purpose: purpose,
                    authenticating: hash
                )
            }
        )
    }

    /// HPKE's `info`: for whom and with which key a content key is wrapped.
    static func purpose(
        team: String,
        app: String,
        device: DeviceIdentifier,
        keyID: KeyIdentifier
    ) -> [UInt8] {
        var info = Array("mlk release v1".utf8)
        for part in [Array(team.utf8), Array(app.utf8), device.bytes, keyID.bytes] {
            info += DeviceIdentifier.prefixed(part)
        }
        return info
    }
}
