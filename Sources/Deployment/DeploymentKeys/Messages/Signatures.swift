// Verification of the signatures of messages.

extension ChallengeResponse {
    /// Whether one of these keys has signed the message.
    public func isSigned(byOneOf keys: [SigningPublicKey]) -> Bool { keys.contains { isSignedMessage(by: $0) } }
}

extension DeviceCertificate {
    /// Whether one of these keys has signed the certificate.
    public func isSigned(byOneOf keys: [SigningPublicKey]) -> Bool { keys.contains { isSignedMessage(by: $0) } }
}

extension EnrolmentResponse {
    /// Whether one of these keys has signed the message; the certificate in it has a signature of its own.
    public func isSigned(byOneOf keys: [SigningPublicKey]) -> Bool { keys.contains { isSignedMessage(by: $0) } }
}

extension ReleaseResponse {
    /// Whether one of these keys has signed the message.
    public func isSigned(byOneOf keys: [SigningPublicKey]) -> Bool { keys.contains { isSignedMessage(by: $0) } }
}

extension RevocationState {
    /// Whether one of these keys has signed the message.
    public func isSigned(byOneOf keys: [SigningPublicKey]) -> Bool { keys.contains { isSignedMessage(by: $0) } }
}

extension EnrolmentRequest {
    /// Whether the device that it names has signed the request.
    public var isSigned: Bool { isSignedMessage(by: identity) }
}

extension RenewalRequest {
    /// Whether the device that it names has signed the request.
    public var isSigned: Bool { isSignedMessage(by: certificate.identity) }
}

extension ReleaseRequest {
    /// Whether the device that it names has signed the request.
    public var isSigned: Bool { isSignedMessage(by: certificate.identity) }
}
