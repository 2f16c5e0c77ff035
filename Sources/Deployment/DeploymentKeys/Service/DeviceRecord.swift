import MLEncryption
import MLFiles
import MLNumerics

/// A key service's record of a device.
public struct DeviceRecord: Sendable, Hashable {
    /// Whether a device may get keys.
    public enum Status: String, Sendable {
        /// The device may get keys.
        case active
        /// The device was revoked.
        case revoked
        /// Two machines have used the device's identity.
        case cloned
    }

    /// The team that the device belongs to.
    public let team: String
    /// The app that the device runs.
    public let app: String
    /// The device's identifier.
    public let device: DeviceIdentifier
    /// The key that the device signs with.
    public let identity: SigningPublicKey
    /// The key that content keys are wrapped for.
    public internal(set) var recipient: RecipientPublicKey
    /// The level that the device has proved.
    public internal(set) var attestation: AttestationLevel
    /// The time at which the device enrolled.
    public internal(set) var enrolled: ServiceTime
    /// The time at which its newest certificate expires.
    public internal(set) var certificateEnd: ServiceTime
    /// Whether the device may get keys.
    public var status: Status = .active
    /// The counter of the newest release request; 0 before the first.
    public internal(set) var counter = 0
    /// The recent release requests, the oldest first.
    var recent: [Request] = []

    struct Request: Sendable, Hashable {
        let nonce: RequestNonce
        let keyID: KeyIdentifier
        let time: ServiceTime
        /// Whether the request was within the limits; others do not count against them.
        var counts = true
    }

    init(certificate: DeviceCertificate) {
        team = certificate.team
        app = certificate.app
        device = certificate.device
        identity = certificate.identity
        recipient = certificate.recipient
        attestation = certificate.attestation
        enrolled = certificate.notBefore
        certificateEnd = certificate.notAfter
    }

    /// Takes over the keys, level and end of a newer certificate; what the service has observed stays.
    public mutating func renew(_ newer: DeviceRecord) {
        recipient = newer.recipient
        attestation = newer.attestation
        certificateEnd = newer.certificateEnd
    }

    // MARK: Releases

    /// The largest number of remembered requests: more than the limits admit in the time for which they count.
    static let maximumRecentCount = 256

    /// Decides whether a release request is new, recent, from the only device with this identity, and within the
    /// limits.
    ///
    /// The request is remembered, and a clone is noted in ``status``: the caller stores the record whatever the result,
    /// which is `nil` for an admitted request and otherwise the error.
    mutating func admit(
        _ request: ReleaseRequest,
        isFresh: Bool,
        at now: ServiceTime,
        _ limits: KeyServicePolicy
    ) -> DeploymentKeyError? {
        if let refusal = refusal { return refusal }
        forget(at: now, limits)
        if recent.contains(where: { $0.nonce == request.nonce }) {
            return DeploymentKeyError(
                .replayed,
                at: "nonce",
                "The service has answered this request already; make a new one."
            )
        }
        guard isFresh else {
            return DeploymentKeyError(
                .clockSkew,
                at: "time",
                "The device's clock shows \(request.time), but it is \(now); ask again with the challenge."
            )
        }
        guard request.counter > counter else {
            status = .cloned
            return refusal
        }
        let excess = excess(request.keyID, limits, now)
        guard recent.count < Self.maximumRecentCount else {
            return excess ?? tooMany(limits.releasesPerDevice, since: now, now)
        }
        counter = request.counter
        recent.append(Request(nonce: request.nonce, keyID: request.keyID, time: now, counts: excess == nil))
        return excess
    }

    /// Removes requests that no replay check or limit needs any more.
    private mutating func forget(at now: ServiceTime, _ limits: KeyServicePolicy) {
        // A request is fresh for this time before and after it was made.
        let fresh = 2 * max(limits.clockTolerance, limits.challengeLifetime)
        let counted = max(fresh, limits.releasesPerDevice.seconds, limits.releasesPerKey.seconds)
        recent.removeAll { $0.time.distance(to: now) > ($0.counts ? counted : fresh) }
    }

