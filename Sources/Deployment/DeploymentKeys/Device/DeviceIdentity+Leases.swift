package import MLEncryption
import MLFiles
import MLNumerics

/// A content key that this device holds, with the terms of its lease.
public struct HeldLease: Sendable {
    /// The key that decrypts the model.
    public let contentKey: ContentKey
    /// The terms of the lease.
    public let terms: LeaseTerms
    /// The seconds for which models open with it from now on, grace period included; `nil` for ever.
    public let remaining: Int?
    /// Whether the lease has ended and only its grace period for offline devices is left: get a new one.
    public let isInGrace: Bool
}

extension DeviceIdentity {
    // MARK: Releases

    /// The body of `POST /v1/keys/{keyID}/release`.
    ///
    /// The request's counter is on disk before this returns; a request that is never sent does no harm.
    ///
    /// - Parameters:
    ///   - model: the content key as the model contains it.
    ///   - challenge: a challenge that replaces the device's clock, when the service demands one.
    /// - Returns: the request.
    /// - Throws: `notEnrolled`, `storage` or `storageDamaged`.
    public func releaseRequest(
        _ model: WrappedContentKey,
        _ challenge: Challenge? = nil
    ) throws(DeploymentKeyError) -> PendingRelease {
        let certificate = try enrolledCertificate()
        var (counter, time) = (0, clock.now())
        let clock = clock
        try changeState { state in
            state.counter += 1
            (counter, time) = (state.counter, state.time(clock))
        }
        let request = ReleaseRequest(
            certificate: certificate,
            model: model,
            nonce: .random(),
            counter: counter,
            time: time,
            challenge: challenge
        )
        return PendingRequest(body: try sign(request))
    }

    /// Checks the answer to a release request, and stores the lease.
    ///
    /// - Parameters:
    ///   - body: the body of the answer.
    ///   - request: the request that it answers.
    ///   - keys: the key-service keys of the team that the caller trusts.
    /// - Returns: the lease with the opened content key.
    /// - Throws: the service's error; `responseMalformed`, `responseUntrusted`, `responseForOtherRequest`,
    ///   `leaseForOtherDevice`, `leaseForOtherKey` or `contentKeyInvalid` for a wrong answer; `leaseExpired`; or
    ///   `storage`.
    @discardableResult
    public func accept(
        _ body: [UInt8],
        for request: PendingRelease,
        trusting keys: [SigningPublicKey]
    ) throws(DeploymentKeyError) -> HeldLease {
        if FailureMessage.isFailure(body) { throw try failure(body, for: request.hash, trusting: keys) }
        let (response, contentKey) = try Self.open(
            body,
            for: request.body,
            with: recipientSecret,
            suite: recipient.suite,
            trusting: keys
        )
        let terms = response.lease
        try learn(response.time)
        try write(response, contentKey)
        return try held(terms, contentKey)
    }

    /// Checks an answer and opens the content key in it; nothing is stored.
    package static func open(
        _ body: [UInt8],
        for request: [UInt8],
        with recipient: SecretBytes,
        suite: RecipientSuite,
        trusting keys: [SigningPublicKey]
    ) throws(DeploymentKeyError) -> (response: ReleaseResponse, contentKey: ContentKey) {
        let response = try ReleaseResponse(text: body)
        guard response.isSigned(byOneOf: keys) else { throw untrusted }
        let (terms, hash, asked) = (response.lease, messageHash(request), try ReleaseRequest(text: request))
        let certificate = asked.certificate
        try check(terms, certificate.device, certificate.team, certificate.app)
        try check(terms, keyID: asked.keyID, content: asked.content)
        guard terms.request == hash else { throw otherRequest }
        guard response.suite == suite, terms.notBefore <= response.time,
            terms.notAfter.map({ $0 > terms.notBefore }) ?? true
        else {
            throw DeploymentKeyError(.responseMalformed, at: "lease", "The lease is inconsistent.")
        }
        return (response, try response.contentKey(with: recipient, request: hash))
    }

    /// Throws `leaseForOtherDevice` unless a lease is this device's.
    private static func check(
        _ terms: LeaseTerms,
        _ device: DeviceIdentifier,
        _ team: String,
        _ app: String,
        retry: DeploymentKeyError.Retry = .never
    ) throws(DeploymentKeyError) {
        guard terms.device == device, terms.team == team, terms.app == app else {
            throw DeploymentKeyError(
                .leaseForOtherDevice,
                at: "lease \(terms.serial)",
                "The lease was given to another device or app.",
                retry: retry
            )
        }
    }

