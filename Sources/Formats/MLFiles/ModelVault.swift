import CModelVault
package import MLNumerics
import Synchronization

/// Opens what needs cryptography: encrypted compiled folders, and archives.
///
/// It is no part of this module, so that apps which never encrypt do not build it: the product `CoreMLEncryption`
/// registers it by being linked.
package protocol ModelVault: Sendable {
    /// The files of an encrypted compiled folder, decrypted when they are asked for.
    func encryptedFolder(_ path: String) throws(ModelError) -> any FolderContents

    /// The files of the compiled model that an archive holds.
    func archive(_ path: String) throws(ModelError) -> any FolderContents

    /// Gets the key of what lies at `path` to where opening finds it, if it is encrypted and its key is not there yet:
    /// the part of loading that may wait for a network.
    func fetchKey(for path: String) async throws(ModelError)
}

/// The registered vault, and the marks by which encrypted models and archives are recognised.
package enum ModelVaults {
    /// The file that makes a compiled folder an encrypted one.
    package static let encryptionName = "encryption.json"
    /// How an archive begins.
    package static let archiveMagic = Array("MLARCH1\n".utf8)

    private static let registered = Mutex<(any ModelVault)?>(nil)
    /// Lets a vault that was linked register itself, once.
    private static let linked: Void = coreml_vault_call_registrar()

    /// Makes `vault` the one that opens encrypted models and archives from now on.
    package static func register(_ vault: any ModelVault) { registered.withLock { $0 = vault } }

    private static var current: (any ModelVault)? {
        linked
        return registered.withLock { $0 }
    }

    /// The vault that opens what lies at `path`.
    static func vault(for path: String, _ what: String) throws(ModelError) -> any ModelVault {
        guard let vault = current else {
            throw ModelError(
                .decryption,
                "This is \(what), which this program cannot open: add the product CoreMLEncryption of swift-coreml to "
                    + "the dependencies of its target.",
                at: path
            )
        }
        return vault
    }

    /// Fetches the key of the model at `path`, if there is need and somebody who can; what cannot be opened is said when
    /// it is opened.
    package static func fetchKey(for path: String) async throws(ModelError) {
        guard let vault = current else { return }
        try await vault.fetchKey(for: path)
    }
}

extension ModelError.Code {
    /// The key of an encrypted model could not be had.
    package static let keyFetch = ModelError.Code("key fetch")
    /// An encrypted model cannot be decrypted: changed bytes, or not the key that it was encrypted with.
    package static let decryption = ModelError.Code("decryption")
}