    /// The reason why the device gets no keys any more; `nil` while it may.
    var refusal: DeploymentKeyError? {
        switch status {
        case .active: nil
        case .revoked:
            DeploymentKeyError(
                .revoked,
                at: "device \(device)",
                "The device was revoked; ask the operator of the service."
            )
        case .cloned:
            DeploymentKeyError(
                .cloned,
                at: "device \(device)",
                "Two machines use the identity of this device; each has to enrol with its own identity."
            )
        }
    }

    /// The error for the limit that one more request for a key would exceed; `nil` for none.
    private func excess(
        _ keyID: KeyIdentifier,
        _ limits: KeyServicePolicy,
        _ now: ServiceTime
    ) -> DeploymentKeyError? {
        for (limit, key) in [(limits.releasesPerKey, keyID), (limits.releasesPerDevice, nil)] {
            let counted = recent.filter {
                $0.counts && (key == nil || $0.keyID == key) && $0.time.distance(to: now) < limit.seconds
            }
            if counted.count >= limit.count, let first = counted.dropLast(limit.count - 1).last {
                return tooMany(limit, since: first.time, now)
            }
        }
        return nil
    }

    private func tooMany(_ limit: RateLimit, since first: ServiceTime, _ now: ServiceTime) -> DeploymentKeyError {
        DeploymentKeyError(
            .rateLimited,
            at: "device \(device)",
            "More than \(limit.count) requests in \(limit.seconds) seconds; wait.",
            retryAfter: max(1, limit.seconds - first.distance(to: now))
        )
    }

    // MARK: Text

    private static let type: StaticString = "mlk-device-record"

    /// The record as canonical JSON, for a database.
    public var text: [UInt8] {
        CanonicalWriter.bytes(
            .object([
                .text("app", app), .text("attestation", attestation.name), .text("certificateEnd", certificateEnd),
                .integer("counter", counter), .text("device", device), .text("enrolled", enrolled),
                .integer("format", 1), .init("identity", identity.json),
                .init(
                    "recent",
                    .array(
                        recent.map {
                            .object([
                                .init("counts", .bool($0.counts)), .text("keyID", $0.keyID), .text("nonce", $0.nonce),
                                .text("time", $0.time),
                            ])
                        }
                    )
                ),
                .init("recipient", recipient.json), .text("status", status.rawValue), .text("team", team),
                .text("type", Self.type.description),
            ])
        )
    }

    /// Reads a record that ``text`` wrote; throws `storageDamaged` for any other text.
    public init(text: [UInt8]) throws(DeploymentKeyError) {
        self = try keyErrors(.storageDamaged, at: "device record") { () throws(ModelError) in
            try CanonicalReader.read(text) { (reader) throws(ModelError) in
                try reader.object { (object) throws(ModelError) in try DeviceRecord(members: &object) }
            }
        }
    }

    private init(members reader: inout CanonicalReader) throws(ModelError) {
        app = try reader.name("app")
        attestation = try reader.member("attestation") { (value) throws(ModelError) in
            try AttestationLevel.read(&value)
        }
        certificateEnd = try reader.time("certificateEnd")
        counter = try reader.integer("counter")
        device = try reader.identifier("device")
        enrolled = try reader.time("enrolled")
        try reader.format()
        identity = try reader.signingKey("identity")
        recent = try reader.member("recent") { (value) throws(ModelError) in
            try value.list(limit: Self.maximumRecentCount) { (item) throws(ModelError) in
                try item.object { (request) throws(ModelError) in
                    let counts = try request.member("counts") { (value) throws(ModelError) in try value.bool() }
                    let keyID: KeyIdentifier = try request.identifier("keyID")
                    let nonce: RequestNonce = try request.identifier("nonce")
                    return Request(nonce: nonce, keyID: keyID, time: try request.time("time"), counts: counts)
                }
            }
        }
        recipient = try reader.recipientKey("recipient")
        status = try reader.choice("status", Status.self)
        team = try reader.name("team")
        try reader.type(Self.type)
    }
}

/// A number of requests in a number of seconds.
public struct RateLimit: Sendable, Hashable {
    /// The largest number of requests.
    public var count: Int
    /// The length of the time window in seconds.
    public var seconds: Int

    /// Creates a limit.
    public init(_ count: Int, per seconds: Int) { (self.count, self.seconds) = (count, seconds) }
}
