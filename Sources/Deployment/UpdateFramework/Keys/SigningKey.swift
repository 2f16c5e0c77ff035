import Crypto
import CryptoExtras

/// A private key of a publisher.
public struct SigningKey: Sendable {
    /// The kinds of keys that publishers create: Ed25519, and ECDSA with P-256.
    public enum Kind: String, Sendable, CaseIterable { case ed25519, ecdsaP256 = "ecdsa-sha2-nistp256" }

    private enum Storage {
        case ed25519(Curve25519.Signing.PrivateKey)
        case ecdsaP256(P256.Signing.PrivateKey)
    }

    private let storage: Storage

    /// Creates a new random key, by default of Ed25519.
    public init(_ kind: Kind = .ed25519) {
        switch kind {
        case .ed25519: storage = .ed25519(Curve25519.Signing.PrivateKey())
        case .ecdsaP256: storage = .ecdsaP256(P256.Signing.PrivateKey())
        }
    }

    /// Reads `-----BEGIN PRIVATE KEY-----` (PKCS #8), as this module and OpenSSL write it.
    ///
    /// Throws `invalidKey` for any other text or kind of key.
    public init(pem: String) throws(UpdateError) {
        if let key = try? Curve25519.Signing.PrivateKey(pemRepresentation: pem) {
            storage = .ed25519(key)
        } else if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            storage = .ecdsaP256(key)
        } else {
            throw UpdateError(
                .invalidKey,
                "key",
                "this is not a private key of Ed25519 or P-256 in PEM form",
                remedy: "Make one here, or with openssl genpkey -algorithm ed25519"
            )
        }
    }

    /// The private key as PKCS #8 in PEM form, which is secret.
    public var pem: String {
        switch storage {
        case .ed25519(let key): key.pemRepresentation + "\n"
        case .ecdsaP256(let key): key.pemRepresentation + "\n"
        }
    }

    /// The public key, in hexadecimal digits for Ed25519 and PEM form for P-256.
    public var publicKey: PublicKey {
        switch storage {
        case .ed25519(let key): PublicKey(scheme: .ed25519, value: Hex.text(key.publicKey.rawRepresentation))
        case .ecdsaP256(let key): PublicKey(scheme: .ecdsaP256, value: key.publicKey.pemRepresentation + "\n")
        }
    }

    /// A signature of `message`: 64 bytes for Ed25519, DER for ECDSA.
    public func sign(_ message: [UInt8]) throws(UpdateError) -> [UInt8] {
        do {
            switch storage {
            case .ed25519(let key): return Array(try key.signature(for: message))
            case .ecdsaP256(let key): return Array(try key.signature(for: message).derRepresentation)
            }
        } catch {
            throw UpdateError(.invalidKey, "key", "it cannot sign", remedy: "Make a new key", cause: error)
        }
    }
}

// MARK: Files

extension SigningKey {
    /// Reads a key's file; throws `invalidKey`, also when others than its owner may read it.
    public init(readingFrom path: String) throws(UpdateError) {
        let file = try SafeFile.read(path, limit: 1 << 16)
        guard let file else {
            throw UpdateError(.invalidKey, path, "there is no such file", remedy: "Check the path of the key")
        }
        guard file.mode & 0o077 == 0 else {
            throw UpdateError(
                .invalidKey,
                path,
                "users other than its owner may read the private key (mode \(String(file.mode & 0o777, radix: 8)))",
                remedy: "Run chmod 600, and make a new key if someone may have read this one"
            )
        }
        try self.init(pem: String(decoding: file.bytes, as: UTF8.self))
    }

    /// Writes the key to a file that only its owner can read from the first byte on; throws `storage`.
    public func write(to path: String) throws(UpdateError) {
        try SafeFile.write(Array(pem.utf8), to: path, mode: 0o600)
    }
}
