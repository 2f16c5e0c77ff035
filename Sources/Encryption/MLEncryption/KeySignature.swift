import Crypto
import CryptoExtras
import FoundationEssentials
import MLFiles
package import MLNumerics

/// A team's signature (Ed25519) of a public key, so that nobody can substitute another.
package struct KeySignature: Sendable {
    package let signer: [UInt8]
    package let value: [UInt8]

    var json: JSONValue {
        .object([
            .init("algorithm", .string("Ed25519")), .init("publicKey", .string(Base64.text(signer))),
            .init("value", .string(Base64.text(value))),
        ])
    }

    init(signer: [UInt8], value: [UInt8]) {
        self.signer = signer
        self.value = value
    }

    init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (object) throws(ModelError) in
            try object.member("algorithm") { (value) throws(ModelError) in try value.string("Ed25519") }
            return KeySignature(
                signer: try object.member("publicKey") { (value) throws(ModelError) in try value.base64(count: 32) },
                value: try object.member("value") { (value) throws(ModelError) in try value.base64(count: 64) }
            )
        }
    }

    /// The bytes that are signed: the public half's members.
    private static func message(_ key: ModelKey) -> [UInt8] {
        Array("mlk/1 key\0".utf8) + CanonicalWriter.bytes(.object(key.members(signed: true)))
    }

    /// The public half of `key` with a signature by `signer`.
    package static func sign(_ key: ModelKey, with signer: SigningKey) throws(ModelError) -> ModelKey {
        guard let half = key.publicHalf else {
            throw ModelError(.invalidInput, "The key \(key.keyID) is symmetric; only public keys are signed.")
        }
        let signature = KeySignature(signer: signer.publicKey.bytes, value: try signer.sign(message(half)))
        return half.with(.publicKey, signature: signature)
    }

    /// Throws when the signature is not valid for `key`.
    func check(_ key: ModelKey) throws(ModelError) {
        guard SigningKey.Public(bytes: signer).verify(value, of: Self.message(key)) else {
            throw ModelError(.malformed, "The signature of the key \(key.keyID) is wrong: the file was changed.")
        }
    }
}

/// An Ed25519 key that signs keys and archives, in the form that OpenSSL reads and writes.
package struct SigningKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    package init() { key = Curve25519.Signing.PrivateKey() }

    /// Reads `-----BEGIN PRIVATE KEY-----`.
    package init(pem: [UInt8]) throws(ModelError) {
        do { key = try Curve25519.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self)) } catch {
            throw ModelError(
                .malformed,
                "This is not an Ed25519 private key in PEM form; make one with coreml key create --kind signing, or with "
                    + "openssl genpkey -algorithm ed25519."
            )
        }
    }

    package var pem: String { key.pemRepresentation + "\n" }
    package var publicKey: Public { Public(bytes: Array(key.publicKey.rawRepresentation)) }

    package func sign(_ message: [UInt8]) throws(ModelError) -> [UInt8] {
        do { return Array(try key.signature(for: message)) } catch {
            throw ModelError(.invalidInput, "The key cannot sign (\(error)).")
        }
    }

    package struct Public: Sendable, Equatable {
        package let bytes: [UInt8]

        package init(bytes: [UInt8]) { self.bytes = bytes }

        /// Reads `-----BEGIN PUBLIC KEY-----`.
        package init(pem: [UInt8]) throws(ModelError) {
            do {
                let key = try Curve25519.Signing.PublicKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
                bytes = Array(key.rawRepresentation)
            } catch {
                throw ModelError(.malformed, "This is not an Ed25519 public key in PEM form.")
            }
        }

        package var pem: String {
            ((try? Curve25519.Signing.PublicKey(rawRepresentation: bytes))?.pemRepresentation ?? "") + "\n"
        }

        /// The identifier of the key: the first 16 bytes of its SHA-256.
        package var keyID: KeyID { KeyID(SHA256.hash(data: bytes).prefix(KeyID.byteCount)) }

        package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return false }
            return key.isValidSignature(signature, for: message)
        }
    }
}
