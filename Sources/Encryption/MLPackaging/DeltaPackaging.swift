import MLArchive
package import MLDelta
import MLEncryption
import MLFiles
package import MLNumerics

/// Makes deltas (`.mldelta`) of archives.
package enum DeltaPackaging {
    /// A delta to be made.
    package struct Request {
        /// The archive that devices have.
        package let old: String
        /// The model in it, compiled or not, in the clear, if the archive is encrypted for other recipients.
        package let oldModel: String?
        /// The path of the delta.
        package let output: String

        package init(old: String, oldModel: String? = nil, output: String) {
            self.old = old
            self.oldModel = oldModel
            self.output = output
        }
    }

    /// Writes a delta that makes the archive at `path`, unless it is too large.
    ///
    /// The keys of encrypted models must be available.
    package static func write(_ request: Request, to path: String) throws(ModelError) -> DeltaWriter.Outcome {
        try write(request, to: model(path))
    }

    static func write(_ request: Request, to new: DeltaWriter.Model) throws(ModelError) -> DeltaWriter.Outcome {
        guard let oldModel = request.oldModel else {
            return try DeltaWriter.write(from: model(request.old), to: new, path: request.output)
        }
        let archive = try ModelArchive(request.old)
        guard let record = try archive.record else {
            return try DeltaWriter.write(from: model(request.old), to: new, path: request.output)
        }
        return try withCompiled(oldModel) { (folder) throws(ModelError) in
            try check(folder, against: record, at: oldModel)
            let old = DeltaWriter.Model(archive, contents: PlainFolder(folder))
            return try DeltaWriter.write(from: old, to: new, path: request.output)
        }
    }

    /// Whether the archive at `path` is in the clear, or its key is available.
    package static func isReadable(_ path: String) throws(ModelError) -> Bool {
        do throws(ModelError) { _ = try model(path) } catch {
            guard error.code == .keyFetch else { throw error }
            return false
        }
        return true
    }

    /// The contents of an archive in the clear.
    private static func model(_ path: String) throws(ModelError) -> DeltaWriter.Model {
        let archive = try ModelArchive(path)
        guard let record = try archive.record else { return DeltaWriter.Model(archive, contents: archive.contents) }
        let contentKey = try Vault.shared.contentKey(of: record, at: path)
        try archive.check(contentKey)
        let contents = try EncryptedFolder(record, contentKey: contentKey, stored: archive.files)
        return DeltaWriter.Model(archive, contents: contents, contentKey: contentKey)
    }

    private static func withCompiled<R>(
        _ path: String,
        _ body: (String) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        let path = FileAccess.withoutTrailingSlash(path)
        if FileAccess.kind(of: path + "/" + ModelFile.compiledSpecificationName) == .file { return try body(path) }
        return try EncryptedCompilation.withCompiled(try ModelFile.open(path: path), named: nil, body)
    }

    /// Throws unless the files in the clear can be those that were encrypted: a delta from others would be useless.
    private static func check(
        _ folder: String,
        against record: EncryptionRecord,
        at path: String
    ) throws(ModelError) {
        for file in record.files where FileAccess.byteCount(of: folder + "/" + file.path) != file.byteCount {
            throw ModelError(
                .invalidInput,
                "This is not the model that was encrypted: its \(file.path) has another size, or is missing.",
                at: path
            )
        }
    }
}
