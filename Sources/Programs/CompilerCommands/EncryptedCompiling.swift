package import MLFiles
package import MLNumerics

/// A compiler of models into an encrypted folder.
package protocol EncryptedCompiling {
    /// Compiles `file` into `folder`/`name`.mlmodelc, encrypted with the key at `key`, and gives that path. The folder
    /// appears whole or not at all; without a name it is called as the model's file.
    static func compile(
        _ file: ModelFile,
        named name: String?,
        into folder: String,
        key: String
    ) throws(ModelError) -> String
}

/// For a tool that is built without cryptography.
package enum WithoutEncryption: EncryptedCompiling {
    package static func compile(
        _ file: ModelFile,
        named name: String?,
        into folder: String,
        key: String
    ) throws(ModelError) -> String {
        throw ModelError(
            .unsupported,
            "This tool was built without encryption; run `coreml compile` or `coremlc-encrypting compile` with the same arguments, or in a package use "
                + "the plugin CoreMLEncryptionPlugin instead of CoreMLPlugin.",
            at: file.path
        )
    }
}
