import Crypto
import MLArchive
package import MLEncryption
import MLFiles
package import MLNumerics

/// Makes archives of models, and models of archives.
package enum ArchivePackaging {
    /// Writes an archive of the model at `path`, which is compiled first where it is not.
    ///
    /// - Parameters:
    ///   - key: what to encrypt with; `nil` for an archive that anybody can read.
    ///   - signer: who vouches for the archive.
    package static func archive(
        _ path: String,
        to target: String,
        key: ModelKey? = nil,
        signer: SigningKey? = nil
    ) throws(ModelError) {
        let path = FileAccess.withoutTrailingSlash(path)
        if FileAccess.kind(of: path) == .folder, isCompiled(path) {
            return try archive(compiled: path, named: name(path), to: target, key: key, signer: signer)
        }
        let file = try ModelFile.open(path: path)
        guard file.form != .compiled else {
            throw ModelError(.invalidInput, "This is an archive, or of a form that cannot be archived.", at: path)
        }
        try EncryptedCompilation.withCompiled(file, named: nil) { (compiled) throws(ModelError) in
            try archive(compiled: compiled, named: name(path), to: target, key: key, signer: signer)
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
        signer: SigningKey?
    ) throws(ModelError) {
        let model = try description(of: folder, named: name)
        guard let key else {
            // The header of a model that was encrypted before is bound to its key where that is at hand.
            let record = try Vault.shared.record(of: folder)
            let contentKey = record.flatMap { try? Vault.shared.contentKey(of: $0, at: folder) }
            return try ArchiveWriter.write(folder, to: target, model: model, contentKey: contentKey, signer: signer)
        }
        let temporary = try FileAccess.makeTemporaryFolder("coreml")
        do throws(ModelError) {
            let contentKey = try FolderEncryption.encrypt(folder, into: temporary, with: key)
            try ArchiveWriter.write(temporary, to: target, model: model, contentKey: contentKey, signer: signer)
        } catch {
            try? FileAccess.remove(temporary)
            throw error
        }
        try FileAccess.remove(temporary)
    }

    private static func name(_ path: String) -> String {
        let name = FileAccess.name(of: path)
        for ending in [".mlmodelc", ".mlpackage", ".mlmodel"] where name.hasSuffix(ending) && name.count > ending.count
        {
            return String(name.dropLast(ending.count))
        }
        return name
    }

    /// What `metadata.json` of a compiled folder says of the model; the name alone when nobody can read that.
    private static func description(of folder: String, named name: String) throws(ModelError) -> ArchiveHeader.Model {
        var model = ArchiveHeader.Model(name: name)
        let path = folder + "/metadata.json"
        let isEncrypted = FileAccess.kind(of: folder + "/" + ModelVaults.encryptionName) != nil
        guard !isEncrypted, FileAccess.kind(of: path) == .file else { return model }
        let json = try trailing(path) { () throws(ModelError) in try JSONReader.read(FileAccess.read(path)) }
        guard case .array(let models) = json, let first = models.first else { return model }
        model.kind = first["modelType"]?["name"]?.string.map { String($0.trimmingPrefix("MLModelType_")) }
        if case .integer(let version)? = first["specificationVersion"], version >= 0 {
            model.specificationVersion = Int(version)
        }
        model.version = first["version"]?.string.flatMap { $0.utf8.count <= 1024 ? $0 : nil }
        model.interfaceHash = interfaceHash(first)
        return model
    }

    /// SHA-256 of a line for each input, output and state: its role, name and type, divided by tabulators.
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

/// Gives models that were encrypted with one key to another, without encrypting them anew.
package enum KeyRotation {
    /// Wraps the content key of the model at `path` for the holder of `new`; its own key must be at hand.
    /// - Parameter signer: who vouches for the archive anew, when the model lies in one.
    package static func rewrap(_ path: String, for new: ModelKey, signer: SigningKey? = nil) throws(ModelError) {
        try trailing(path) { () throws(ModelError) in try FolderEncryption.check(new) }
        guard let record = try Vault.shared.record(of: path) else {
            throw ModelError(.invalidInput, "The model is not encrypted.", at: path)
        }
        let contentKey = try Vault.shared.contentKey(of: record, at: path)
        let text = try trailing(path) { () throws(ModelError) in try record.rewrapped(contentKey, for: new).text }
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
