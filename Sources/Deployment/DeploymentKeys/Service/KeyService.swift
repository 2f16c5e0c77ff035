import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// The service's side of the protocol without transport: takes bodies of requests and returns bodies of answers.
///
/// It never throws: every failure becomes an answer, signed where the team is known, and an event with the reason.
public struct KeyService: Sendable {
    let store: any KeyServiceStore
    let policy: KeyServicePolicy
    let verifiers: [String: any AttestationVerifier]
    let clock: @Sendable () -> ServiceTime
    private let limiter = AddressLimiter()

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - store: the service's records.
    ///   - policy: limits and lifetimes, by default those of the protocol's description.
    ///   - verifiers: verifiers of evidence other than enrolment tokens; evidence of other kinds is refused. None by
    ///     default.
    ///   - clock: the current time.
    public init(
        store: any KeyServiceStore,
        policy: KeyServicePolicy = KeyServicePolicy(),
        verifiers: [any AttestationVerifier] = [],
        clock: @escaping @Sendable () -> ServiceTime = { .now }
    ) {
        self.store = store
        self.policy = policy
        self.verifiers = Dictionary(verifiers.map { ($0.kind, $0) }) { $1 }
        self.clock = clock
    }

    // MARK: Requests

    /// Answers `POST /v1/challenge`.
    public func challenge(_ body: [UInt8]) async -> KeyServiceReply {
        await answer(body, .challenge) { (call) async throws(DeploymentKeyError) in
            let request = try ChallengeRequest(text: body)
            let ring = try await call.ring(request.team, self)
            let challenge = try makeChallenge(ring, at: call.now)
            return try ring.sign(ChallengeResponse(challenge: challenge, nonce: request.nonce, time: call.now)).text
        }
    }

    /// Answers `POST /v1/enroll`.
    public func enrol(_ body: [UInt8], _ context: KeyServiceContext = KeyServiceContext()) async -> KeyServiceReply {
        await answer(body, .enrolment) { (call) async throws(DeploymentKeyError) in
            try await enrol(body, context, &call)
        }
    }

    /// Answers `POST /v1/renew`.
    public func renew(_ body: [UInt8], _ context: KeyServiceContext = KeyServiceContext()) async -> KeyServiceReply {
        await answer(body, .renewal) { (call) async throws(DeploymentKeyError) in
            try await renew(body, context, &call)
        }
    }

    /// Answers `POST /v1/keys/{keyID}/release`; the key in the address must be that of the request.
    public func release(
        keyID: String,
        _ body: [UInt8],
        _ context: KeyServiceContext = KeyServiceContext()
    ) async -> KeyServiceReply {
        await answer(body, .release) { (call) async throws(DeploymentKeyError) in
            try await release(keyID, body, context, &call)
        }
    }

    /// Answers `GET /v1/revocations/{team}`.
    public func revocations(team: String) async -> KeyServiceReply {
        await answer([], .revocations) { (call) async throws(DeploymentKeyError) in
            let ring = try await call.ring(team, self)
            let state = try await call.ask { try await store.revocations(team: team) }
            guard let state else { throw Self.unknownTeam(team) }
            return try ring.text(of: state)
        }
    }

    /// The answer to a request that the server refuses before the service sees it, or that ended in an error of its
    /// own.
    ///
    /// It is not signed, so devices consider it temporary.
    public static func failure(_ error: DeploymentKeyError, body: [UInt8], time: ServiceTime = .now) -> [UInt8] {
        FailureMessage(error, request: messageHash(body), time: time).text
    }

    // MARK: Answers

    /// One request in progress.
    struct Call {
        var event: KeyServiceEvent
        let now: ServiceTime
        /// The keys of the team, once it is known.
        var ring: TeamKeyRing?

        /// Looks up the keys of a team.
        mutating func ring(_ team: String, _ service: KeyService) async throws(DeploymentKeyError) -> TeamKeyRing {
            event.team = team
            let store = service.store
            guard let ring = try await ask({ try await store.keyRing(team: team) }) else {
                throw KeyService.unknownTeam(team)
            }
            self.ring = ring
            return ring
        }

        /// Asks the store; an error that it throws is kept for the event.
        mutating func ask<R: Sendable>(
            _ question: @Sendable () async throws -> R
        ) async throws(DeploymentKeyError) -> R {
            do { return try await question() } catch {
                event.cause = error
                throw DeploymentKeyError(
                    .unavailable,
                    at: "key service",
                    "The service cannot look up the records that it needs; try again later."
                )
            }
        }
    }

