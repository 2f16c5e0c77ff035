package import DeploymentKeys
import Foundation
import MLNumerics
import Synchronization
import UpdateFramework

/// Gets the keys of encrypted models from the key service, and keeps them sealed on the device.
package final class LeaseClient: Sendable {
    private let configuration: DeploymentConfiguration
    private let store: CollectionStore
    private let transport: any Transport
    private let updater: Updater
    private let evidence: @Sendable (_ binding: [UInt8]) throws -> AttestationEvidence
    private let opened = Mutex<DeviceIdentity?>(nil)

    /// Creates a client; `evidence` is what the device proves when it enrols.
    package init(
        updater: Updater,
        evidence: @escaping @Sendable ([UInt8]) throws -> AttestationEvidence = { _ in .none }
    ) {
        configuration = updater.configuration
        store = updater.store
        transport = updater.transport
        self.updater = updater
        self.evidence = evidence
    }

    /// A model whose key is needed, by the identifiers that it contains, in hexadecimal digits.
    package struct EncryptedModel: Sendable {
        package let keyID: String
        package let content: String
        package let wrapped: [UInt8]
        /// The SHA-256 of the archive that it came in.
        package let archive: [UInt8]?

        package init(keyID: String, content: String, wrapped: [UInt8], archive: [UInt8]?) {
            self.keyID = keyID
            self.content = content
            self.wrapped = wrapped
            self.archive = archive
        }
    }

    // MARK: Leases

    /// The key of a model, with the seconds for which it opens the model; `nil` for ever.
    ///
    /// It is one that is held and does not end soon, else a new one. Where `isRenewing` is true, a new one is fetched
    /// if the service can be reached.
    package func key(
        of model: EncryptedModel,
        isRenewing: Bool = false
    ) async throws(DeploymentKeyError) -> HeldLease {
        let device = try device()
        guard let keyID = KeyIdentifier(model.keyID), let content = ContentIdentifier(model.content) else {
            throw DeploymentKeyError(.malformed, at: "model", "The model's key name is not valid.")
        }
        let wrapped = try WrappedContentKey(
            keyID: keyID,
            content: content,
            wrapped: model.wrapped,
            archive: model.archive
        )
        let stored = try stored(wrapped, device)
        if let stored, !isRenewing, !stored.isInGrace { return stored }
        do throws(DeploymentKeyError) { return try await fetch(wrapped, device) } catch {
            // Offline, a held lease serves until it ends.
            guard let stored, error.isRetryable else { throw error }
            return stored
        }
    }

    /// A lease that the device holds and can still use; one that has ended is replaced.
    private func stored(_ model: WrappedContentKey, _ device: DeviceIdentity) throws(DeploymentKeyError) -> HeldLease? {
        do throws(DeploymentKeyError) { return try device.lease(model.content, model.keyID) } catch {
            guard error.retry == .now else { throw error }
            return nil
        }
    }

    private func fetch(
        _ model: WrappedContentKey,
        _ device: DeviceIdentity
    ) async throws(DeploymentKeyError) -> HeldLease {
        let keys = try serviceKeys()
        if try device.certificate() == nil {
            try await enrol(device, keys)
        } else if try device.needsRenewal() {
            try await renew(device, keys)
        }
        var challenge: Challenge?
        for attempt in 1... {
            let request = try device.releaseRequest(model, challenge)
            let body = try await post("/v1/keys/\(model.keyID)/release", request.body)
            do throws(DeploymentKeyError) { return try device.accept(body, for: request, trusting: keys) } catch {
                guard attempt < 3 else { throw error }
                switch error.retry {
                case .renew: try await enrol(device, keys)
                case .now: challenge = error.challenge
                default: throw error
                }
            }
        }
        preconditionFailure("the loop above ends")
    }

    // MARK: Enrolment

    /// The device's identity, created when there is none yet.
    private func device() throws(DeploymentKeyError) -> DeviceIdentity {
        let folder = store.folder + "/device"
        let result = opened.withLock { opened -> Result<DeviceIdentity, DeploymentKeyError> in
            if let opened { return .success(opened) }
            do throws(DeploymentKeyError) {
                if let device = try DeviceIdentity.open(in: folder) {
                    opened = device
                    return .success(device)
                }
                let device = try DeviceIdentity.make(
                    in: folder,
                    team: configuration.team,
                    app: configuration.app
                )
                opened = device
                return .success(device)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func challenge(
        _ device: DeviceIdentity,
        _ keys: [SigningPublicKey]
    ) async throws(DeploymentKeyError) -> Challenge {
        let (body, nonce) = device.challengeRequest()
        return try device.acceptChallenge(try await post("/v1/challenge", body), for: nonce, trusting: keys)
    }

    private func enrol(_ device: DeviceIdentity, _ keys: [SigningPublicKey]) async throws(DeploymentKeyError) {
        let draft = device.enrolment(try await challenge(device, keys))
        let proof: AttestationEvidence
        do { proof = try evidence(draft.binding) } catch {
            throw DeploymentKeyError(.attestationInvalid, at: "device", "The device cannot attest itself: \(error)")
        }
        let request = try device.enrolmentRequest(draft, proof)
        try device.accept(try await post("/v1/enroll", request.body), for: request, trusting: keys)
    }

    private func renew(_ device: DeviceIdentity, _ keys: [SigningPublicKey]) async throws(DeploymentKeyError) {
        let request = try device.renewalRequest(try await challenge(device, keys))
        try device.accept(try await post("/v1/renew", request.body), for: request, trusting: keys)
    }

    // MARK: The service

    private static let maximumResponseByteCount = 256 << 10

    private func post(_ path: String, _ body: [UInt8]) async throws(DeploymentKeyError) -> [UInt8] {
        var request = TransportRequest(
            Addresses(configuration: configuration).path(path),
            limit: Self.maximumResponseByteCount
        )
        request.method = "POST"
        request.headers["Content-Type"] = "application/json"
        request.body = body
        do throws(DeploymentError) {
            let answer = try await transport.send(request)
            guard answer.body.first == UInt8(ascii: "{") else { throw answer.error(request.url) }
            return answer.body
        } catch {
            throw DeploymentKeyError(.unavailable, at: "key service", error.description, retryAfter: error.retryAfter)
        }
    }

    /// The keys that the team's metadata names as those of its key service.
    private func serviceKeys() throws(DeploymentKeyError) -> [SigningPublicKey] {
        let keys: [PublicKey]
        do throws(DeploymentError) { keys = try updater.storedKeys(of: "\(configuration.team)@keys") } catch {
            throw DeploymentKeyError(.responseUntrusted, at: "key service", error.description)
        }
        var result: [SigningPublicKey] = []
        for key in keys where key.scheme == .ed25519 {
            guard let bytes = Hashes.bytes(key.value) else { continue }
            result.append(try SigningPublicKey(.ed25519, bytes: bytes))
        }
        return result
    }
}
