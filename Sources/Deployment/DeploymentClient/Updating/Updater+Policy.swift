import Crypto
import DeploymentPolicy
import Foundation
import Glibc
import MLEncryption
import MLFiles
import MLNumerics
import Synchronization
import UpdateFramework

/// Policies: fetched, verified and evaluated.
extension Updater {
    func policyPath(_ collection: String) -> String { store.collectionFolder(collection) + "/policy.json" }

    /// The valid policy: signed by the director, of this collection, no older than one seen before, not expired.
    func policy(
        _ collection: String,
        _ trusted: TrustedMetadata,
        _ start: PolicyDate
    ) async throws(DeploymentError) -> Policy {
        let stored = try Durable.read(policyPath(collection))
        let url = addresses.policy(collection)
        var request = TransportRequest(url, limit: Self.maximumPolicyByteCount)
        if let stored { request.headers["If-None-Match"] = "\"\(Hashes.text(stored).prefix(32))\"" }
        let answer = try await transport.send(request)
        let bytes: [UInt8]
        switch (answer.status, stored) {
        case (200, _): bytes = answer.body
        case (304, let stored?): bytes = stored
        case (404, _):
            throw DeploymentError(
                .server,
                url.absoluteString,
                "The server has no deployment of the collection \"\(collection)\" for this app."
            )
        default: throw answer.error(url)
        }
        let policy = try verify(bytes, collection, trusted, start)
        // A director whose keys were stolen gets new ones, and whatever the thief has signed counts no more, including
        // its version.
        let isForgotten = stored.map { !isSigned($0, trusted) } ?? false
        try store.change(collection) { (state) throws(DeploymentError) in
            guard policy.version >= state.policyVersion || isForgotten else {
                throw DeploymentError(
                    .policyRollback,
                    collection,
                    "The policy that arrived (\(policy.version)) is older than one that was seen (\(state.policyVersion)): "
                        + "someone replays it, or the server was restored from a backup."
                )
            }
            state.policyVersion = policy.version
        }
        if bytes != stored { try Durable.write(bytes, to: policyPath(collection)) }
        try clock.remember(policy.issued, start: start, trusted)
        return policy
    }

    /// Whether keys that the team's metadata names now have signed a policy.
    func isSigned(_ bytes: [UInt8], _ trusted: TrustedMetadata) -> Bool {
        let role = "\(configuration.app)@director"
        guard let keys = trusted.keys(ofDelegated: role) else { return false }
        do throws(UpdateError) {
            try SignedDocument(parsing: bytes, role: role).verify(keys)
            return true
        } catch { return false }
    }

    func verify(
        _ bytes: [UInt8],
        _ collection: String,
        _ trusted: TrustedMetadata,
        _ start: PolicyDate
    ) throws(DeploymentError) -> Policy {
        let role = "\(configuration.app)@director"
        let signed: [UInt8]
        do throws(UpdateError) {
            guard let keys = trusted.keys(ofDelegated: role) else {
                throw UpdateError(
                    .threshold,
                    role,
                    "the team's metadata names no signer of policies",
                    remedy: "Make the app again on the server"
                )
            }
            let document = try SignedDocument(parsing: bytes, role: role)
            try document.verify(keys)
            signed = document.signed.fileBytes
        } catch { throw DeploymentError(.policySignature, collection, error.description) }
        let policy: Policy
        do throws(PolicyError) { policy = try Policy(signed) } catch {
            throw DeploymentError(.policyMalformed, collection, error.description)
        }
        guard policy.app == configuration.app, policy.environment == configuration.environment,
            policy.collection == collection
        else {
            throw DeploymentError(
                .policyMismatch,
                collection,
                "The policy that arrived is that of \(policy.app), \(policy.environment), \(policy.collection)."
            )
        }
        guard !policy.isExpired(at: start) else {
            throw DeploymentError(
                .policyExpired,
                collection,
                "The policy was valid until \(policy.expires), and it is \(start): the server has not signed it again, or "
                    + "someone withholds newer policies."
            )
        }
        return policy
    }

    func explain(_ policy: Policy) throws(DeploymentError) -> Explanation {
        do throws(PolicyError) { return try PolicyEvaluator(policy).explain(attributes()) } catch {
            throw DeploymentError(.policyMalformed, policy.collection, error.description)
        }
    }

    /// Throws `deferred` while the app wants downloads to wait.
    @Sendable func checkConditions() throws(DeploymentError) {
        let obstacles = obstacles()
        guard !obstacles.isEmpty else { return }
        throw DeploymentError(.deferred, "", "The download waits: \(obstacles.joined(separator: "; ")).")
    }

    func decide(_ policy: Policy) throws(DeploymentError) -> Decision {
        do throws(PolicyError) { return try PolicyEvaluator(policy).evaluate(attributes()) } catch {
            throw DeploymentError(.policyMalformed, policy.collection, error.description)
        }
    }
}
