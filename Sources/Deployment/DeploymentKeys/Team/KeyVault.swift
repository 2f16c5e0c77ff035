import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// The protection of stored secrets on this machine, the strongest first.
public enum StorageStrength: Sendable, CaseIterable {
    /// Sealed by systemd with the machine's TPM2: useless on another machine.
    case tpm
    /// Sealed by systemd with a key of the machine that only the superuser can read.
    case host
    /// Unsealed, in a file of mode `0600`.
    case file

    /// The protection as text for people.
    public var description: String { engine.rawValue }

    var engine: KeyStore.Strength {
        switch self {
        case .tpm: .tpm
        case .host: .host
        case .file: .file
        }
    }

    init(_ engine: KeyStore.Strength) {
        switch engine {
        case .tpm: self = .tpm
        case .host: self = .host
        case .file: self = .file
        }
    }
}

/// A key service's storage for the private keys of teams, sealed under one key.
///
/// That key is protected as strongly as the machine allows. Sealed texts can be stored in a database or a backup: they
/// are useless without the vault's key, and changes to them are detected.
public final class KeyVault: Sendable {
    private static let name = "vault.json"

    /// The folder's path.
    public let folder: String
    /// The protection of the vault's key.
    public let strength: StorageStrength
    private let key: ModelKey

    /// Opens the vault in a folder, or creates one.
    ///
    /// - Parameters:
    ///   - folder: the folder's path.
    ///   - strength: how a new vault's key is to be protected; `nil`, the default, for the strongest way that the
    ///     machine has.
    /// - Throws: `storage`, or `storageDamaged`, also when the vault was sealed on another machine.
    public init(folder: String, strength: StorageStrength? = nil) throws(DeploymentKeyError) {
        self.folder = folder
        (key, self.strength) = try SealingKey.openOrMake(folder, Self.name, strength)
    }

    // MARK: Rings

    /// The text of a key ring, in which the private keys are encrypted.
    public func seal(_ ring: TeamKeyRing) throws(DeploymentKeyError) -> [UInt8] {
        try keyErrors(.storage, at: "keys of \(ring.team)") { () throws(ModelError) in
            try SealedRing.text(ring, key)
        }
    }

    /// Opens a key ring that ``seal(_:)`` wrote; throws `storageDamaged` when it was changed, or is of another vault.
    public func open(_ text: [UInt8]) throws(DeploymentKeyError) -> TeamKeyRing {
        try keyErrors(.storageDamaged, at: "key ring") { () throws(ModelError) in try SealedRing.ring(text, key) }
    }

    // MARK: Other secrets

    /// Encrypts a secret of 32 bytes under the vault's key.
    ///
    /// `purpose` says what it is, and ``open(_:purpose:)`` needs the same. Throws `storage`.
    public func seal(_ secret: [UInt8], purpose: String) throws(DeploymentKeyError) -> [UInt8] {
        precondition(secret.count == SecretBytes.keyByteCount)
        return try keyErrors(.storage, at: purpose) { () throws(ModelError) in
            let secret = SecretBytes(byteCount: secret.count) { $0.copyBytes(from: secret) }
            return try KeyPair.wrap(secret, with: key, purpose: Array("mlk/1 vault\0\(purpose)".utf8))
        }
    }

    /// Decrypts a secret that ``seal(_:purpose:)`` encrypted.
    ///
    /// Throws `storageDamaged` when it was changed, or is of another vault or purpose.
    public func open(_ sealed: [UInt8], purpose: String) throws(DeploymentKeyError) -> [UInt8] {
        try keyErrors(.storageDamaged, at: purpose) { () throws(ModelError) in
            try KeyPair.unwrap(sealed, with: key, purpose: Array("mlk/1 vault\0\(purpose)".utf8)).withBytes {
                Array($0)
            }
        }
    }

    // MARK: Copies

    /// The vault's key under a passphrase, as the text of a `.mlmodelkey` file, to be kept on another machine.
    public func backup(passphrase: some Collection<UInt8>) throws(DeploymentKeyError) -> [UInt8] {
        try keyErrors(.storage, at: folder) { () throws(ModelError) in
            try KeyProtection.protect(key, passphrase: SecretText(passphrase)).text
        }
    }

