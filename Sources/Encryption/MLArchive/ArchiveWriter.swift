import Crypto
package import MLEncryption
import MLFiles
package import MLNumerics

/// Writes archives.
package enum ArchiveWriter {
    /// Writes the files of a compiled folder, encrypted or not, as an archive that replaces `path`.
    ///
    /// `contentKey` is that of an encrypted folder, so that the header is bound to it, or `nil` when it is not
    /// available. `signer` signs the archive, and `modelSigner` the files of the model, in a file `model.sig` beside
    /// them.
    package static func write(
        _ folder: String,
        to path: String,
        model: ArchiveHeader.Model,
        contentKey: SecretBytes? = nil,
        signer: SigningKey? = nil,
        modelSigner: ModelSigningKey? = nil,
        created: String = Dates.now,
        tool: String = "swift-coreml"
    ) throws(ModelError) {
        var paths = try FolderListing.files(in: folder)
        if modelSigner != nil { paths.removeAll { $0 == ModelSignature.fileName } }
        guard !paths.isEmpty else { throw ModelError(.invalidInput, "The folder has no files.", at: folder) }
        let record: EncryptionRecord? =
            paths.contains(ModelVaults.encryptionName) ? try Vault.record(in: StoredFolder(folder), at: folder) : nil
        let cut = ContentChunks(archiveOf: paths.reduce(0) { $0 + (FileAccess.byteCount(of: folder + "/" + $1) ?? 0) })
        var files: [ArchiveHeader.File] = []
        for name in paths {
            let end = files.last.map { $0.offset + $0.byteCount } ?? 0
            files.append(try describe(folder, name, at: ArchiveHeader.aligned(end), cut))
        }
        let signature = try modelSigner.map { (key) throws(ModelError) in
            try ModelSignature.text(of: ModelManifest(name: model.name + ".mlmodelc", files: files), signedBy: key)
        }
        if let signature {
            let end = files.last.map { $0.offset + $0.byteCount } ?? 0
            files.append(describe(signature, ModelSignature.fileName, at: ArchiveHeader.aligned(end), cut))
        }
        let header = ArchiveHeader(
            created: created,
            record: record,
            contentKey: contentKey,
            files: files,
            model: model,
            tool: tool
        )
        try write(header, signer: signer, to: path) { (file, new) throws(ModelError) in
            if let signature, file.path == ModelSignature.fileName { return try new.append(signature) }
            let mapped = try MappedFile(folder + "/" + file.path)
            try mapped.withBytes { (bytes) throws(ModelError) in try new.append(bytes.bytes) }
        }
    }

    /// Writes an archive; `body` appends the bytes of a file.
    private static func write(
        _ header: ArchiveHeader,
        signer: SigningKey?,
        to path: String,
        _ body: (ArchiveHeader.File, NewFile) throws(ModelError) -> Void
    ) throws(ModelError) {
        let text = header.text
        guard text.count <= ArchiveHeader.maximumByteCount else {
            throw ModelError(
                .unsupported,
                "The model has more files or bytes than an archive's header can describe.",
                at: path
            )
        }
        // Refuses to write a header that cannot be read.
        _ = try ArchiveHeader(text: text)
        let hash = Array(SHA256.hash(data: text))
        let signatures =
            try signer.map { (key) throws(ModelError) in
                [try ArchiveSignature.sign(name: header.model.name, headerHash: hash, with: key)]
            } ?? []
        try FileAccess.makeFolder(FileAccess.folder(of: path))
        let new = try NewFile(replacing: path)
        try new.append(start(text, hash, ArchiveSignature.text(signatures)))
        let payloadStart = new.count
        for file in header.files {
            try new.append([UInt8](repeating: 0, count: payloadStart + file.offset - new.count))
            try body(file, new)
            guard new.count == payloadStart + file.offset + file.byteCount else {
                throw ModelError(.io, "The file changed while it was read; try again.", at: file.path)
            }
        }
        try new.finish()
    }

    /// All bytes before the payload.
    static func start(_ header: [UInt8], _ hash: [UInt8], _ signatures: [UInt8]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes = ModelVaults.archiveMagic + number(header.count) + number(signatures.count) + hash
        bytes += header
        bytes += signatures
        bytes += [UInt8](repeating: 0, count: ArchiveHeader.aligned(bytes.count) - bytes.count)
        return bytes
    }

    private static func describe(
        _ folder: String,
        _ name: String,
        at offset: Int,
        _ cut: ContentChunks
    ) throws(ModelError) -> ArchiveHeader.File {
        let file = try MappedFile(folder + "/" + name)
        return file.withBytes { bytes in describe(bytes, name, at: offset, cut) }
    }

    private static func describe(
        _ bytes: [UInt8],
        _ name: String,
        at offset: Int,
        _ cut: ContentChunks
    ) -> ArchiveHeader.File {
        bytes.withUnsafeBytes { describe($0, name, at: offset, cut) }
    }

    private static func describe(
        _ bytes: UnsafeRawBufferPointer,
        _ name: String,
        at offset: Int,
        _ cut: ContentChunks
    ) -> ArchiveHeader.File {
        var (chunks, start) = ([ArchiveHeader.Chunk](), 0)
        for length in cut.lengths(of: bytes) {
            let piece = UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(length))
            chunks.append(.init(byteCount: length, hash: Array(SHA256.hash(data: piece))))
            start += length
        }
        return ArchiveHeader.File(
            path: name,
            byteCount: bytes.count,
            offset: offset,
            hash: Array(SHA256.hash(data: bytes)),
            chunks: chunks
        )
    }
}
