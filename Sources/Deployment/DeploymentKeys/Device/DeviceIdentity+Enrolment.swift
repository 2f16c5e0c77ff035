import MLEncryption
import MLNumerics

/// A request that was made, with what is needed to check its answer.
public struct PendingRequest<Response>: Sendable {
    /// The body to send.
    public let body: [UInt8]
    let hash: [UInt8]

    init(body: [UInt8]) {
        self.body = body
        hash = messageHash(body)
    }
}

/// The kinds of answers to pending requests, as type arguments of ``PendingRequest``.
public enum PendingAnswer {
    /// An answer with a certificate.
    public enum Certificate {}
    /// An answer with a lease.
    public enum Lease {}
}

/// A request for a certificate: enrolment or renewal.
public typealias PendingCertificate = PendingRequest<PendingAnswer.Certificate>
/// A request for a content key.
public typealias PendingRelease = PendingRequest<PendingAnswer.Lease>

/// An enrolment for which evidence is being gathered.
public struct EnrolmentDraft: Sendable {
    fileprivate let request: EnrolmentRequest
    /// The 32 bytes that evidence must be bound to.
    ///
    /// They stand for the device's keys, its team and app, and the challenge.
    public var binding: [UInt8] { request.binding }
}

extension DeviceIdentity {
    // MARK: Challenges

    /// The body of a request for a challenge, and the nonce that the answer must repeat.
    public func challengeRequest() -> (body: [UInt8], nonce: RequestNonce) {
        let request = ChallengeRequest(team: team)
        return (request.text, request.nonce)
    }

    /// Checks the answer to a request for a challenge, and learns the service's time.
    ///
    /// - Parameters:
    ///   - body: the body of the answer.
    ///   - nonce: the nonce of the request.
    ///   - keys: the key-service keys of the team that the caller trusts.
    /// - Returns: the challenge.
    /// - Throws: the service's error, `responseMalformed`, `responseUntrusted`, `responseForOtherRequest` or `storage`.
    public func acceptChallenge(
        _ body: [UInt8],
        for nonce: RequestNonce,
        trusting keys: [SigningPublicKey]
    ) throws(DeploymentKeyError) -> Challenge {
        if FailureMessage.isFailure(body) { throw try failure(body, for: nil, trusting: keys) }
        let response = try ChallengeResponse.read(body, else: .responseMalformed)
        guard response.isSigned(byOneOf: keys) else { throw Self.untrusted }
        guard response.nonce == nonce else { throw Self.otherRequest }
        try learn(response.time)
        return response.challenge
    }

    // MARK: Enrolment

    /// Begins an enrolment: gather evidence for the draft's binding, then make the request.
    public func enrolment(_ challenge: Challenge) -> EnrolmentDraft {
        EnrolmentDraft(
            request: EnrolmentRequest(
                team: team,
                app: app,
                challenge: challenge,
                identity: identityKey,
                recipient: recipient,
                attestation: .none
            )
        )
    }

    /// The body of `POST /v1/enroll`, by default without evidence.
    public func enrolmentRequest(
        _ draft: EnrolmentDraft,
        _ evidence: AttestationEvidence = .none
    ) throws(DeploymentKeyError) -> PendingCertificate {
        var request = draft.request
        request.attestation = evidence
        return PendingRequest(body: try sign(request))
    }

    /// The body of `POST /v1/renew`; throws `notEnrolled` without a certificate.
    public func renewalRequest(_ challenge: Challenge) throws(DeploymentKeyError) -> PendingCertificate {
        let request = RenewalRequest(
            certificate: try enrolledCertificate(),
            challenge: challenge,
            recipient: recipient
        )
        return PendingRequest(body: try sign(request))
    }

    /// Checks the answer to an enrolment or renewal, and stores the certificate.
    ///
    /// - Parameters:
    ///   - body: the body of the answer.
    ///   - request: the request that it answers.
    ///   - keys: the key-service keys of the team that the caller trusts.
    /// - Returns: the new certificate.
    /// - Throws: the service's error, `responseMalformed`, `responseUntrusted`, `responseForOtherRequest`,
    ///   `leaseForOtherDevice` or `storage`.
    @discardableResult
    public func accept(
        _ body: [UInt8],
        for request: PendingCertificate,
        trusting keys: [SigningPublicKey]
    ) throws(DeploymentKeyError) -> DeviceCertificate {
        if FailureMessage.isFailure(body) { throw try failure(body, for: request.hash, trusting: keys) }
        let response = try EnrolmentResponse.read(body, else: .responseMalformed)
        guard response.isSigned(byOneOf: keys), response.certificate.isSigned(byOneOf: keys) else {
            throw Self.untrusted
        }
        guard response.request == request.hash else { throw Self.otherRequest }
        let certificate = response.certificate
        guard certificate.device == device, certificate.team == team, certificate.app == app,
            certificate.identity == identityKey, certificate.recipient == recipient
        else {
            throw DeploymentKeyError(
                .leaseForOtherDevice,
                at: "certificate \(certificate.serial)",
                "The certificate belongs to another device."
            )
        }
        try learn(response.time)
        try store(certificate)
        return certificate
    }

    // MARK: Parts

    func sign(_ message: some SignedMessage) throws(DeploymentKeyError) -> [UInt8] {
        try keyErrors(.storageDamaged, at: "identity key") { () throws(ModelError) in
            try message.signed(by: identity).text
        }
    }

    /// Records a time that a service has signed; `isFresh` when it did so for a request that was just made.
    func learn(_ time: ServiceTime, isFresh: Bool = true) throws(DeploymentKeyError) {
        let clock = clock
        try changeState { $0.learn(time, clock, isFresh: isFresh) }
    }

    static var untrusted: DeploymentKeyError {
        DeploymentKeyError(
            .responseUntrusted,
            at: "signature",
            "No key-service key that the team's metadata names has signed this answer."
        )
    }

    static var otherRequest: DeploymentKeyError {
        DeploymentKeyError(
            .responseForOtherRequest,
            at: "request",
            "The answer belongs to another request: it was replayed, or mixed up.",
            retry: .now
        )
    }

    /// The error that a service's failure states; an unauthentic one is treated as temporary.
    ///
    /// A failure is authentic when a trusted key has signed it and it names the request.
    func failure(
        _ body: [UInt8],
        for request: [UInt8]?,
        trusting keys: [SigningPublicKey]
    ) throws(DeploymentKeyError) -> DeploymentKeyError {
        let message = try FailureMessage.read(body, else: .responseMalformed)
        let error = message.error
        let isAuthentic = message.isSigned(byOneOf: keys) && (request == nil || message.request == request)
        if isAuthentic {
            if request != nil { try learn(message.time) }
            return error
        }
        guard error.retry == .never || error.retry == .renew else { return error }
        return DeploymentKeyError(
            .unavailable,
            at: error.culprit,
            "A sender that is not proven to be the key service reports \"\(error.code.rawValue)\": \(error.message)"
        )
    }
}
