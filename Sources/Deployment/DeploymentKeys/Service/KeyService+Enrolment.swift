import MLEncryption
import MLNumerics

extension KeyService {
    func enrol(
        _ body: [UInt8],
        _ context: KeyServiceContext,
        _ call: inout Call
    ) async throws(DeploymentKeyError) -> [UInt8] {
        try checkAddress(context, at: call.now)
        let request = try EnrolmentRequest(text: body)
        let ring = try await call.ring(request.team, self)
        call.event.app = request.app
        call.event.device = request.device
        guard request.isSigned else { throw Self.notSigned }
        try check(request.challenge, ring, at: call.now)
        let (store, team, app) = (store, request.team, request.app)
        guard let conditions = try await call.ask({ try await store.enrolmentPolicy(team: team, app: app) }) else {
            throw DeploymentKeyError(.unknownApp, at: "app", "The team \"\(team)\" has no app \"\(app)\".")
        }
        try Self.checkCountry(conditions.countries, context)
        let level = try await attestation(of: request, &call)
        try Self.checkLevel(level, atLeast: conditions.minimumAttestation)
        try request.recipient.check()
        let certificate = try certify(
            request.team,
            request.app,
            request.identity,
            request.recipient,
            level,
            ring,
            call.now
        )
        try await register(certificate, conditions, request, &call)
        return try response(certificate, body, ring, &call)
    }

    func renew(
        _ body: [UInt8],
        _ context: KeyServiceContext,
        _ call: inout Call
    ) async throws(DeploymentKeyError) -> [UInt8] {
        let request = try RenewalRequest(text: body)
        let old = request.certificate
        let ring = try await call.ring(old.team, self)
        call.event.app = old.app
        call.event.device = old.device
        try check(old, ring, at: call.now, grace: policy.renewalGrace)
        guard request.isSigned else { throw Self.notSigned }
        try check(request.challenge, ring, at: call.now)
        try request.recipient.check()
        let certificate = try certify(
            old.team,
            old.app,
            old.identity,
            request.recipient,
            old.attestation,
            ring,
            call.now
        )
        let (store, record) = (store, DeviceRecord(certificate: certificate))
        let refusal = try await call.ask {
            try await store.updateDevice(team: record.team, record.device) { known -> DeploymentKeyError? in
                guard var changed = known else { return Self.unknownDevice(record.device) }
                if let refusal = changed.refusal { return refusal }
                changed.renew(record)
                known = changed
                return nil
            }
        }
        if let refusal { throw refusal }
        return try response(certificate, body, ring, &call)
    }

    // MARK: Parts

    static var notSigned: DeploymentKeyError {
        DeploymentKeyError(
            .signatureInvalid,
            at: "signature",
            "The request is not signed by the device's identity key: it was changed in transit, or is invalid."
        )
    }

    static func unknownDevice(_ device: DeviceIdentifier) -> DeploymentKeyError {
        DeploymentKeyError(
            .certificateInvalid,
            at: "device \(device)",
            "The service no longer knows this device; enrol it again."
        )
    }

    /// Throws when a certificate was not issued for this team, or is not valid now.
    func check(
        _ certificate: DeviceCertificate,
        _ ring: TeamKeyRing,
        at now: ServiceTime,
        grace: Int = 0
    ) throws(DeploymentKeyError) {
        guard certificate.isSigned(byOneOf: ring.serviceKeys) else {
            throw DeploymentKeyError(
                .certificateInvalid,
                at: "certificate \(certificate.serial)",
                "No key of the team's key service has signed this certificate; enrol the device again."
            )
        }
        guard certificate.notBefore.advanced(by: -policy.clockTolerance) <= now,
            now <= certificate.notAfter.advanced(by: grace)
        else {
            throw DeploymentKeyError(
                .certificateExpired,
                at: "certificate \(certificate.serial)",
                "The certificate is valid from \(certificate.notBefore) to \(certificate.notAfter), and it is \(now); "
                    + (grace > 0 ? "it ended too long ago to be renewed: enrol the device again." : "renew it."),
                retry: grace > 0 ? .never : .renew
            )
        }
    }

