import CompilerCommands
package import MLFiles
package import MLNumerics
import MLPackaging

/// Encrypts compiled models with keys of files.
package enum KeyFileEncryption: EncryptedCompiling {
    package static func compile(
        _ file: ModelFile,
        named name: String?,
        into folder: String,
        key: String
    ) throws(ModelError) -> String {
        try EncryptedCompilation.compile(file, named: name, into: folder, key: key)
    }
}