    /// Creates a vault with the key of another one from its backup.
    ///
    /// - Parameters:
    ///   - backup: the text that ``backup(passphrase:)`` returned.
    ///   - passphrase: its passphrase.
    ///   - folder: the path of the new vault's folder.
    ///   - strength: how the vault's key is to be protected; `nil`, the default, for the strongest way that the machine
    ///     has.
    /// - Returns: a vault that opens what the other one has sealed.
    /// - Throws: `storageDamaged` for another text or passphrase, or `storage`.
    public static func restore(
        _ backup: [UInt8],
        passphrase: some Collection<UInt8>,
        to folder: String,
        strength: StorageStrength? = nil
    ) throws(DeploymentKeyError) -> KeyVault {
        let key = try keyErrors(.storageDamaged, at: "backup of a vault") { () throws(ModelError) in
            let protected = try ModelKey(text: backup)
            return try KeyProtection.unlock(protected, passphrase: SecretText(passphrase))
        }
        try SealingKey.store(key, in: folder, name, strength)
        return try KeyVault(folder: folder)
    }
}

/// A key that other secrets are sealed under, and that itself lies in a key store.
enum SealingKey {
    /// The key of the folder, created where there is none, and how strongly it is protected.
    static func openOrMake(
        _ folder: String,
        _ name: String,
        _ strength: StorageStrength?
    ) throws(DeploymentKeyError) -> (ModelKey, StorageStrength) {
        if let found = try open(folder, name) { return found }
        let key = try keyErrors(.storage, at: folder) { () throws(ModelError) in
            try ModelKey.make(.aes, team: "sealing key", created: Dates.now)
        }
        return (key, try store(key, in: folder, name, strength))
    }

    /// The key of the folder; `nil` when the folder has none.
    static func open(_ folder: String, _ name: String) throws(DeploymentKeyError) -> (ModelKey, StorageStrength)? {
        let path = folder + "/" + name
        guard FileAccess.kind(of: path) != nil else { return nil }
        return try keyErrors(.storageDamaged, at: path) { () throws(ModelError) in
            let (keyID, strength) = try read(FileAccess.read(path))
            guard let key = try KeyStore(folder: folder + "/keys").key(keyID), key.suite == .aes, key.keyID == keyID
            else {
                throw ModelError(
                    .keyFetch,
                    "The key that everything here is sealed with, \(keyID), is gone; restore it."
                )
            }
            return (key, strength)
        }
    }

    @discardableResult
    static func store(
        _ key: ModelKey,
        in folder: String,
        _ name: String,
        _ wanted: StorageStrength?
    ) throws(DeploymentKeyError) -> StorageStrength {
        let path = folder + "/" + name
        guard FileAccess.kind(of: path) == nil else {
            throw DeploymentKeyError(.storage, at: path, "The folder is in use; choose another.")
        }
        return try keyErrors(.storage, at: folder) { () throws(ModelError) in
            try PrivateFiles.makeFolder(folder)
            let found = try KeyStore(folder: folder + "/keys").store(key, strength: wanted?.engine)
            let text = CanonicalWriter.bytes(
                .object([
                    .integer("format", 1), .text("keyID", key.keyID), .text("strength", strengthName(found)),
                    .text("type", "mlk-sealing-key"),
                ])
            )
            try PrivateFiles.write(text, to: path)
            return StorageStrength(found)
        }
    }

    private static func strengthName(_ strength: KeyStore.Strength) -> String {
        switch strength {
        case .tpm: "tpm"
        case .host: "host"
        case .file: "file"
        }
    }

    private static func read(_ text: [UInt8]) throws(ModelError) -> (KeyID, StorageStrength) {
        try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.object { (object) throws(ModelError) in
                try object.format()
                let keyID: KeyIdentifier = try object.identifier("keyID")
                let name = try object.text("strength", limit: 16)
                try object.type("mlk-sealing-key")
                guard let strength = KeyStore.Strength.allCases.first(where: { strengthName($0) == name }) else {
                    throw ModelError(.unsupported, "The file names a strength that this version does not know.")
                }
                return (KeyID(keyID.bytes), StorageStrength(strength))
            }
        }
    }
}