    /// The level that a device that enrols has proved.
    private func attestation(
        of request: EnrolmentRequest,
        _ call: inout Call
    ) async throws(DeploymentKeyError) -> AttestationLevel {
        switch request.attestation {
        case .none: return .none
        case .token(let id, let proof):
            let (store, team) = (store, request.team)
            let record = try await call.ask { try await store.enrolmentToken(team: team, id: id) }
            guard let record, record.app.map({ $0 == request.app }) ?? true, call.now <= record.notAfter,
                EnrolmentToken.isProof(proof, of: id, by: record.publicKey, binding: request.binding)
            else {
                throw DeploymentKeyError(
                    .tokenInvalid,
                    at: "attestation",
                    "The enrolment token is unknown, has ended, is for another app or was not used by its holder."
                )
            }
            return .token
        case .other(let kind, let evidence):
            guard let verifier = verifiers[kind] else {
                throw DeploymentKeyError(
                    .attestationUnsupported,
                    at: "attestation",
                    "The service has no verifier for evidence of the kind \"\(kind)\"; it supports "
                        + (["none", "token"] + verifiers.keys.sorted()).joined(separator: ", ") + "."
                )
            }
            do throws(AttestationRefusal) {
                return try await verifier.verify(
                    evidence,
                    binding: request.binding,
                    team: request.team,
                    app: request.app
                )
            } catch {
                call.event.cause = error
                throw DeploymentKeyError(
                    error.isTemporary ? .unavailable : .attestationInvalid,
                    at: "attestation",
                    "The evidence of the kind \"\(kind)\" is not accepted: \(error)"
                )
            }
        }
    }

    private func certify(
        _ team: String,
        _ app: String,
        _ identity: SigningPublicKey,
        _ recipient: RecipientPublicKey,
        _ level: AttestationLevel,
        _ ring: TeamKeyRing,
        _ now: ServiceTime
    ) throws(DeploymentKeyError) -> DeviceCertificate {
        try ring.sign(
            DeviceCertificate(
                team: team,
                app: app,
                serial: .random(),
                identity: identity,
                recipient: recipient,
                attestation: level,
                notBefore: now,
                notAfter: now.advanced(by: policy.certificateLifetime)
            )
        )
    }

    private func register(
        _ certificate: DeviceCertificate,
        _ conditions: EnrolmentPolicy,
        _ request: EnrolmentRequest,
        _ call: inout Call
    ) async throws(DeploymentKeyError) {
        let (store, record) = (store, DeviceRecord(certificate: certificate))
        var token: String?
        if case .token(let id, _) = request.attestation { token = id }
        let outcome = try await call.ask { [token] in
            try await store.enrol(
                record,
                limit: conditions.admitsNewDevices ? conditions.deviceLimit : 0,
                token: token
            )
        }
        switch outcome {
        case .enrolled: return
        case .refused(let status):
            var known = record
            known.status = status
            throw known.refusal ?? Self.unknownDevice(record.device)
        case .deviceLimit:
            throw DeploymentKeyError(
                .deviceLimit,
                at: "app \(record.app)",
                "The app has reached its device limit, or accepts no new devices."
            )
        case .tokenUsedUp:
            throw DeploymentKeyError(.tokenUsedUp, at: "attestation", "The enrolment token is used up; get another.")
        }
    }

    private func response(
        _ certificate: DeviceCertificate,
        _ body: [UInt8],
        _ ring: TeamKeyRing,
        _ call: inout Call
    ) throws(DeploymentKeyError) -> [UInt8] {
        let answer = EnrolmentResponse(certificate: certificate, request: messageHash(body), time: call.now)
        let text = try ring.sign(answer).text
        call.event.serial = certificate.serial
        return text
    }
}
