import Crypto
import MLEncryption
import MLFiles
import MLNumerics

/// How strongly secrets rest on this machine, the strongest first.
public enum StorageStrength: Sendable, CaseIterable {
    /// Sealed by systemd with the machine's TPM2: of no use on another machine.
    case tpm
    /// Sealed by systemd with a key of the machine that only the superuser can read.
    case host
    /// As they are, in a file of mode `0600`.
    case file

    /// What to tell people.
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

/// Where a key service keeps the private halves of teams' keys: sealed under one key that rests as strongly as the machine
/// can.
///
/// What `seal` gives can lie in a database or a backup: it is of no use without the vault's key, and cannot be changed.
public final class KeyVault: Sendable {
    private static let name = "vault.json"

    public let folder: String
    /// How the vault's key rests.
    public let strength: StorageStrength
    private let key: ModelKey

    /// Opens the vault in `folder`, or makes one.
    ///
    /// - Parameter strength: how a new vault's key is to rest; `nil` for the strongest that the machine has.
    /// - Throws: `storage`, `storageDamaged`, also when the vault was sealed on another machine.
    public init(folder: String, strength: StorageStrength? = nil) throws(DeploymentKeyError) {
        self.folder = folder
        (key, self.strength) = try SealingKey.openOrMake(folder, Self.name, strength)
    }

    // MARK: Rings

    /// The text of a ring, in which private halves are encrypted.
    public func seal(_ ring: TeamKeyRing) throws(DeploymentKeyError) -> [UInt8] {
        try keyErrors(.storage, at: "keys of \(ring.team)") { () throws(ModelError) in
            try SealedRing.text(ring, key)
        }
    }

    /// The ring that `seal` has written.
    /// - Throws: `storageDamaged` when the text was changed, or is of another vault.
    public func open(_ text: [UInt8]) throws(DeploymentKeyError) -> TeamKeyRing {
        try keyErrors(.storageDamaged, at: "key ring") { () throws(ModelError) in try SealedRing.ring(text, key) }
    }

    // MARK: Other secrets

    /// A secret of 32 bytes, encrypted under the vault's key.
    /// - Parameter purpose: what it is; `open` needs the same.
    public func seal(_ secret: [UInt8], purpose: String) throws(DeploymentKeyError) -> [UInt8] {
        precondition(secret.count == SecretBytes.keyByteCount)
        return try keyErrors(.storage, at: purpose) { () throws(ModelError) in
            let secret = SecretBytes(byteCount: secret.count) { $0.copyBytes(from: secret) }
            return try KeyPair.wrap(secret, with: key, purpose: Array("mlk/1 vault\0\(purpose)".utf8))
        }
    }

    /// The secret that `seal` has encrypted.
    /// - Throws: `storageDamaged` when it was changed, or is of another vault or purpose.
    public func open(_ sealed: [UInt8], purpose: String) throws(DeploymentKeyError) -> [UInt8] {
        try keyErrors(.storageDamaged, at: purpose) { () throws(ModelError) in
            try KeyPair.unwrap(sealed, with: key, purpose: Array("mlk/1 vault\0\(purpose)".utf8)).withBytes {
                Array($0)
            }
        }
    }

    // MARK: Copies

    /// The vault's key under a passphrase: the text of a `.mlmodelkey` file, to be kept where the machine's end does not
    /// reach it.
    public func backup(passphrase: some Collection<UInt8>) throws(DeploymentKeyError) -> [UInt8] {
        try keyErrors(.storage, at: folder) { () throws(ModelError) in
            try KeyProtection.protect(key, passphrase: SecretText(passphrase)).text
        }
    }

    /// Makes a vault in `folder` that opens what another one, whose key `backup` was, has sealed.
    public static func restore(
        _ backup: [UInt8],
        passphrase: some Collection<UInt8>,
        to folder: String,
        strength: StorageStrength? = nil
    ) throws(DeploymentKeyError) -> KeyVault {
        let key = try keyErrors(.storageDamaged, at: "backup of a vault") { () throws(ModelError) in
            let protected = try backup.withUnsafeBufferPointer { (bytes) throws(ModelError) in
                try ModelKey(text: UnsafeRawBufferPointer(bytes))
            }
            return try KeyProtection.unlock(protected, passphrase: SecretText(passphrase))
        }
        try SealingKey.store(key, in: folder, name, strength)
        return try KeyVault(folder: folder)
    }
}

/// A key that other secrets are sealed under, and that itself rests in a key store.
enum SealingKey {
    /// The key of the folder, and how strongly it rests.
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
                    .integer("format", 1), .text("keyID", key.keyID), .text("strength", word(found)),
                    .text("type", "mlk-sealing-key"),
                ])
            )
            try PrivateFiles.write(text, to: path)
            return StorageStrength(found)
        }
    }

    private static func word(_ strength: KeyStore.Strength) -> String {
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
                guard let strength = KeyStore.Strength.allCases.first(where: { word($0) == name }) else {
                    throw ModelError(.unsupported, "The file names a strength that this version does not know.")
                }
                return (KeyID(keyID.bytes), StorageStrength(strength))
            }
        }
    }
}
