import Crypto
import FoundationEssentials
package import MLNumerics

/// The algorithm of the signatures of devices and key services.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// RFC 8032; public keys have 32 bytes, signatures 64.
    case ed25519 = "Ed25519"
    /// ECDSA with P-256 and SHA-256, for hardware keys that do not support Ed25519.
    ///
    /// Public keys are points in X9.62's uncompressed form (65 bytes), signatures r and s (64 bytes).
    case p256 = "ECDSA-P256-SHA256"

    /// The number of bytes of a public key.
    package var publicKeyByteCount: Int { self == .ed25519 ? 32 : 65 }
    /// The number of bytes of a signature.
    package static var signatureByteCount: Int { 64 }
}

/// The public key of a signer.
package struct VerifyingKey: Hashable, Sendable {
    package let algorithm: SignatureAlgorithm
    package let bytes: [UInt8]

    /// Creates a public key; throws when the bytes are not a key of the algorithm.
    package init(_ algorithm: SignatureAlgorithm, _ bytes: [UInt8]) throws(ModelError) {
        do {
            switch algorithm {
            case .ed25519: _ = try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
            case .p256: _ = try P256.Signing.PublicKey(x963Representation: bytes)
            }
        } catch { throw ModelError(.malformed, "These bytes are not a public key of \(algorithm.rawValue).") }
        guard bytes.count == algorithm.publicKeyByteCount else {
            throw ModelError(.malformed, "A public key of \(algorithm.rawValue) has another length.")
        }
        (self.algorithm, self.bytes) = (algorithm, bytes)
    }

    /// The identifier of the key: the first 16 bytes of its SHA-256.
    package var keyID: KeyID { KeyID(SHA256.hash(data: bytes).prefix(KeyID.byteCount)) }

    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch algorithm {
        case .ed25519:
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return false }
            return key.isValidSignature(signature, for: message)
        case .p256:
            guard let key = try? P256.Signing.PublicKey(x963Representation: bytes),
                let value = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(value, for: message)
        }
    }
}

/// A key that signs, whose private half is in memory for secrets.
package struct IdentityKey: Sendable {
    package let algorithm: SignatureAlgorithm
    package let secret: SecretBytes
    package let publicKey: VerifyingKey

    /// Creates a new random key.
    package init(_ algorithm: SignatureAlgorithm) throws(ModelError) {
        // Nearly every number of 32 bytes is a private key of P-256, and every one of Ed25519.
        while true {
            let secret = SecretBytes.random()
            if let key = try? IdentityKey(algorithm, secret: secret) {
                self = key
                return
            }
        }
    }

    /// Creates the key with this private half: the seed of Ed25519, the number of P-256.
    package init(_ algorithm: SignatureAlgorithm, secret: SecretBytes) throws(ModelError) {
        let bytes: [UInt8]
        do {
            switch algorithm {
            case .ed25519: bytes = Array(try Self.ed25519(secret).publicKey.rawRepresentation)
            case .p256: bytes = Array(try Self.p256(secret).publicKey.x963Representation)
            }
        } catch { throw ModelError(.malformed, "These bytes are not a private key of \(algorithm.rawValue).") }
        self.algorithm = algorithm
        self.secret = secret
        publicKey = try VerifyingKey(algorithm, bytes)
    }

    package func sign(_ message: [UInt8]) throws(ModelError) -> [UInt8] {
        do {
            switch algorithm {
            case .ed25519: return Array(try Self.ed25519(secret).signature(for: message))
            case .p256: return Array(try Self.p256(secret).signature(for: message).rawRepresentation)
            }
        } catch { throw ModelError(.invalidInput, "The key cannot sign (\(error)).") }
    }

    private static func ed25519(_ secret: SecretBytes) throws -> Curve25519.Signing.PrivateKey {
        try secret.withBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
    }

    private static func p256(_ secret: SecretBytes) throws -> P256.Signing.PrivateKey {
        try secret.withBytes { try P256.Signing.PrivateKey(rawRepresentation: $0) }
    }
}
