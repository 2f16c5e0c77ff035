import CVaultRegistration
import MLArchive
import MLEncryption
import MLFiles
import MLNumerics

/// Registers the vault with the module that opens models; called when the first model is opened that needs it.
@_cdecl("coreml_encryption_register")
func registerVault() {
    Vault.shared.setArchives { (path) throws(ModelError) in try ModelArchive(path) }
    ModelVaults.register(Vault.shared)
    coreml_keys_call_registrar()
}
