import Crypto
import MLEncryption
import MLNumerics

/// A token that lets a device enrol: `mlk_enroll_ID_SECRETCHECK`.
///
/// The secret is the seed of an Ed25519 key. It never leaves the device: the device signs its request, and the service,
/// which keeps only the public key, learns nothing that would let others enrol.
public struct EnrolmentToken: Sendable, CustomStringConvertible, CustomReflectable {
    private static let prefix = "mlk_enroll_"

    /// The token's identifier: 16 hexadecimal digits.
    public let id: String
    private let key: IdentityKey

    /// Creates a new random token.
    public init() throws(DeploymentKeyError) {
        id = Hexadecimal.text(SerialNumber.random().bytes.prefix(8))
        key = try keyErrors(.malformed, at: "enrolment token") { () throws(ModelError) in try IdentityKey(.ed25519) }
    }

    /// Reads the text of a token; throws `tokenInvalid` for any other text, also when a character was mistyped.
    public init(_ text: String) throws(DeploymentKeyError) {
        let invalid = DeploymentKeyError(
            .tokenInvalid,
            at: "enrolment token",
            "This is not an enrolment token, or not all of it: copy mlk_enroll_… again."
        )
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "mlk", parts[1] == "enroll", parts[2].utf8.count == 16,
            parts[3].utf8.count == 72, Hexadecimal.bytes(parts[2].utf8) != nil,
            parts[3].utf8.allSatisfy({ Self.digit($0) != nil }),
            Hexadecimal.bytes(parts[3].utf8.suffix(8)) == Self.check(text.utf8.dropLast(8))
        else { throw invalid }
        id = String(parts[2])
        let secret = SecretBytes { (place: UnsafeMutableRawBufferPointer) in
            for (index, character) in parts[3].utf8.prefix(64).enumerated() {
                place[index / 2] = place[index / 2] << 4 | (Self.digit(character) ?? 0)
            }
        }
        key = try keyErrors(.tokenInvalid, at: "enrolment token") { () throws(ModelError) in
            try IdentityKey(.ed25519, secret: secret)
        }
    }

    /// The text that a device is given.
    ///
    /// Anyone with the secret can enrol devices: show it once.
    public var secretText: String {
        let text = Self.prefix + id + "_" + key.secret.withBytes { Hexadecimal.text($0) }
        return text + Hexadecimal.text(Self.check(text.utf8))
    }

    /// The public key that the service stores; nobody can enrol with it.
    public var publicKey: SigningPublicKey { SigningPublicKey(key.publicKey) }

    /// The evidence for an enrolment request with this binding.
    public func evidence(binding: [UInt8]) throws(DeploymentKeyError) -> AttestationEvidence {
        let proof = try keyErrors(.tokenInvalid, at: description) { () throws(ModelError) in
            try key.sign(Self.message(id, binding))
        }
        return .token(id: id, proof: proof)
    }

    static func isProof(_ proof: [UInt8], of id: String, by key: SigningPublicKey, binding: [UInt8]) -> Bool {
        key.engine.verify(proof, of: message(id, binding))
    }

    private static func message(_ id: String, _ binding: [UInt8]) -> [UInt8] {
        Array("mlk/1 enrolment token\0".utf8) + id.utf8 + [0] + binding
    }

    /// The token's identifier; the secret is not shown.
    public var description: String { "enrolment token \(id)" }
    /// The token's identifier; the secret is not shown.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x61...0x66: character - 0x61 + 10
        default: nil
        }
    }

    /// The CRC-32 (ISO 3309), highest byte first, which distinguishes a mistyped token from a refused one.
    private static func check(_ text: some Sequence<UInt8>) -> [UInt8] {
        var register = UInt32.max
        for byte in text {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0xEDB8_8320 }
        }
        register = ~register
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: register >> UInt32($0)) }
    }
}
