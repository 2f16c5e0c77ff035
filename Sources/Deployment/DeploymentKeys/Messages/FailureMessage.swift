import MLEncryption
import MLFiles
import MLNumerics

/// A service's refusal of a request.
///
/// A device considers only a signed failure that names the request as final: anybody in between could send another.
struct FailureMessage: WireMessage {
    static let type: StaticString = "mlk-error"
    static let maximumTextByteCount = 8 << 10

    let code: String
    let culprit: String
    let message: String
    let retry: DeploymentKeyError.Retry
    let retryAfter: Int?
    let challenge: Challenge?
    /// The hash of the request's text.
    let request: [UInt8]
    let time: ServiceTime
    var signature: WireSignature?

    init(_ error: DeploymentKeyError, request: [UInt8], time: ServiceTime) {
        code = error.code.rawValue
        culprit = error.culprit
        message = error.message
        retry = error.retry
        retryAfter = error.retryAfter
        challenge = error.challenge
        self.request = request
        self.time = time
    }

    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .text("code", code), .text("culprit", culprit), .text("message", message),
            .hexadecimal("request", request), .text("retry", retry.rawValue), .text("time", time),
        ]
        if let challenge { members.append(.base64("challenge", challenge.bytes)) }
        if let retryAfter { members.append(.integer("retryAfter", retryAfter)) }
        return members
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        challenge = try reader.optionalChallenge()
        code = try reader.text("code", limit: 64)
        culprit = try reader.text("culprit", limit: 2048)
        try reader.format()
        message = try reader.text("message", limit: 2048)
        request = try reader.hash("request")
        retry = try reader.choice("retry", DeploymentKeyError.Retry.self)
        retryAfter = try reader.optional("retryAfter") { (value) throws(ModelError) in try value.integer() }
        signature = try reader.optionalSignature()
        time = try reader.time("time")
        try reader.type(Self.type)
    }

    var text: [UInt8] {
        CanonicalWriter.bytes(.object(unsignedMembers + (signature.map { [.init("signature", $0.json)] } ?? [])))
    }

    private var signedBytes: [UInt8] {
        Array("mlk/1 signed\0".utf8) + CanonicalWriter.bytes(.object(unsignedMembers))
    }

    func signed(by key: IdentityKey) throws(ModelError) -> FailureMessage {
        var copy = self
        copy.signature = WireSignature(
            keyID: SignerIdentifier(trusted: key.publicKey.keyID.bytes),
            value: try key.sign(signedBytes)
        )
        return copy
    }

    func isSigned(byOneOf keys: some Sequence<SigningPublicKey>) -> Bool {
        guard let signature else { return false }
        return keys.contains { $0.keyID == signature.keyID && $0.engine.verify(signature.value, of: signedBytes) }
    }

    /// Whether a text is a failure rather than an answer; `type` is the last member of all answers.
    static func isFailure(_ text: [UInt8]) -> Bool {
        text.reversed().starts(with: "\"type\":\"mlk-error\"}".utf8.reversed())
    }

    /// The error as the device reports it.
    var error: DeploymentKeyError {
        var error = DeploymentKeyError(
            DeploymentKeyError.Code(rawValue: code) ?? .refused,
            at: culprit,
            message,
            retry: retry,
            retryAfter: retryAfter
        )
        error.challenge = challenge
        return error
    }
}
