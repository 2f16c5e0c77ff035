import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// The algorithm of the signatures of devices and key services.
public enum SigningAlgorithm: String, Sendable, CaseIterable {
    /// RFC 8032; public keys have 32 bytes, signatures 64.
    case ed25519 = "Ed25519"
    /// ECDSA with P-256 and SHA-256; public keys have 65 bytes (X9.62, uncompressed), signatures 64 (r and s).
    case p256 = "ECDSA-P256-SHA256"

    var engine: SignatureAlgorithm { self == .ed25519 ? .ed25519 : .p256 }
}

/// The suite that content keys are wrapped with for a device.
public enum RecipientSuite: String, Sendable, CaseIterable {
    /// HPKE with X-Wing (ML-KEM-768 and X25519), HKDF-SHA256 and AES-256-GCM.
    case xWing = "HPKE-XWing-HKDF-SHA256-AES-256-GCM"
    /// HPKE with X25519, HKDF-SHA256 and ChaCha20-Poly1305.
    case x25519 = "HPKE-X25519-HKDF-SHA256-ChaCha20-Poly1305"

    var engine: WrapSuite { self == .xWing ? .xWing : .x25519 }

    var publicKeyByteCount: Int { self == .xWing ? 1216 : 32 }
    /// The bytes of a wrapped content key: encapsulated key, ciphertext and tag.
    var wrappedByteCount: Int { (self == .xWing ? 1120 : 32) + SecretBytes.keyByteCount + 16 }
}

/// The public key of a signer: a device or a key service.
public struct SigningPublicKey: Hashable, Sendable {
    /// The algorithm of the signatures.
    public var algorithm: SigningAlgorithm { engine.algorithm == .ed25519 ? .ed25519 : .p256 }
    /// The public key in the algorithm's encoding.
    public var bytes: [UInt8] { engine.bytes }
    let engine: VerifyingKey

    init(_ engine: VerifyingKey) { self.engine = engine }

    /// Creates a public key; throws `malformed` when the bytes are not one of the algorithm.
    public init(_ algorithm: SigningAlgorithm, bytes: [UInt8]) throws(DeploymentKeyError) {
        engine = try keyErrors(.malformed, at: "public key") { () throws(ModelError) in
            try VerifyingKey(algorithm.engine, bytes)
        }
    }

    /// The key's identifier.
    public var keyID: SignerIdentifier { SignerIdentifier(trusted: engine.keyID.bytes) }

    var json: JSONValue {
        .object([
            .init("algorithm", .string(algorithm.rawValue)), .init("publicKey", .string(Base64.text(bytes))),
        ])
    }
}

/// The public key that content keys are wrapped for.
public struct RecipientPublicKey: Hashable, Sendable {
    /// The suite that content keys are wrapped with.
    public let suite: RecipientSuite
    /// The public key in the suite's encoding.
    public let bytes: [UInt8]

    /// Creates a public key; throws `malformed` when the bytes do not have the suite's length.
    public init(_ suite: RecipientSuite, bytes: [UInt8]) throws(DeploymentKeyError) {
        guard bytes.count == suite.publicKeyByteCount else {
            throw DeploymentKeyError(.malformed, at: "recipient key", "A key of \(suite.rawValue) has another length.")
        }
        (self.suite, self.bytes) = (suite, bytes)
    }

    /// Throws `malformed` when nothing can be wrapped for the key: it is not a point of the curve, or gives no shared
    /// secret.
    func check() throws(DeploymentKeyError) {
        try keyErrors(.malformed, at: "recipient key") { () throws(ModelError) in
            _ = try KeyPair.wrap(.random(), suite.engine, for: bytes, purpose: [], authenticating: [])
        }
    }

    var json: JSONValue {
        .object([.init("publicKey", .string(Base64.text(bytes))), .init("suite", .string(suite.rawValue))])
    }
}

/// The key of a model's files, in memory for secrets that is overwritten when the key is released.
public struct ContentKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let secret: SecretBytes

    init(_ secret: SecretBytes) { self.secret = secret }

    /// Lends the 32 bytes to `body`, which has to overwrite copies that it makes.
    public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try secret.withBytes(body)
    }

    /// A text without the key.
    public var description: String { "content key (not shown)" }
    /// A text without the key.
    public var debugDescription: String { description }
    /// A mirror without the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
