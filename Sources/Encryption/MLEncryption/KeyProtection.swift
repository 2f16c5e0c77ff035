import Crypto
import CryptoExtras
import FoundationEssentials
import MLFiles
package import MLNumerics

/// The protection of a secret in a file that others may read: a passphrase, or wrapping for recipients.
package enum KeyProtection: Sendable {
    case passphrase(Passphrase)
    /// For each recipient, the identifier of the recipient's key and the secret wrapped with it.
    case recipients([Recipient])

    package struct Passphrase: Sendable {
        /// The cost of guessing: scrypt's N (memory is 128 · N · r bytes), r and p.
        let cost: Int
        let blockSize: Int
        let parallelism: Int
        let salt: [UInt8]
        /// The nonce, ciphertext and tag of AES-256-GCM.
        let sealed: [UInt8]
    }

    package struct Recipient: Sendable {
        let keyID: KeyID
        let suite: WrapSuite
        let wrapped: [UInt8]
    }

    private static let maximumRecipientCount = 8
    private static let usualCost = 1 << 17
    private static let sealedByteCount = 12 + SecretBytes.keyByteCount + 16

    // MARK: Protecting

    /// Protects the key by a passphrase, each guess of which costs 128 MiB and about a third of a second.
    package static func protect(
        _ key: ModelKey,
        passphrase: SecretText,
        cost: Int = usualCost,
        salt: [UInt8]? = nil
    ) throws(ModelError) -> ModelKey {
        guard let secret = key.secret else { throw KeyPair.locked(key) }
        let salt = salt ?? (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let parameters = Passphrase(cost: cost, blockSize: 8, parallelism: 1, salt: salt, sealed: [])
        let sealingKey = try parameters.key(passphrase)
        do {
            let box = try secret.withBytes {
                try AES.GCM.seal($0, using: sealingKey, authenticating: purpose(key))
            }
            guard let combined = box.combined else { preconditionFailure("a nonce has 12 bytes") }
            let passphrase = Passphrase(
                cost: cost,
                blockSize: 8,
                parallelism: 1,
                salt: salt,
                sealed: Array(combined)
            )
            return key.with(.protected(.passphrase(passphrase)))
        } catch { throw ModelError(.invalidInput, "The key cannot be protected (\(error)).") }
    }

    /// Wraps the key for those who have the private halves of `recipients`.
    package static func protect(_ key: ModelKey, for recipients: [ModelKey]) throws(ModelError) -> ModelKey {
        guard let secret = key.secret else { throw KeyPair.locked(key) }
        guard 1...maximumRecipientCount ~= recipients.count else {
            throw ModelError(.invalidInput, "A key is protected for 1 to \(maximumRecipientCount) recipients.")
        }
        var list: [Recipient] = []
        for recipient in recipients {
            guard recipient.publicKey != nil else {
                throw ModelError(
                    .invalidInput,
                    "The key \(recipient.keyID) is symmetric; recipients are named by public keys."
                )
            }
            let wrapped = try KeyPair.wrap(secret, with: recipient, purpose: purpose(key))
            list.append(Recipient(keyID: recipient.keyID, suite: recipient.suite, wrapped: wrapped))
        }
        return key.with(.protected(.recipients(list)))
    }

    // MARK: Unlocking

    /// The key with its secret in the clear.
    package static func unlock(_ key: ModelKey, passphrase: SecretText) throws(ModelError) -> ModelKey {
        guard case .protected(.passphrase(let parameters)) = key.material else {
            throw ModelError(.invalidInput, "The key \(key.keyID) is not protected by a passphrase.")
        }
        let sealingKey = try parameters.key(passphrase)
        let plain: Data
        do {
            let box = try AES.GCM.SealedBox(combined: parameters.sealed)
            plain = try AES.GCM.open(box, using: sealingKey, authenticating: purpose(key))
        } catch {
            throw ModelError(.keyFetch, "The passphrase is not that of the key \(key.keyID), or the file was changed.")
        }
        return try opened(key, SecretBytes(erasing: plain))
    }

    /// The key with its secret in the clear, when `own` is one of its recipients.
    package static func unlock(_ key: ModelKey, with own: ModelKey) throws(ModelError) -> ModelKey {
        guard case .protected(.recipients(let recipients)) = key.material else {
            throw ModelError(.invalidInput, "The key \(key.keyID) is not protected for recipients.")
        }
        guard let recipient = recipients.first(where: { $0.keyID == own.keyID }) else {
            throw ModelError(
                .keyFetch,
                "The key \(own.keyID) is not a recipient of \(key.keyID), which is for "
                    + recipients.map(\.keyID.description).joined(separator: ", ") + "."
            )
        }
        return try opened(key, KeyPair.unwrap(recipient.wrapped, with: own, purpose: purpose(key)))
    }

    /// The people who can unlock the key, as text.
    package var holders: String {
        switch self {
        case .passphrase(let parameters): "a passphrase (scrypt, \(parameters.cost >> 10) MiB a guess)"
        case .recipients(let list): "the recipients \(list.map(\.keyID.description).joined(separator: ", "))"
        }
    }

    /// The identifiers of the keys for which it was wrapped.
    package var recipientIDs: [KeyID] {
        guard case .recipients(let list) = self else { return [] }
        return list.map(\.keyID)
    }

    private static func opened(_ key: ModelKey, _ secret: SecretBytes) throws(ModelError) -> ModelKey {
        let opened = try ModelKey.make(
            key.suite,
            secret: secret,
            team: key.team,
            created: key.created,
            notAfter: key.notAfter,
            server: key.server
        )
        guard opened.fingerprint == key.fingerprint else {
            throw ModelError(.decryption, "The key \(key.keyID) protects a different key; restore the file.")
        }
        return opened
    }

    /// The purpose that binds the protected secret to its key.
    private static func purpose(_ key: ModelKey) -> [UInt8] { Array("mlk/1 protected\0".utf8) + key.fingerprint }

    // MARK: Text

    var json: JSONValue {
        switch self {
        case .passphrase(let parameters):
            .object([
                .init("cost", .integer(Int64(parameters.cost))), .init("kind", .string("scrypt")),
                .init("p", .integer(Int64(parameters.parallelism))), .init("r", .integer(Int64(parameters.blockSize))),
                .init("salt", .string(Base64.text(parameters.salt))),
                .init("sealed", .string(Base64.text(parameters.sealed))),
            ])
        case .recipients(let list):
            .object([
                .init("kind", .string("recipients")),
                .init(
                    "recipients",
                    .array(
                        list.map {
                            .object([
                                .init("keyID", .string($0.keyID.description)),
                                .init("suite", .string($0.suite.rawValue)),
                                .init("wrapped", .string(Base64.text($0.wrapped))),
                            ])
                        }
                    )
                ),
            ])
        }
    }

    init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (object) throws(ModelError) in
            let cost = try object.optional("cost") { (value) throws(ModelError) in try value.integer() }
            guard let cost else {
                try object.member("kind") { (value) throws(ModelError) in try value.string("recipients") }
                return .recipients(
                    try object.member("recipients") { (value) throws(ModelError) in
                        try value.list(limit: Self.maximumRecipientCount) { (item) throws(ModelError) in
                            try Recipient(&item)
                        }
                    }
                )
            }
            return .passphrase(try Passphrase(cost: cost, members: &object))
        }
    }
}

