import MLEncryption
import MLNumerics

extension KeyService {
    /// Answers a release request, with the checks in the protocol's order.
    ///
    /// Certificate, entitlement, policy, replays and clock are checked in turn.
    func release(
        _ keyID: String,
        _ body: [UInt8],
        _ context: KeyServiceContext,
        _ call: inout Call
    ) async throws(DeploymentKeyError) -> [UInt8] {
        let request = try ReleaseRequest(text: body)
        let certificate = request.certificate
        let ring = try await call.ring(certificate.team, self)
        call.event.app = certificate.app
        call.event.device = certificate.device
        call.event.keyID = request.keyID
        call.event.content = request.content
        guard request.keyID.description == keyID else {
            throw DeploymentKeyError(.malformed, at: "keyID", "The address names a different key than the request.")
        }
        try check(certificate, ring, at: call.now)
        guard request.isSigned else { throw Self.notSigned }
        try await checkStatus(of: certificate, &call)
        let entitlement = try await entitlement(request, context, &call)
        try await admit(request, ring, &call)
        let contentKey = try ring.contentKey(
            WrappedContentKey(keyID: request.keyID, content: request.content, wrapped: request.contentKey)
        )
        try await addHolder(request, entitlement, &call)
        return try await response(request, contentKey, entitlement, messageHash(body), ring, &call)
    }

    private func checkStatus(
        of certificate: DeviceCertificate,
        _ call: inout Call
    ) async throws(DeploymentKeyError) {
        let store = store
        let record = try await call.ask { try await store.device(certificate.device, team: certificate.team) }
        guard let record else { throw Self.unknownDevice(certificate.device) }
        if let refusal = record.refusal { throw refusal }
    }

    private func entitlement(
        _ request: ReleaseRequest,
        _ context: KeyServiceContext,
        _ call: inout Call
    ) async throws(DeploymentKeyError) -> KeyEntitlement {
        let query = EntitlementQuery(
            team: request.certificate.team,
            app: request.certificate.app,
            keyID: request.keyID,
            content: request.content,
            archive: request.archive
        )
        let store = store
        guard let entitlement = try await call.ask({ try await store.entitlement(query) }) else {
            throw DeploymentKeyError(
                .notEntitled,
                at: "content \(request.content)",
                "The app \"\(query.app)\" may not have the key of this model, or no deployment has the model any more."
            )
        }
        try Self.checkLevel(request.certificate.attestation, atLeast: entitlement.minimumAttestation)
        try Self.checkCountry(entitlement.countries, context)
        return entitlement
    }

    /// Checks for replays, clock skew, clones and limits, which changes the device's record.
    private func admit(
        _ request: ReleaseRequest,
        _ ring: TeamKeyRing,
        _ call: inout Call
    ) async throws(DeploymentKeyError) {
        let (store, policy, now) = (store, policy, call.now)
        var isFresh = abs(request.time.distance(to: now)) <= policy.clockTolerance
        if let challenge = request.challenge {
            try check(challenge, ring, at: now)
            isFresh = true
        }
        let refusal = try await call.ask { [isFresh] in
            try await store.updateDevice(team: request.certificate.team, request.certificate.device) {
                known -> DeploymentKeyError? in
                guard var record = known else { return Self.unknownDevice(request.certificate.device) }
                let refusal = record.admit(request, isFresh: isFresh, at: now, policy)
                known = record
                return refusal
            }
        }
        if let refusal { throw refusal }
    }

    private func addHolder(
        _ request: ReleaseRequest,
        _ entitlement: KeyEntitlement,
        _ call: inout Call
    ) async throws(DeploymentKeyError) {
        let store = store
        let isHolder = try await call.ask {
            try await store.addHolder(
                request.certificate.device,
                team: request.certificate.team,
                keyID: request.keyID,
                content: request.content,
                limit: entitlement.deviceLimit
            )
        }
        guard isHolder else {
            throw DeploymentKeyError(
                .deviceLimit,
                at: "content \(request.content)",
                "The maximum number of devices already hold the key of this model."
            )
        }
    }

    private func response(
        _ request: ReleaseRequest,
        _ contentKey: ContentKey,
        _ entitlement: KeyEntitlement,
        _ requestHash: [UInt8],
        _ ring: TeamKeyRing,
        _ call: inout Call
    ) async throws(DeploymentKeyError) -> [UInt8] {
        let certificate = request.certificate
        let lease = LeaseTerms(
            serial: .random(),
            request: request,
            requestHash: requestHash,
            notBefore: call.now,
            notAfter: entitlement.leaseDuration.map { call.now.advanced(by: $0) },
            offlineGrace: max(0, min(entitlement.offlineGrace, 1 << 32))
        )
        let wrapped = try keyErrors(.malformed, at: "recipient key") { () throws(ModelError) in
            try KeyPair.wrap(
                contentKey.secret,
                certificate.recipient.suite.engine,
                for: certificate.recipient.bytes,
                purpose: ReleaseResponse.purpose(
                    team: certificate.team,
                    app: certificate.app,
                    device: certificate.device,
                    keyID: request.keyID
                ),
                authenticating: requestHash
            )
        }
        let answer = try ring.sign(
            ReleaseResponse(lease: lease, contentKey: wrapped, suite: certificate.recipient.suite, time: call.now)
        )
        let store = store
        try await call.ask { try await store.record(lease) }
        call.event.serial = lease.serial
        return answer.text
    }
}
