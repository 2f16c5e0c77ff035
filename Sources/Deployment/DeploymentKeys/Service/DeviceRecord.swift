import MLEncryption
import MLFiles
import MLNumerics

/// What a key service knows of a device.
public struct DeviceRecord: Sendable, Hashable {
    public enum Status: String, Sendable {
        case active
        /// Somebody took its rights away.
        case revoked
        /// Two machines have used its identity.
        case cloned
    }

    public let team: String
    public let app: String
    public let device: DeviceIdentifier
    public let identity: SigningPublicKey
    public internal(set) var recipient: RecipientPublicKey
    public internal(set) var attestation: AttestationLevel
    public internal(set) var enrolled: ServiceTime
    /// The end of its newest certificate.
    public internal(set) var certificateEnd: ServiceTime
    public var status: Status = .active
    /// The counter of the newest release request; 0 before the first.
    public internal(set) var counter = 0
    /// The release requests of the last minutes, the oldest first.
    var recent: [Request] = []

    struct Request: Sendable, Hashable {
        let nonce: RequestNonce
        let keyID: KeyIdentifier
        let time: ServiceTime
        /// Whether it was within the limits; others do not count against them.
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

    /// Takes over what a newer certificate says; what the service has observed of the device stays.
    public mutating func renew(_ newer: DeviceRecord) {
        recipient = newer.recipient
        attestation = newer.attestation
        certificateEnd = newer.certificateEnd
    }

    // MARK: Releases

    /// Most requests that are remembered: more than the limits let through in the time for which they count.
    static let mostRecent = 256

    /// Decides whether a release request is new, young, the device's own and not one too many, and remembers it.
    ///
    /// - Returns: `nil` when it is; else why not.  A clone is remembered in `status`: whoever calls this writes the record in
    ///   either case.
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
                "The device's clock says \(request.time), and it is \(now); ask again with the challenge."
            )
        }
        guard request.counter > counter else {
            status = .cloned
            return refusal
        }
        let excess = excess(request.keyID, limits, now)
        guard recent.count < Self.mostRecent else {
            return excess ?? tooMany(limits.releasesPerDevice, since: now, now)
        }
        counter = request.counter
        recent.append(Request(nonce: request.nonce, keyID: request.keyID, time: now, counts: excess == nil))
        return excess
    }

    /// Drops what neither a replay nor a limit can refer to any more.
    private mutating func forget(at now: ServiceTime, _ limits: KeyServicePolicy) {
        // A request is fresh for that long before and after it was made.
        let fresh = 2 * max(limits.clockTolerance, limits.challengeLifetime)
        let counted = max(fresh, limits.releasesPerDevice.seconds, limits.releasesPerKey.seconds)
        recent.removeAll { $0.time.distance(to: now) > ($0.counts ? counted : fresh) }
    }

    /// Why the device gets nothing any more; `nil` while it may.
    var refusal: DeploymentKeyError? {
        switch status {
        case .active: nil
        case .revoked:
            DeploymentKeyError(
                .revoked,
                at: "device \(device)",
                "The device was revoked; ask who runs the service."
            )
        case .cloned:
            DeploymentKeyError(
                .cloned,
                at: "device \(device)",
                "Two machines use the identity of this device; each has to enrol with one of its own."
            )
        }
    }

    /// Which limit one more request for a key would exceed; `nil` for none.
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

    /// The record as text, for a database.
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

    /// Reads what `text` wrote.
    /// - Throws: `storageDamaged`.
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
            try value.list(limit: Self.mostRecent) { (item) throws(ModelError) in
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

/// So many in so many seconds.
public struct RateLimit: Sendable, Hashable {
    public var count: Int
    public var seconds: Int

    public init(_ count: Int, per seconds: Int) { (self.count, self.seconds) = (count, seconds) }
}
