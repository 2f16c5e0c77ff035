import MLNumerics

/// An error between a device and a key service, on either side: a stable code, the culprit, and advice.
///
/// It never contains bytes of a key.
public struct DeploymentKeyError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// The raw values are part of the protocol and do not change.
    public enum Code: String, Sendable, CaseIterable {
        // Failures reported by a service, or on the way to it.

        /// The service cannot be reached, or cannot answer now.
        case unavailable
        /// There were too many requests.
        case rateLimited = "rate-limited"
        /// The device's clock differs too much from the service's, and the request has no challenge.
        case clockSkew = "clock-skew"
        /// The challenge is not the service's, or too old.
        case challengeRefused = "challenge-refused"
        /// The service has seen this request before.
        case replayed
        /// The certificate has expired; renew it.
        case certificateExpired = "certificate-expired"
        /// The message does not conform to the protocol.
        case malformed
        /// The message is of another version of the protocol.
        case unsupported
        /// The message is larger than its kind may be.
        case tooLarge = "too-large"
        /// The service has no such team.
        case unknownTeam = "unknown-team"
        /// The team has no such app.
        case unknownApp = "unknown-app"
        /// The request is not signed by the identity key.
        case signatureInvalid = "signature-invalid"
        /// The certificate was not issued by this service.
        case certificateInvalid = "certificate-invalid"
        /// The device was revoked.
        case revoked
        /// Two machines use the identity of the device.
        case cloned
        /// The app may not have the key of this model.
        case notEntitled = "not-entitled"
        /// The team has no such key.
        case unknownKey = "unknown-key"
        /// The team has revoked the key.
        case keyRevoked = "key-revoked"
        /// The wrapped content key cannot be unwrapped.
        case contentKeyInvalid = "content-key-invalid"
        /// The device must prove more about itself than it did.
        case attestationRequired = "attestation-required"
        /// The service has no verifier for this kind of evidence.
        case attestationUnsupported = "attestation-unsupported"
        /// The evidence is not genuine, or was made for something else.
        case attestationInvalid = "attestation-invalid"
        /// The enrolment token is unknown, expired, for another app, or mistyped.
        case tokenInvalid = "token-invalid"
        /// The enrolment token has no uses left.
        case tokenUsedUp = "token-used-up"
        /// The app has, or the content key is held by, as many devices as are allowed.
        case deviceLimit = "device-limit"
        /// Requests from this country are refused.
        case countryRefused = "country-refused"
        /// The service gave a reason that this version does not know.
        case refused

        // Failures detected by a device.

        /// A file of the device's folder, or of the vault, cannot be read or written.
        case storage
        /// A stored file was changed, or belongs to another machine.
        case storageDamaged = "storage-damaged"
        /// The device has no certificate yet.
        case notEnrolled = "not-enrolled"
        /// The answer does not conform to the protocol.
        case responseMalformed = "response-malformed"
        /// No trusted key of a service has signed the answer.
        case responseUntrusted = "response-untrusted"
        /// The answer belongs to another request: it was replayed, or mixed up.
        case responseForOtherRequest = "response-for-other-request"
        /// The lease was given to another device or app.
        case leaseForOtherDevice = "lease-for-other-device"
        /// The lease is for another key or another model.
        case leaseForOtherKey = "lease-for-other-key"
        /// The lease and its grace period have ended.
        case leaseExpired = "lease-expired"
        /// The service has revoked the lease.
        case leaseRevoked = "lease-revoked"
        /// The device holds no lease for the model.
        case noLease = "no-lease"
        /// The list of revocations is older than one that the device already knows.
        case revocationsOutdated = "revocations-outdated"
    }

    /// The next step for a caller.
    public enum Retry: String, Sendable {
        /// Ask again at once, with a new nonce, and with the challenge where the answer contained one.
        case now
        /// Ask again later.
        case later
        /// Renew the certificate, then ask again.
        case renew
        /// Asking again does not help.
        case never
    }

    /// The way in which an app sees the error.
    public enum Category: Sendable {
        /// The key is not available, now or at all: `MLModelError.modelDecryptionKeyFetch`.
        case keyFetch
        /// The key or its lease does not decrypt the model: `MLModelError.modelDecryption`.
        case decryption
    }

    /// The kind of failure.
    public let code: Code
    /// The cause: a message's member, a file, a key's identifier.
    public let culprit: String
    /// The problem and its remedy, as text.
    public let message: String
    /// The next step for the caller.
    public let retry: Retry
    /// The number of seconds after which to ask again, where the service states one.
    public let retryAfter: Int?
    /// A challenge for the next request, where the service gave one.
    public internal(set) var challenge: Challenge?

    /// Creates an error.
    ///
    /// A text that is too long or has control characters is cut to 500 characters, and control characters are replaced.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - culprit: the cause.
    ///   - message: the problem and its remedy.
    ///   - retry: the next step for the caller; `nil`, the default, for the one that the code implies.
    ///   - retryAfter: the seconds after which to ask again, if known.
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

    /// The way in which an app sees the error; see ``Category-swift.enum``.
    public var category: Category {
        switch code {
        case .contentKeyInvalid, .responseMalformed, .responseUntrusted, .responseForOtherRequest, .leaseForOtherDevice,
            .leaseForOtherKey, .storageDamaged:
            .decryption
        default: .keyFetch
        }
    }

    /// Whether asking again can help, possibly after renewing the certificate.
    public var isRetryable: Bool { retry != .never }

    /// Code, culprit and message.
    public var description: String { "\(code.rawValue): \(culprit): \(message)" }

    /// Text from outside without characters that could control a terminal or a log, and not too long for a message.
    private static func printable(_ text: String) -> String {
        guard text.utf8.count > 1024 || text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars.prefix(500) { result.unicodeScalars.append(isControl(scalar) ? "�" : scalar) }
        return result
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
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

/// Runs `body` and turns an error of an inner module into one with `code`.
func keyErrors<R>(
    _ code: DeploymentKeyError.Code,
    at culprit: @autoclosure () -> String,
    _ body: () throws(ModelError) -> R
) throws(DeploymentKeyError) -> R {
    do { return try body() } catch { throw DeploymentKeyError(code, error, at: culprit()) }
}
