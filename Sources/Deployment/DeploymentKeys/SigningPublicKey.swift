import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// How devices and key services sign.
public enum SigningAlgorithm: String, Sendable, CaseIterable {
    /// RFC 8032; public keys have 32 bytes, signatures 64.
    case ed25519 = "Ed25519"
    /// ECDSA with P-256 and SHA-256; public keys have 65 bytes (X9.62, uncompressed), signatures 64 (r and s).
    case p256 = "ECDSA-P256-SHA256"

    var engine: SignatureAlgorithm { self == .ed25519 ? .ed25519 : .p256 }
}

/// How content keys are wrapped for a device.
public enum RecipientSuite: String, Sendable, CaseIterable {
    /// HPKE with X-Wing (ML-KEM-768 and X25519), HKDF-SHA256 and AES-256-GCM.
    case xWing = "HPKE-XWing-HKDF-SHA256-AES-256-GCM"
    /// HPKE with X25519, HKDF-SHA256 and ChaCha20-Poly1305.
    case x25519 = "HPKE-X25519-HKDF-SHA256-ChaCha20-Poly1305"

    var engine: WrapSuite { self == .xWing ? .xWing : .x25519 }

    var publicKeyByteCount: Int { self == .xWing ? 1216 : 32 }
    /// The bytes of a content key that is wrapped: encapsulated key, ciphertext and tag.
    var wrappedByteCount: Int { (self == .xWing ? 1120 : 32) + SecretBytes.keyByteCount + 16 }
}

/// The public half of a key that signs: a device's identity, or a key service's.
public struct SigningPublicKey: Hashable, Sendable {
    public var algorithm: SigningAlgorithm { engine.algorithm == .ed25519 ? .ed25519 : .p256 }
    public var bytes: [UInt8] { engine.bytes }
    let engine: VerifyingKey

    init(_ engine: VerifyingKey) { self.engine = engine }

    /// - Throws: `malformed` when the bytes are no public key of the algorithm.
    public init(_ algorithm: SigningAlgorithm, bytes: [UInt8]) throws(DeploymentKeyError) {
        engine = try keyErrors(.malformed, at: "public key") { () throws(ModelError) in
            try VerifyingKey(algorithm.engine, bytes)
        }
    }

    /// The key's name.
    public var keyID: SignerIdentifier { SignerIdentifier(trusted: engine.keyID.bytes) }

    var json: JSONValue {
        .object([
            .init("algorithm", .string(algorithm.rawValue)), .init("publicKey", .string(Base64.text(bytes))),
        ])
    }
}

/// The public half of a key that content keys are wrapped for.
public struct RecipientPublicKey: Hashable, Sendable {
    public let suite: RecipientSuite
    public let bytes: [UInt8]

    /// - Throws: `malformed` when the bytes are no public key of the suite.
    public init(_ suite: RecipientSuite, bytes: [UInt8]) throws(DeploymentKeyError) {
        guard bytes.count == suite.publicKeyByteCount else {
            throw DeploymentKeyError(.malformed, at: "recipient key", "A key of \(suite.rawValue) has another length.")
        }
        (self.suite, self.bytes) = (suite, bytes)
    }

    /// Throws when nothing can be wrapped for the key: it is no point of the curve, or one that shares no secret.
    func check() throws(DeploymentKeyError) {
        try keyErrors(.malformed, at: "recipient key") { () throws(ModelError) in
            _ = try KeyPair.wrap(.random(), suite.engine, for: bytes, purpose: [], authenticating: [])
        }
    }

    var json: JSONValue {
        .object([.init("publicKey", .string(Base64.text(bytes))), .init("suite", .string(suite.rawValue))])
    }
}

/// The key of a model's files, in memory that is kept for secrets, and overwritten when nobody needs it any more.
public struct ContentKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let secret: SecretBytes

    init(_ secret: SecretBytes) { self.secret = secret }

    /// Lends the 32 bytes; copies of them are the borrower's to overwrite.
    public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try secret.withBytes(body)
    }

    public var description: String { "content key (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
