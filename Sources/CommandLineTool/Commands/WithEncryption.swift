import CompilerCommands
import MLFiles
import MLNumerics
import MLPackaging

/// How `coreml compile --encrypt` compiles.
enum WithEncryption: EncryptedCompiling {
    static func compile(
        _ file: ModelFile,
        named name: String?,
        into folder: String,
        key: String
    ) throws(ModelError) -> String {
        try EncryptedCompilation.compile(file, named: name, into: folder, key: key)
    }
}
