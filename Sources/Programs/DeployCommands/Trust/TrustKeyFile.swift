import Crypto
import CryptoExtras
import Foundation
import Glibc
import UpdateFramework

/// The public half of a key that signs metadata, in a file `NAME.pub` that need not be kept secret.
struct TrustPublicKey: Codable {
    let format: Int
    let id: String
    let scheme: String
    let value: String

    init(_ key: PublicKey) throws {
        (format, scheme, value) = (1, key.scheme.rawValue, key.value)
        id = try key.id
    }

    /// Reads a key; throws `Failure` when the file is no public key, or its identifier is not that of its key.
    init(contentsOf path: String) throws {
        guard let data = FileManager.default.contents(atPath: path), data.count < 1 << 16 else {
            throw Failure("\(path) cannot be read.")
        }
        do { self = try JSONDecoder().decode(Self.self, from: data) } catch {
            throw Failure("\(path) is not a public key made by coreml trust key.")
        }
        guard format == 1, try key().id == id else {
            throw Failure("\(path): the key is not the one that its id names.")
        }
    }

    func key() throws -> PublicKey {
        guard let scheme = PublicKey.Scheme(rawValue: scheme) else {
            throw Failure("The key \(id.prefix(16)) has a type that this version does not support: \(scheme).")
        }
        return PublicKey(scheme: scheme, value: value)
    }
}

/// A private key encrypted with a passphrase: `NAME.key`.
///
/// Each guess of the passphrase takes 128 MiB of memory.
struct TrustKeyFile: Codable {
    let format: Int
    let id: String
    /// The parameters N, r and p of scrypt (RFC 7914).
    let cost: Int
    let blockSize: Int
    let parallelism: Int
    let salt: Data
    /// Nonce, ciphertext and tag of AES-256-GCM over the key as PKCS #8 PEM, with the identifier as authenticated data.
    let sealed: Data

    private static let usualCost = 1 << 17

    init(_ key: SigningKey, passphrase: String, cost: Int = usualCost) throws {
        (format, self.cost, blockSize, parallelism) = (1, cost, 8, 1)
        id = try key.publicKey.id
        salt = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        let sealing = try Self.key(passphrase, salt, cost: cost, blockSize: blockSize, parallelism: parallelism)
        let box = try AES.GCM.seal(Data(key.pem.utf8), using: sealing, authenticating: Data(id.utf8))
        guard let combined = box.combined else { throw Failure("The key cannot be sealed.") }
        sealed = combined
    }

    init(contentsOf path: String) throws {
        guard let data = FileManager.default.contents(atPath: path), data.count < 1 << 16 else {
            throw Failure("\(path) cannot be read.")
        }
        do { self = try JSONDecoder().decode(Self.self, from: data) } catch {
            throw Failure("\(path) is not a private key made by coreml trust key.")
        }
        // The cost parameters are bounded: an untrusted file must not exhaust memory.
        guard format == 1, cost.nonzeroBitCount == 1, (1 << 10...1 << 20).contains(cost), (1...16).contains(blockSize),
            (1...4).contains(parallelism), salt.count >= 16
        else { throw Failure("\(path) has a format that this version cannot read.") }
    }

    func open(_ passphrase: String) throws -> SigningKey {
        let key = try Self.key(passphrase, salt, cost: cost, blockSize: blockSize, parallelism: parallelism)
        let pem: Data
        do {
            pem = try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: Data(id.utf8))
        } catch { throw Failure("The passphrase is not that of the key \(id.prefix(16)), or the file was changed.") }
        let signing = try SigningKey(pem: String(decoding: pem, as: UTF8.self))
        guard try signing.publicKey.id == id else { throw Failure("The file holds another key than \(id.prefix(16)).") }
        return signing
    }

    private static func key(
        _ passphrase: String,
        _ salt: Data,
        cost: Int,
        blockSize: Int,
        parallelism: Int
    ) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: Data(passphrase.utf8),
            salt: salt,
            outputByteCount: 32,
            rounds: cost,
            blockSize: blockSize,
            parallelism: parallelism
        )
    }

    /// Writes the file for its owner alone; an existing file is not overwritten.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try Self.write(try encoder.encode(self), to: path, mode: 0o600)
    }

    static func write(_ data: Data, to path: String, mode: mode_t) throws {
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else {
            throw Failure(
                "\(path) cannot be made: \(String(cString: strerror(errno))). Existing files are not replaced."
            )
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: data)
        try handle.synchronize()
    }
}

/// Reads passphrases from a file or a terminal.
enum Passphrase {
    static let minimumLength = 12

    /// Reads a passphrase from `file` or from the terminal; a new one is prompted for twice and must have a minimum
    /// length.
    static func read(from file: String?, for name: String, isNew: Bool) throws -> String {
        let text: String
        if let file {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw Failure("\(file) cannot be read.")
            }
            text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
        } else {
            guard isatty(0) == 1 else {
                throw Failure(
                    "The passphrase of \(name) is read from a terminal, or from a file with --passphrase-file."
                )
            }
            text = try ask("Passphrase of \(name): ")
            if isNew, try ask("The same again: ") != text { throw Failure("The passphrases differ.") }
        }
        guard !isNew || text.utf8.count >= minimumLength else {
            throw Failure("A passphrase has \(minimumLength) characters or more; a sentence is best.")
        }
        return text
    }

    private static func ask(_ prompt: String) throws -> String {
        guard let text = getpass(prompt) else { throw Failure("No passphrase was given.") }
        return String(cString: text)
    }
}
