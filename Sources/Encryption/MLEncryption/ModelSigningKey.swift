import Crypto
import FoundationEssentials
import MLFiles
package import MLNumerics

/// A key that signs models as OpenSSF Model Signing does, in the form that OpenSSL reads and writes.
///
/// It is an ECDSA key of P-256 with SHA-256, P-384 with SHA-384, or P-521 with SHA-512.
package struct ModelSigningKey: Sendable {
    private enum Key: Sendable {
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
    }

    private let key: Key

    /// Creates a new key of P-256.
    package init() { key = .p256(P256.Signing.PrivateKey()) }

    /// Reads `-----BEGIN PRIVATE KEY-----` or `-----BEGIN EC PRIVATE KEY-----`.
    package init(pem: [UInt8]) throws(ModelError) {
        let text = String(decoding: pem, as: UTF8.self)
        guard !text.contains("ENCRYPTED") else {
            throw ModelError(
                .unsupported,
                "The key is locked with a passphrase, which this version cannot ask for; unlock it with openssl pkey."
            )
        }
        let block = Self.keyBlock(of: text)
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: block) {
            self.key = .p256(key)
        } else if let key = try? P384.Signing.PrivateKey(pemRepresentation: block) {
            self.key = .p384(key)
        } else if let key = try? P521.Signing.PrivateKey(pemRepresentation: block) {
            self.key = .p521(key)
        } else {
            throw ModelError(
                .malformed,
                "This is not a private key of P-256, P-384 or P-521 in PEM form; make one with coreml key create --kind "
                    + "model-signing, or with openssl ecparam -name prime256v1 -genkey -noout."
            )
        }
    }

    /// The PEM block of the key itself: OpenSSL writes the name of the curve before it.
    private static func keyBlock(of text: String) -> String {
        for mark in ["-----BEGIN EC PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"] {
            if let range = text.firstRange(of: mark) { return String(text[range.lowerBound...]) }
        }
        return text
    }

    package var pem: String {
        switch key {
        case .p256(let key): key.pemRepresentation + "\n"
        case .p384(let key): key.pemRepresentation + "\n"
        case .p521(let key): key.pemRepresentation + "\n"
        }
    }

    package var publicKey: Public {
        switch key {
        case .p256(let key): Public(.p256(key.publicKey))
        case .p384(let key): Public(.p384(key.publicKey))
        case .p521(let key): Public(.p521(key.publicKey))
        }
    }

    /// A signature in DER.
    package func sign(_ message: [UInt8]) throws(ModelError) -> [UInt8] {
        do {
            switch key {
            case .p256(let key): return Array(try key.signature(for: message).derRepresentation)
            case .p384(let key): return Array(try key.signature(for: message).derRepresentation)
            case .p521(let key): return Array(try key.signature(for: message).derRepresentation)
            }
        } catch { throw ModelError(.invalidInput, "The key cannot sign (\(error)).") }
    }

    /// The public half.
    package struct Public: Sendable, Equatable {
        fileprivate enum Key: Sendable {
            case p256(P256.Signing.PublicKey)
            case p384(P384.Signing.PublicKey)
            case p521(P521.Signing.PublicKey)
        }

        private let key: Key

        fileprivate init(_ key: Key) { self.key = key }

        /// Reads `-----BEGIN PUBLIC KEY-----`.
        package init(pem: [UInt8]) throws(ModelError) {
            let text = String(decoding: pem, as: UTF8.self)
            if let key = try? P256.Signing.PublicKey(pemRepresentation: text) {
                self.key = .p256(key)
            } else if let key = try? P384.Signing.PublicKey(pemRepresentation: text) {
                self.key = .p384(key)
            } else if let key = try? P521.Signing.PublicKey(pemRepresentation: text) {
                self.key = .p521(key)
            } else {
                throw ModelError(.malformed, "This is not a public key of P-256, P-384 or P-521 in PEM form.")
            }
        }

        package var pem: String {
            switch key {
            case .p256(let key): key.pemRepresentation + "\n"
            case .p384(let key): key.pemRepresentation + "\n"
            case .p521(let key): key.pemRepresentation + "\n"
            }
        }

        /// The identifier of the key in signatures of models: the SHA-256 of its PEM text, in hexadecimal digits.
        package var hint: String { Hexadecimal.text(SHA256.hash(data: Array(pem.utf8))) }

        package static func == (left: Public, right: Public) -> Bool { left.pem == right.pem }

        /// Whether `signature`, in DER, is one of `message` by this key.
        package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
            switch key {
            case .p256(let key):
                let value = try? P256.Signing.ECDSASignature(derRepresentation: signature)
                return value.map { key.isValidSignature($0, for: message) } ?? false
            case .p384(let key):
                let value = try? P384.Signing.ECDSASignature(derRepresentation: signature)
                return value.map { key.isValidSignature($0, for: message) } ?? false
            case .p521(let key):
                let value = try? P521.Signing.ECDSASignature(derRepresentation: signature)
                return value.map { key.isValidSignature($0, for: message) } ?? false
            }
        }
    }
}
