import Crypto
import FoundationEssentials
import MLFiles
package import MLNumerics

/// Wraps content keys with the keys of models: HPKE (RFC 9180, base mode) for key pairs, else AES-256-GCM.
package enum KeyPair {
    /// The public key of a secret; `nil` for a symmetric key.
    package static func publicKey(_ suite: WrapSuite, of secret: SecretBytes) throws(ModelError) -> [UInt8]? {
        do {
            switch suite {
            case .xWing: return Array(try xWing(secret).publicKey.rawRepresentation)
            case .x25519: return Array(try x25519(secret).publicKey.rawRepresentation)
            case .aes: return nil
            }
        } catch { throw ModelError(.malformed, "These bytes are not a private key (\(error)).") }
    }

    /// Wraps `secret` for the holder of the private half of `key`, or of the same symmetric key.
    ///
    /// `purpose` says what the wrapped secret is and belongs to; unwrapping needs the same. The result is the
    /// encapsulated key and the ciphertext of HPKE, or the nonce, the ciphertext and the tag of AES-GCM.
    package static func wrap(_ secret: SecretBytes, with key: ModelKey, purpose: [UInt8]) throws(ModelError) -> [UInt8]
    {
        guard key.suite == .aes else {
            return try wrap(secret, key.suite, for: key.publicKey ?? [], purpose: purpose, authenticating: [])
        }
        guard let own = key.secret else { throw locked(key) }
        do {
            let box = try secret.withBytes {
                try AES.GCM.seal($0, using: own.symmetricKey, authenticating: purpose)
            }
            guard let combined = box.combined else { preconditionFailure("a nonce has 12 bytes") }
            return Array(combined)
        } catch { throw ModelError(.malformed, "The key cannot encrypt (\(error)); make the key again.") }
    }

    /// Wraps `secret` by HPKE for the holder of the private half of a public key.
    ///
    /// `publicKey` is as ``publicKey(_:of:)`` returns it, `purpose` is HPKE's `info`, and `data` is the additional data
    /// of the AEAD, which unwrapping needs, too.
    package static func wrap(
        _ secret: SecretBytes,
        _ suite: WrapSuite,
        for publicKey: [UInt8],
        purpose: [UInt8],
        authenticating data: [UInt8]
    ) throws(ModelError) -> [UInt8] {
        do {
            switch suite {
            case .aes: throw ModelError(.invalidInput, "\(suite.rawValue) has no public keys; choose a suite of HPKE.")
            case .xWing:
                let recipient = try XWingMLKEM768X25519.PublicKey(rawRepresentation: publicKey)
                var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: xWingSuite, info: Data(purpose))
                let sealed = try secret.withBytes { try sender.seal($0, authenticating: data) }
                return Array(sender.encapsulatedKey) + sealed
            case .x25519:
                let recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey)
                var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: x25519Suite, info: Data(purpose))
                let sealed = try secret.withBytes { try sender.seal($0, authenticating: data) }
                return Array(sender.encapsulatedKey) + sealed
            }
        } catch let error as ModelError {
            throw error
        } catch {
            throw ModelError(.malformed, "The public key cannot encrypt (\(error)); make the key again.")
        }
    }

    /// Unwraps a secret that `wrap` has wrapped.
    package static func unwrap(_ wrapped: [UInt8], with key: ModelKey, purpose: [UInt8]) throws(ModelError)
        -> SecretBytes
    {
        guard let own = key.secret else { throw locked(key) }
        do throws(ModelError) {
            return try unwrap(wrapped, key.suite, with: own, purpose: purpose, authenticating: [])
        } catch {
            throw ModelError(
                error.code,
                "The wrapped key does not open with the key \(key.keyID): one of them was changed, or they do not belong "
                    + "together; restore the model, or get its key."
            )
        }
    }

    /// Unwraps a secret that was wrapped for the holder of `own` with the same purpose and additional data.
    ///
    /// AES-GCM authenticates the purpose followed by the data.
    package static func unwrap(
        _ wrapped: [UInt8],
        _ suite: WrapSuite,
        with own: SecretBytes,
        purpose: [UInt8],
        authenticating data: [UInt8]
    ) throws(ModelError) -> SecretBytes {
        let plain: Data
        do {
            defer { Cobblestone.overwriteTraces() }
            switch suite {
            case .aes:
                let box = try AES.GCM.SealedBox(combined: wrapped)
                plain = try AES.GCM.open(box, using: own.symmetricKey, authenticating: purpose + data)
            case .xWing:
                var recipient = try HPKE.Recipient(
                    privateKey: try xWing(own),
                    ciphersuite: xWingSuite,
                    info: Data(purpose),
                    encapsulatedKey: Data(wrapped.prefix(xWingByteCount))
                )
                plain = try recipient.open(Data(wrapped.dropFirst(xWingByteCount)), authenticating: data)
            case .x25519:
                var recipient = try HPKE.Recipient(
                    privateKey: try x25519(own),
                    ciphersuite: x25519Suite,
                    info: Data(purpose),
                    encapsulatedKey: Data(wrapped.prefix(x25519ByteCount))
                )
                plain = try recipient.open(Data(wrapped.dropFirst(x25519ByteCount)), authenticating: data)
            }
        } catch {
            throw ModelError(
                .decryption,
                "The wrapped key does not open: it was changed, or is for another key or another purpose."
            )
        }
        return try SecretBytes(erasing: plain)
    }

    /// The length of the encapsulated key at the beginning of HPKE's ciphertexts.
    private static let (xWingByteCount, x25519ByteCount) = (1120, 32)

    private static var xWingSuite: HPKE.Ciphersuite { .XWingMLKEM768X25519_SHA256_AES_GCM_256 }
    private static var x25519Suite: HPKE.Ciphersuite { .Curve25519_SHA256_ChachaPoly }

    private static func xWing(_ secret: SecretBytes) throws -> XWingMLKEM768X25519.PrivateKey {
        try secret.withBytes { try XWingMLKEM768X25519.PrivateKey(seedRepresentation: $0, publicKey: nil) }
    }

    private static func x25519(_ secret: SecretBytes) throws -> Curve25519.KeyAgreement.PrivateKey {
        try secret.withBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
    }

    static func locked(_ key: ModelKey) -> ModelError {
        switch key.material {
        case .protected:
            ModelError(
                .keyFetch,
                "The key \(key.keyID) is protected; unlock it once with coreml key import, which puts it into the key store."
            )
        default:
            ModelError(
                .keyFetch,
                "The key \(key.keyID) is the public half, which encrypts only; decrypting takes the private half."
            )
        }
    }
}