    /// Throws `leaseForOtherKey` unless a lease is for this key and this model.
    private static func check(
        _ terms: LeaseTerms,
        keyID: KeyIdentifier,
        content: ContentIdentifier,
        retry: DeploymentKeyError.Retry = .never
    ) throws(DeploymentKeyError) {
        guard terms.keyID == keyID, terms.content == content else {
            throw DeploymentKeyError(
                .leaseForOtherKey,
                at: "lease \(terms.serial)",
                "The lease is for another key or another model.",
                retry: retry
            )
        }
    }

    // MARK: Leases at rest

    private static let leaseSuffix = ".lease"
    private var leaseFolder: String { folder + "/leases" }
    private func leasePath(_ content: ContentIdentifier) -> String {
        leaseFolder + "/" + content.description + Self.leaseSuffix
    }

    private func write(_ response: ReleaseResponse, _ contentKey: ContentKey) throws(DeploymentKeyError) {
        try keyErrors(.storage, at: leasePath(response.lease.content)) { () throws(ModelError) in
            try PrivateFiles.makeFolder(leaseFolder)
            let sealed = try KeyPair.wrap(
                contentKey.secret,
                with: sealingKey,
                purpose: StoredLease.purpose(response)
            )
            let text = StoredLease(response: response, contentKey: sealed).text
            try PrivateFiles.write(text, to: leasePath(response.lease.content))
        }
    }

    /// The stored lease for a model, opened without a network.
    ///
    /// - Parameters:
    ///   - content: the model's content identifier.
    ///   - keyID: the identifier of the key that the model was encrypted with.
    /// - Returns: the lease; `nil` when the device holds none.
    /// - Throws: `leaseExpired`, `leaseRevoked`, `leaseForOtherDevice`, `leaseForOtherKey`, `storage` or
    ///   `storageDamaged`.
    public func lease(_ content: ContentIdentifier, _ keyID: KeyIdentifier) throws(DeploymentKeyError) -> HeldLease? {
        guard let stored = try storedLease(content) else { return nil }
        let terms = stored.response.lease
        try Self.check(terms, device, team, app, retry: .now)
        try Self.check(terms, keyID: keyID, content: content, retry: .now)
        if let state = try revocations(), state.revokes(terms) {
            throw DeploymentKeyError(
                .leaseRevoked,
                at: "lease \(terms.serial)",
                "The service has revoked the lease."
            )
        }
        let contentKey = ContentKey(
            try keyErrors(.storageDamaged, at: leasePath(content)) { () throws(ModelError) in
                try KeyPair.unwrap(stored.contentKey, with: sealingKey, purpose: StoredLease.purpose(stored.response))
            }
        )
        let held = try held(terms, contentKey)
        try recordUse(terms)
        return held
    }

    private func storedLease(_ content: ContentIdentifier) throws(DeploymentKeyError) -> StoredLease? {
        let path = leasePath(content)
        let text = try keyErrors(.storage, at: path) { () throws(ModelError) in
            try PrivateFiles.read(path, limit: StoredLease.maximumTextByteCount)
        }
        return try text.map { (text) throws(DeploymentKeyError) in try StoredLease.read(text, else: .storageDamaged) }
    }

    private func held(_ terms: LeaseTerms, _ contentKey: ContentKey) throws(DeploymentKeyError) -> HeldLease {
        let now = try state().time(clock)
        let remaining = terms.end.map { now.distance(to: $0) }
        guard remaining.map({ $0 > 0 }) ?? true else {
            throw DeploymentKeyError(
                .leaseExpired,
                at: "lease \(terms.serial)",
                "The lease ended at \(terms.notAfter?.description ?? "never"), its grace \(terms.offlineGrace) seconds later, "
                    + "and it is \(now); get a new one.",
                retry: .now
            )
        }
        return HeldLease(
            contentKey: contentKey,
            terms: terms,
            remaining: remaining,
            isInGrace: terms.notAfter.map { $0 <= now } ?? false
        )
    }

    /// Records that it was at least now: a clock that is set back later does not extend a lease.
    private func recordUse(_ terms: LeaseTerms) throws(DeploymentKeyError) {
        guard let end = terms.end else { return }
        let state = try state()
        let now = min(state.time(clock), end)
        // Once an hour is enough, and spares the disk.
        guard max(state.lastUse, state.signedTime).distance(to: now) > 3600 else { return }
        try changeState { $0.lastUse = max($0.lastUse, now) }
    }