    static func unknownTeam(_ team: String) -> DeploymentKeyError {
        DeploymentKeyError(.unknownTeam, at: "team", "The service has no team \"\(team)\".")
    }

    private func answer(
        _ body: [UInt8],
        _ kind: KeyServiceEvent.Kind,
        _ work: (inout Call) async throws(DeploymentKeyError) -> [UInt8]
    ) async -> KeyServiceReply {
        var call = Call(event: KeyServiceEvent(kind), now: clock())
        do throws(DeploymentKeyError) {
            let text = try await work(&call)
            return KeyServiceReply(status: 200, body: text, retryAfter: nil, event: call.event)
        } catch {
            return refusal(error, body, &call)
        }
    }

    private func refusal(_ error: DeploymentKeyError, _ body: [UInt8], _ call: inout Call) -> KeyServiceReply {
        var error = error
        // A device that has to ask again at once gets a challenge.
        if error.retry == .now, let ring = call.ring { error.challenge = try? makeChallenge(ring, at: call.now) }
        call.event.failure = error
        var message = FailureMessage(error, request: messageHash(body), time: call.now)
        // Without a key to sign with, the device considers the answer temporary, which it is.
        if let key = try? call.ring?.signer(), let signed = try? message.signed(by: key) { message = signed }
        return KeyServiceReply(
            status: error.code.httpStatus,
            body: message.text,
            retryAfter: error.retryAfter,
            event: call.event
        )
    }

    // MARK: Challenges

    private func makeChallenge(_ ring: TeamKeyRing, at now: ServiceTime) throws(DeploymentKeyError) -> Challenge {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: now.seconds >> (56 - 8 * $0)) }
        bytes += RequestNonce.random().bytes
        return Challenge(trusted: bytes + (try Self.code(bytes, ring)))
    }

    /// Throws `challengeRefused` unless this service made a challenge recently.
    func check(_ challenge: Challenge, _ ring: TeamKeyRing, at now: ServiceTime) throws(DeploymentKeyError) {
        let (start, code) = (Array(challenge.bytes.prefix(24)), Array(challenge.bytes.suffix(16)))
        let isOwn = constantTimeEqual(try Self.code(start, ring), code)
        let seconds = start.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let age = ServiceTime(seconds: Int(clamping: seconds)).distance(to: now)
        guard isOwn, -policy.clockTolerance...policy.challengeLifetime ~= age else {
            throw DeploymentKeyError(
                .challengeRefused,
                at: "challenge",
                "The challenge is too old, or of another service; request a new one."
            )
        }
    }

    private static func code(_ bytes: [UInt8], _ ring: TeamKeyRing) throws(DeploymentKeyError) -> [UInt8] {
        let text = Array("mlk/1 challenge\0".utf8) + DeviceIdentifier.prefixed(Array(ring.team.utf8)) + bytes
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: try ring.challengeKey()).prefix(16))
    }

    // MARK: Checks that enrolment and release share

    func checkAddress(_ context: KeyServiceContext, at now: ServiceTime) throws(DeploymentKeyError) {
        guard let address = context.address,
            let wait = limiter.admit(address, policy.enrolmentsPerAddress, at: now)
        else { return }
        throw DeploymentKeyError(
            .rateLimited,
            at: "address",
            "Too many enrolments from this address; wait.",
            retryAfter: wait
        )
    }

    static func checkCountry(
        _ countries: Set<String>?,
        _ context: KeyServiceContext
    ) throws(DeploymentKeyError) {
        guard let countries, !(context.country.map { countries.contains($0) } ?? false) else { return }
        throw DeploymentKeyError(
            .countryRefused,
            at: "country",
            "The key is not released to \(context.country ?? "a country that is not known")."
        )
    }

    static func checkLevel(
        _ level: AttestationLevel,
        atLeast minimum: AttestationLevel
    ) throws(DeploymentKeyError) {
        guard level < minimum else { return }
        throw DeploymentKeyError(
            .attestationRequired,
            at: "attestation",
            "The device has proved \"\(level.name)\", and \"\(minimum.name)\" is required; enrol with evidence of that."
        )
    }
}
