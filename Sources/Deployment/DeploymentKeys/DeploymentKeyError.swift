import MLNumerics

/// What went wrong between a device and a key service, on either side: a stable code, what was at fault, and what to do.
///
/// Nothing in it is ever made of the bytes of a key.
public struct DeploymentKeyError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.  The raw values are part of the protocol and do not change.
    public enum Code: String, Sendable, CaseIterable {
        // What a service answers, or what stands between the device and the service.

        /// The service cannot be reached, or cannot answer now.
        case unavailable
        /// Too many requests.
        case rateLimited = "rate-limited"
        /// The device's clock is too far from the service's, and the request has no challenge.
        case clockSkew = "clock-skew"
        /// The challenge is not the service's, or too old.
        case challengeRefused = "challenge-refused"
        /// The service has seen this request before.
        case replayed
        /// The certificate's time has ended; renew it.
        case certificateExpired = "certificate-expired"
        /// The message is not what the protocol demands.
        case malformed
        /// The message is of another version of the protocol.
        case unsupported
        case tooLarge = "too-large"
        case unknownTeam = "unknown-team"
        case unknownApp = "unknown-app"
        /// The request is not signed by the identity key.
        case signatureInvalid = "signature-invalid"
        /// The certificate is not one of this service.
        case certificateInvalid = "certificate-invalid"
        /// The device was revoked.
        case revoked
        /// Two machines use the identity of the device.
        case cloned
        /// The app may not have the key of this model.
        case notEntitled = "not-entitled"
        case unknownKey = "unknown-key"
        /// The team gave up the key.
        case keyRevoked = "key-revoked"
        /// The wrapped content key does not open.
        case contentKeyInvalid = "content-key-invalid"
        /// The device must prove more of itself than it did.
        case attestationRequired = "attestation-required"
        /// The service has no verifier for this kind of evidence.
        case attestationUnsupported = "attestation-unsupported"
        case attestationInvalid = "attestation-invalid"
        case tokenInvalid = "token-invalid"
        case tokenUsedUp = "token-used-up"
        case deviceLimit = "device-limit"
        case countryRefused = "country-refused"
        /// A reason that this version does not know.
        case refused

        // What a device finds by itself.

        /// A file of the device's folder, or of the vault, cannot be read or written.
        case storage
        /// What rests on the machine was changed, or belongs to another machine.
        case storageDamaged = "storage-damaged"
        case notEnrolled = "not-enrolled"
        /// An answer that is not the protocol's.
        case responseMalformed = "response-malformed"
        /// An answer that no trusted key of a service has signed.
        case responseUntrusted = "response-untrusted"
        /// An answer to another request: replayed, or mixed up.
        case responseForOtherRequest = "response-for-other-request"
        case leaseForOtherDevice = "lease-for-other-device"
        case leaseForOtherKey = "lease-for-other-key"
        case leaseExpired = "lease-expired"
        case leaseRevoked = "lease-revoked"
        case noLease = "no-lease"
        /// A revocation state that is older than one seen before.
        case revocationsOutdated = "revocations-outdated"
    }

    /// What a caller does next.
    public enum Retry: String, Sendable {
        /// Ask again at once: with a new nonce, and with the challenge where the answer brought one.
        case now
        /// Ask again later.
        case later
        /// Renew the certificate, then ask again.
        case renew
        /// Asking again does not help.
        case never
    }

    /// As what an app sees it.
    public enum Category: Sendable {
        /// The key cannot be had, now or at all: `MLModelError.modelDecryptionKeyFetch`.
        case keyFetch
        /// What there is does not decrypt the model: `MLModelError.modelDecryption`.
        case decryption
    }

    public let code: Code
    /// What is at fault: a message's member, a file, a key's name.
    public let culprit: String
    /// What is wrong, and what to do about it.
    public let message: String
    public let retry: Retry
    /// The seconds after which to ask again, where the service says so.
    public let retryAfter: Int?
    /// A challenge for the next request, where the service gave one.
    public internal(set) var challenge: Challenge?

    public init(
        _ code: Code,
        at culprit: String,
        _ message: String,
        retry: Retry? = nil,
        retryAfter: Int? = nil
    ) {
        self.code = code
        self.culprit = Self.printable(culprit)
        self.message = Self.printable(message)
        self.retry = retry ?? code.retry
        self.retryAfter = retryAfter
    }

    init(_ code: Code, _ error: ModelError, at culprit: String) {
        self.init(code, at: ([culprit] + error.trail).joined(separator: " › "), error.message)
    }

    public var category: Category {
        switch code {
        case .contentKeyInvalid, .responseMalformed, .responseUntrusted, .responseForOtherRequest, .leaseForOtherDevice,
            .leaseForOtherKey, .storageDamaged:
            .decryption
        default: .keyFetch
        }
    }

    public var isRetryable: Bool { retry != .never }

    public var description: String { "\(code.rawValue): \(culprit): \(message)" }

    /// Text that came from outside, without what could steer a terminal or a log, and no longer than messages may have it.
    private static func printable(_ text: String) -> String {
        guard text.utf8.count > 1024 || text.unicodeScalars.contains(where: steers) else { return text }
        var result = ""
        for scalar in text.unicodeScalars.prefix(500) { result.unicodeScalars.append(steers(scalar) ? "�" : scalar) }
        return result
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension DeploymentKeyError.Code {
    var retry: DeploymentKeyError.Retry {
        switch self {
        case .unavailable, .rateLimited: .later
        case .clockSkew, .challengeRefused, .replayed: .now
        case .certificateExpired: .renew
        default: .never
        }
    }

    /// The status of the HTTP response that carries the failure.
    public var httpStatus: Int {
        switch self {
        case .unavailable: 503
        case .rateLimited: 429
        case .clockSkew, .challengeRefused, .replayed: 409
        case .certificateExpired, .certificateInvalid, .signatureInvalid: 401
        case .unknownTeam, .unknownApp, .unknownKey: 404
        case .keyRevoked: 410
        case .tooLarge: 413
        case .contentKeyInvalid: 422
        case .countryRefused: 451
        case .revoked, .cloned, .notEntitled, .attestationRequired, .attestationInvalid, .tokenInvalid, .tokenUsedUp,
            .deviceLimit, .refused:
            403
        case .malformed, .unsupported, .attestationUnsupported: 400
        case .storage, .storageDamaged, .notEnrolled, .responseMalformed, .responseUntrusted, .responseForOtherRequest,
            .leaseForOtherDevice, .leaseForOtherKey, .leaseExpired, .leaseRevoked, .noLease, .revocationsOutdated:
            500
        }
    }
}

/// Runs `body`; an error of an inner module that leaves it becomes one of `code`.
func keyErrors<R>(
    _ code: DeploymentKeyError.Code,
    at culprit: @autoclosure () -> String,
    _ body: () throws(ModelError) -> R
) throws(DeploymentKeyError) -> R {
    do { return try body() } catch { throw DeploymentKeyError(code, error, at: culprit()) }
}