    /// Removes the lease that the device holds for a model.
    public func forget(_ content: ContentIdentifier) throws(DeploymentKeyError) {
        try keyErrors(.storage, at: leasePath(content)) { () throws(ModelError) in
            try FileAccess.remove(leasePath(content))
        }
    }

    /// The terms of all leases that the device holds.
    public func leases() throws(DeploymentKeyError) -> [LeaseTerms] {
        guard FileAccess.kind(of: leaseFolder) == .folder else { return [] }
        let names = try keyErrors(.storage, at: leaseFolder) { () throws(ModelError) in
            try FileAccess.names(in: leaseFolder)
        }
        var result: [LeaseTerms] = []
        for name in names where name.hasSuffix(Self.leaseSuffix) {
            guard let content = ContentIdentifier(name.dropLast(Self.leaseSuffix.count)),
                let stored = try storedLease(content)
            else { continue }
            result.append(stored.response.lease)
        }
        return result
    }

    // MARK: Revocations

    private var revocationPath: String { folder + "/revocations.json" }

    /// The newest revocations that this device has received; `nil` when it has received none.
    public func revocations() throws(DeploymentKeyError) -> RevocationState? {
        let text = try keyErrors(.storage, at: revocationPath) { () throws(ModelError) in
            try PrivateFiles.read(revocationPath, limit: RevocationState.maximumTextByteCount)
        }
        return try text.map { (text) throws(DeploymentKeyError) in try RevocationState.read(text, else: .storageDamaged)
        }
    }

    /// Checks and stores a list of revocations, and removes the leases that it revokes.
    ///
    /// - Parameters:
    ///   - body: the body of the answer.
    ///   - keys: the key-service keys of the team that the caller trusts.
    /// - Returns: the leases that were removed.
    /// - Throws: the service's error, `responseMalformed`, `responseUntrusted`, `revocationsOutdated` or `storage`.
    @discardableResult
    public func accept(
        revocations body: [UInt8],
        trusting keys: [SigningPublicKey]
    ) throws(DeploymentKeyError) -> [LeaseTerms] {
        if FailureMessage.isFailure(body) { throw try failure(body, for: messageHash([]), trusting: keys) }
        let state = try RevocationState.read(body, else: .responseMalformed)
        guard state.isSigned(byOneOf: keys), state.team == team else { throw Self.untrusted }
        try locked { () throws(DeploymentKeyError) in
            if let known = try revocations(), state.version < known.version {
                throw DeploymentKeyError(
                    .revocationsOutdated,
                    at: "version",
                    "The device already has version \(known.version), which is newer than \(state.version)."
                )
            }
            try keyErrors(.storage, at: revocationPath) { () throws(ModelError) in
                try PrivateFiles.write(state.text, to: revocationPath)
            }
        }
        try learn(state.time, isFresh: false)
        let revoked = try leases().filter { state.revokes($0) }
        for lease in revoked { try forget(lease.content) }
        return revoked
    }
}

/// A lease at rest: the service's answer, and the content key under the device's sealing key.
struct StoredLease: WireMessage {
    static let type: StaticString = "mlk-stored-lease"
    static let maximumTextByteCount = 32 << 10

    let response: ReleaseResponse
    let contentKey: [UInt8]

    init(response: ReleaseResponse, contentKey: [UInt8]) {
        (self.response, self.contentKey) = (response, contentKey)
    }

    var text: [UInt8] { CanonicalWriter.bytes(.object(unsignedMembers)) }

    var members: [JSONValue.Member] {
        [.base64("contentKey", contentKey), .init("response", response.json)]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        contentKey = try reader.base64("contentKey", limit: 128)
        try reader.format()
        response = try reader.member("response") { (value) throws(ModelError) in try ReleaseResponse.read(&value) }
        try reader.type(Self.type)
    }

    /// Binds the sealed key to device, key and serial number, and to the terms that the service has signed.
    static func purpose(_ response: ReleaseResponse) -> [UInt8] {
        let lease = response.lease
        return Array("mlk/1 stored lease\0".utf8) + lease.device.bytes + lease.keyID.bytes + lease.content.bytes
            + lease.serial.bytes + messageHash(response.text)
    }
}
