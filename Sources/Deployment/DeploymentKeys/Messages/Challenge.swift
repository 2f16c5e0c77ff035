import MLEncryption
import MLFiles
import MLNumerics

/// Bytes that a service made recently and recognises: a request that contains them is no older.
public struct Challenge: Hashable, Sendable {
    static let byteCount = 40
    let bytes: [UInt8]

    init(trusted bytes: [UInt8]) { self.bytes = bytes }
}

/// The body of `POST /v1/challenge`: asks a service for a challenge, and for the time.
public struct ChallengeRequest: WireMessage {
    static let type: StaticString = "mlk-challenge-request"
    static let maximumTextByteCount = 1024

    /// The name of the team.
    public let team: String
    /// Random bytes that the answer repeats, so that nobody can answer with an old time.
    public let nonce: RequestNonce

    /// Creates a request, by default with a random nonce.
    public init(team: String, nonce: RequestNonce = .random()) { (self.team, self.nonce) = (team, nonce) }

    /// Reads a request; throws `malformed`, `unsupported` or `tooLarge`.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text) }

    /// The request as canonical JSON.
    public var text: [UInt8] { CanonicalWriter.bytes(.object(unsignedMembers)) }

    var members: [JSONValue.Member] { [.text("nonce", nonce), .text("team", team)] }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        try reader.format()
        nonce = try reader.identifier("nonce")
        team = try reader.name("team")
        try reader.type(Self.type)
    }
}

/// The answer to a ``ChallengeRequest``: a challenge, and the service's time.
public struct ChallengeResponse: SignedMessage {
    static let type: StaticString = "mlk-challenge"
    static let maximumTextByteCount = 2048

    /// The challenge.
    public let challenge: Challenge
    /// The nonce of the request.
    public let nonce: RequestNonce
    /// The service's time.
    public let time: ServiceTime
    var signature = WireSignature.none

    init(challenge: Challenge, nonce: RequestNonce, time: ServiceTime) {
        (self.challenge, self.nonce, self.time) = (challenge, nonce, time)
    }

    /// Reads an answer; `isSigned(byOneOf:)` tells whether it is genuine.
    ///
    /// Throws `responseMalformed` for any other text.
    public init(text: [UInt8]) throws(DeploymentKeyError) { self = try Self.read(text, else: .responseMalformed) }

    var members: [JSONValue.Member] {
        [.base64("challenge", challenge.bytes), .text("nonce", nonce), .text("time", time)]
    }

    init(members reader: inout CanonicalReader) throws(ModelError) {
        challenge = Challenge(trusted: try reader.base64("challenge", count: Challenge.byteCount))
        try reader.format()
        nonce = try reader.identifier("nonce")
        signature = try reader.signature()
        time = try reader.time("time")
        try reader.type(Self.type)
    }
}

extension CanonicalReader {
    mutating func optionalChallenge() throws(ModelError) -> Challenge? {
        try optional("challenge") { (value) throws(ModelError) in
            Challenge(trusted: try value.base64(count: Challenge.byteCount))
        }
    }
}
