import Crypto
import MLArchive
package import MLDelta
package import MLEncryption
import MLFiles
package import MLNumerics

/// Makes archives of models.
package enum ArchivePackaging {
    /// Writes an archive of the model at `path`, which is compiled first where it is not.
    ///
    /// `key` encrypts the model; with `nil` anybody can read it. `signer` signs the archive, and `modelSigner` the
    /// files of a model in the clear, in `model.sig` beside them. `deltas` are made, too, and their results are
    /// returned.
    @discardableResult
    package static func archive(
        _ path: String,
        to target: String,
        key: ModelKey? = nil,
        signer: SigningKey? = nil,
        modelSigner: ModelSigningKey? = nil,
        deltas: [DeltaPackaging.Request] = []
    ) throws(ModelError) -> [DeltaWriter.Outcome] {
        let path = FileAccess.withoutTrailingSlash(path)
        guard modelSigner == nil || key == nil else { throw signedAndEncrypted(path) }
        if FileAccess.kind(of: path) == .folder, isCompiled(path) {
            return try archive(
                compiled: path,
                named: name(path),
                to: target,
                key: key,
                signer: signer,
                modelSigner,
                deltas
            )
        }
        let file = try ModelFile.open(path: path)
        guard file.form != .compiled else {
            throw ModelError(.invalidInput, "This is an archive, or of a form that cannot be archived.", at: path)
        }
        return try EncryptedCompilation.withCompiled(file, named: nil) { (compiled) throws(ModelError) in
            try archive(
                compiled: compiled,
                named: name(path),
                to: target,
                key: key,
                signer: signer,
                modelSigner,
                deltas
            )
        }
    }

    private static func isCompiled(_ folder: String) -> Bool {
        [ModelFile.compiledSpecificationName, ModelVaults.encryptionName].contains {
            FileAccess.kind(of: folder + "/" + $0) == .file
        }
    }

    private static func archive(
        compiled folder: String,
        named name: String,
        to target: String,
        key: ModelKey?,
        signer: SigningKey?,
        _ modelSigner: ModelSigningKey?,
        _ deltas: [DeltaPackaging.Request]
    ) throws(ModelError) -> [DeltaWriter.Outcome] {
        let model = try description(of: folder, named: name)
        guard let key else {
            // The header of a model that was already encrypted is bound to its key where that is available.
            let record = try Vault.shared.record(of: folder)
            guard modelSigner == nil || record == nil else { throw signedAndEncrypted(folder) }
            let contentKey = record.flatMap { try? Vault.shared.contentKey(of: $0, at: folder) }
            try ArchiveWriter.write(
                folder,
                to: target,
                model: model,
                contentKey: contentKey,
                signer: signer,
                modelSigner: modelSigner
            )
            return try deltas.map { (delta) throws(ModelError) in try DeltaPackaging.write(delta, to: target) }
        }
        let temporary = try FileAccess.makeTemporaryFolder("coreml")
        let contentKey: SecretBytes
        do throws(ModelError) {
            contentKey = try FolderEncryption.encrypt(folder, into: temporary, with: key)
            try ArchiveWriter.write(temporary, to: target, model: model, contentKey: contentKey, signer: signer)
        } catch {
            try? FileAccess.remove(temporary)
            throw error
        }
        try FileAccess.remove(temporary)
        guard !deltas.isEmpty else { return [] }
        // Encryption with a public key creates the content key, so it is known only now.
        let made = DeltaWriter.Model(try ModelArchive(target), contents: PlainFolder(folder), contentKey: contentKey)
        return try deltas.map { (delta) throws(ModelError) in try DeltaPackaging.write(delta, to: made) }
    }

    private static func signedAndEncrypted(_ path: String) -> ModelError {
        ModelError(
            .unsupported,
            "\(ModelSignature.fileName) lists files that others can hash, and those of an encrypted model are for key holders "
                + "alone: sign the archive (--sign) instead of the model.",
            at: path
        )
    }

    private static func name(_ path: String) -> String {
        let name = FileAccess.name(of: path)
        for ending in [".mlmodelc", ".mlpackage", ".mlmodel"] where name.hasSuffix(ending) && name.count > ending.count
        {
            return String(name.dropLast(ending.count))
        }
        return name
    }

    /// The description of a model from the `metadata.json` of its compiled folder; only the name when it cannot be
    /// read.
    private static func description(of folder: String, named name: String) throws(ModelError) -> ArchiveHeader.Model {
        var model = ArchiveHeader.Model(name: name)
        let path = folder + "/metadata.json"
        let isEncrypted = FileAccess.kind(of: folder + "/" + ModelVaults.encryptionName) != nil
        guard !isEncrypted, FileAccess.kind(of: path) == .file else { return model }
        let json = try withErrorContext(path) { () throws(ModelError) in try JSONReader.read(FileAccess.read(path)) }
        guard case .array(let models) = json, let first = models.first else { return model }
        model.kind = first["modelType"]?["name"]?.string.map { String($0.trimmingPrefix("MLModelType_")) }
        if case .integer(let version)? = first["specificationVersion"], version >= 0 {
            model.specificationVersion = Int(version)
        }
        model.version = first["version"]?.string.flatMap { $0.utf8.count <= 1024 ? $0 : nil }
        model.interfaceHash = interfaceHash(first)
        return model
    }

    /// The SHA-256 of a line for each input, output and state: its role, name and type, separated by tabs.
    private static func interfaceHash(_ model: JSONValue) -> [UInt8] {
        var text = ""
        for (role, member) in [("input", "inputSchema"), ("output", "outputSchema"), ("state", "stateSchema")] {
            guard case .array(let features)? = model[member] else { continue }
            for feature in features {
                text += "\(role)\t\(feature["name"]?.string ?? "")\t\(feature["formattedType"]?.string ?? "")\n"
            }
        }
        return Array(SHA256.hash(data: Array(text.utf8)))
    }
}

/// Changes the key of encrypted models without encrypting them again.
package enum KeyRotation {
    /// Wraps the content key of the model at `path` for the holder of `new`; its own key must be available.
    ///
    /// `signer` signs the archive again, when the model is in one.
    package static func rewrap(_ path: String, for new: ModelKey, signer: SigningKey? = nil) throws(ModelError) {
        try withErrorContext(path) { () throws(ModelError) in try FolderEncryption.check(new) }
        guard let record = try Vault.shared.record(of: path) else {
            throw ModelError(.invalidInput, "The model is not encrypted.", at: path)
        }
        let contentKey = try Vault.shared.contentKey(of: record, at: path)
        let text = try withErrorContext(path) { () throws(ModelError) in try record.rewrapped(contentKey, for: new).text
        }
        guard FileAccess.kind(of: path) == .file else {
            let name = FileAccess.withoutTrailingSlash(path) + "/" + ModelVaults.encryptionName
            return try FileAccess.write(text, to: name)
        }
        let archive = try ModelArchive(path)
        try archive.check(contentKey)
        let temporary = try FileAccess.makeTemporaryFolder("coreml")
        do throws(ModelError) {
            try archive.extract(to: temporary + "/model")
            try FileAccess.write(text, to: temporary + "/model/" + ModelVaults.encryptionName)
            try ArchiveWriter.write(
                temporary + "/model",
                to: path,
                model: archive.header.model,
                contentKey: contentKey,
                signer: signer,
                created: archive.header.created
            )
        } catch {
            try? FileAccess.remove(temporary)
            throw error
        }
        try FileAccess.remove(temporary)
    }
}
