package import MLEncryption
import MLEngine
package import MLFiles
package import MLNumerics

/// Compiles models into encrypted folders.
package enum EncryptedCompilation {
    /// Compiles an opened model into an encrypted folder and returns its path.
    ///
    /// `name` is that of the compiled folder without `.mlmodelc`, by default the model's; `folder` is its parent. `key`
    /// is the path of the `.mlmodelkey` to encrypt with. Where `isDescriptionReadable` is true, `metadata.json` stays
    /// in the clear.
    package static func compile(
        _ file: ModelFile,
        named name: String? = nil,
        into folder: String,
        key: String,
        isDescriptionReadable: Bool = false
    ) throws(ModelError) -> String {
        let key = try KeyFiles.encryptionKey(key)
        return try withCompiled(file, named: name) { (compiled) throws(ModelError) in
            let target = folder + "/" + FileAccess.name(of: compiled)
            try encrypt(compiled, to: target, with: key, isDescriptionReadable: isDescriptionReadable)
            return target
        }
    }

    /// Encrypts a compiled folder, replacing `target`.
    package static func encrypt(
        _ compiled: String,
        to target: String,
        with key: ModelKey,
        isDescriptionReadable: Bool = false
    ) throws(ModelError) {
        try FileAccess.replaceFolder(target) { (temporary) throws(ModelError) in
            try FolderEncryption.encrypt(
                compiled,
                into: temporary,
                with: key,
                isDescriptionReadable: isDescriptionReadable
            )
        }
    }

    /// Lends the compiled form of a model, which is removed afterwards.
    static func withCompiled<R>(
        _ file: ModelFile,
        named name: String?,
        _ body: (_ folder: String) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        let temporary = try FileAccess.makeTemporaryFolder("coreml")
        let result: R
        do throws(ModelError) {
            result = try body(try ModelCompiler.compile(file, named: name, into: temporary))
        } catch {
            try? FileAccess.remove(temporary)
            throw error
        }
        try FileAccess.remove(temporary)
        return result
    }
}

extension KeyFiles {
    /// The key at `path`, if models can be encrypted with it.
    package static func encryptionKey(_ path: String) throws(ModelError) -> ModelKey {
        let key = try read(path)
        try withErrorContext(path) { () throws(ModelError) in try FolderEncryption.check(key) }
        return key
    }
}