extension KeyProtection.Recipient {
    fileprivate init(_ reader: inout CanonicalReader) throws(ModelError) {
        self = try reader.object { (object) throws(ModelError) in
            Self(
                keyID: KeyID(try object.member("keyID") { (value) throws(ModelError) in try value.hexadecimal(16) }),
                suite: try object.member("suite") { (value) throws(ModelError) in try WrapSuite.read(&value) },
                wrapped: try object.member("wrapped") { (value) throws(ModelError) in try value.base64(limit: 2048) }
            )
        }
    }
}

extension KeyProtection.Passphrase {
    /// The largest amount of memory that opening a file may take: 1 GiB.
    private static let maximumMemoryByteCount = 1 << 30

    fileprivate init(cost: Int, members object: inout CanonicalReader) throws(ModelError) {
        self.cost = cost
        try object.member("kind") { (value) throws(ModelError) in try value.string("scrypt") }
        parallelism = try object.member("p") { (value) throws(ModelError) in try value.integer() }
        blockSize = try object.member("r") { (value) throws(ModelError) in try value.integer() }
        salt = try object.member("salt") { (value) throws(ModelError) in try value.base64(limit: 64) }
        sealed = try object.member("sealed") { (value) throws(ModelError) in try value.base64(count: 60) }
        guard cost > 1, cost & (cost - 1) == 0, 1...16 ~= blockSize, 1...4 ~= parallelism, salt.count >= 16,
            cost <= Self.maximumMemoryByteCount / (128 * blockSize)
        else {
            throw ModelError(
                .malformed,
                "scrypt with N = \(cost), r = \(blockSize), p = \(parallelism) is not accepted: N is a power of two, r at "
                    + "most 16, p at most 4, and together they take at most 1 GiB."
            )
        }
    }

    fileprivate func key(_ passphrase: SecretText) throws(ModelError) -> SymmetricKey {
        do {
            return try passphrase.withBytes { bytes in
                try KDF.Scrypt.deriveKey(
                    from: bytes,
                    salt: salt,
                    outputByteCount: SecretBytes.keyByteCount,
                    rounds: cost,
                    blockSize: blockSize,
                    parallelism: parallelism,
                    maxMemory: Self.maximumMemoryByteCount + (64 << 20)
                )
            }
        } catch { throw ModelError(.io, "The passphrase could not be processed (\(error)): is there enough memory?") }
    }
}
