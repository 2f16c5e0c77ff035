import Crypto
package import MLEncryption
import MLFiles
package import MLNumerics

/// Writes archives.
package enum ArchiveWriter {
    /// What pieces files are divided into.  Readers take any division.
    private static let chunkByteCount = 256 << 10

    /// Writes the files of a compiled folder, encrypted or not, as an archive in the place of `path`.
    ///
    /// - Parameters:
    ///   - contentKey: of an encrypted folder, so that the header is bound to it; `nil` when it is not at hand.
    ///   - signer: who vouches for the archive.
    package static func write(
        _ folder: String,
        to path: String,
        model: ArchiveHeader.Model,
        contentKey: SecretBytes? = nil,
        signer: SigningKey? = nil,
        created: String = Dates.now,
        tool: String = "swift-coreml"
    ) throws(ModelError) {
        let paths = try FolderListing.files(in: folder)
        guard !paths.isEmpty else { throw ModelError(.invalidInput, "The folder has no files.", at: folder) }
        let record: EncryptionRecord? =
            paths.contains(ModelVaults.encryptionName) ? try Vault.record(in: StoredFolder(folder), at: folder) : nil
        var files: [ArchiveHeader.File] = []
        for name in paths {
            let end = files.last.map { $0.offset + $0.byteCount } ?? 0
            files.append(try describe(folder, name, at: ArchiveHeader.aligned(end)))
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
            let mapped = try MappedFile(folder + "/" + file.path)
            try mapped.withBytes { (bytes) throws(ModelError) in try new.append(bytes) }
        }
    }

    /// Writes an archive.
    /// - Parameter body: appends the bytes of a file.
    private static func write(
        _ header: ArchiveHeader,
        signer: SigningKey?,
        to path: String,
        _ body: (ArchiveHeader.File, NewFile) throws(ModelError) -> Void
    ) throws(ModelError) {
        let text = header.text
        guard text.count <= ArchiveHeader.largest else {
            throw ModelError(
                .unsupported,
                "The model has more files or bytes than an archive's header can tell of.",
                at: path
            )
        }
        // What cannot be read is not written.
        _ = try text.withUnsafeBufferPointer { (bytes) throws(ModelError) in
            try ArchiveHeader(text: UnsafeRawBufferPointer(bytes))
        }
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

    /// All that lies before the payload.
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
        at offset: Int
    ) throws(ModelError) -> ArchiveHeader.File {
        let file = try MappedFile(folder + "/" + name)
        return file.withBytes { bytes in
            var chunks: [ArchiveHeader.Chunk] = []
            for start in stride(from: 0, to: bytes.count, by: chunkByteCount) {
                let piece = UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(chunkByteCount))
                chunks.append(.init(byteCount: piece.count, hash: Array(SHA256.hash(data: piece))))
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
}
