import CModelVault
package import MLNumerics
import Synchronization

/// Opens models that need cryptography: encrypted compiled folders, and archives.
///
/// It is not part of this module, so that apps without encryption do not build it; the product `CoreMLEncryption`
/// registers it when it is linked.
package protocol ModelVault: Sendable {
    /// The files of an encrypted compiled folder, decrypted when they are used.
    func encryptedFolder(_ path: String) throws(ModelError) -> any FolderContents

    /// The files of the compiled model in an archive.
    func archive(_ path: String) throws(ModelError) -> any FolderContents

    /// Fetches the key of an encrypted model at `path` to the place where opening finds it, unless it is there already.
    ///
    /// This is the part of loading that may wait for a network.
    func fetchKey(for path: String) async throws(ModelError)
}

/// The registered vault, and the marks that identify encrypted models and archives.
package enum ModelVaults {
    /// The file that marks a compiled folder as encrypted.
    package static let encryptionName = "encryption.json"
    /// The first bytes of an archive.
    package static let archiveMagic = Array("MLARCH1\n".utf8)

    private static let registered = Mutex<(any ModelVault)?>(nil)
    /// Lets a vault that was linked register itself, once.
    private static let linked: Void = coreml_vault_call_registrar()

    /// Registers `vault` as the one that opens encrypted models and archives.
    package static func register(_ vault: any ModelVault) { registered.withLock { $0 = vault } }

    private static var current: (any ModelVault)? {
        linked
        return registered.withLock { $0 }
    }

    /// The vault that opens the model at `path`.
    static func vault(for path: String, _ subject: String) throws(ModelError) -> any ModelVault {
        guard let vault = current else {
            throw ModelError(
                .decryption,
                "This is \(subject), which this program cannot open: add the product CoreMLEncryption of swift-coreml to "
                    + "the dependencies of its target.",
                at: path
            )
        }
        return vault
    }

    /// Fetches the key of the model at `path` if it needs one and a vault is registered; opening reports other errors.
    package static func fetchKey(for path: String) async throws(ModelError) {
        guard let vault = current else { return }
        try await vault.fetchKey(for: path)
    }
}

extension ModelError.Code {
    /// The key of an encrypted model could not be fetched.
    package static let keyFetch = ModelError.Code("key fetch")
    /// An encrypted model cannot be decrypted: bytes were changed, or the key is wrong.
    package static let decryption = ModelError.Code("decryption")
}
