import Crypto
package import MLEncryption
package import MLFiles
package import MLNumerics

/// An opened archive (`.mlarchive`), whose header has been verified, but not its files.
///
/// An archive begins with 48 bytes (mark, length of the header, length of the signatures, SHA-256 of the header), the
/// header and the signatures. The payload, which consists of the stored files, begins at the next multiple of 4096.
package final class ModelArchive: OpenedArchive {
    package let path: String
    package let header: ArchiveHeader
    package let headerHash: [UInt8]
    package let signatures: [ArchiveSignature]
    private let file: OpenFile
    private let payloadStart: Int

    private static let startByteCount = ArchiveStart.byteCount

    package init(_ path: String) throws(ModelError) {
        self.path = path
        let file = try OpenFile(path)
        self.file = file
        (header, headerHash, signatures, payloadStart) = try withErrorContext(path) { () throws(ModelError) in
            try Self.read(file)
        }
    }

    private static func read(
        _ file: OpenFile
    ) throws(ModelError) -> (ArchiveHeader, [UInt8], [ArchiveSignature], Int) {
        guard file.byteCount >= startByteCount else { throw ArchiveStart.cutOff }
        let start = try ArchiveStart(try file.bytes(at: 0, count: startByteCount))
        guard start.byteCount <= file.byteCount else { throw ArchiveStart.cutOff }
        let text = try file.bytes(at: startByteCount, count: start.headerByteCount)
        let signaturesText = try file.bytes(
            at: startByteCount + start.headerByteCount,
            count: start.signaturesByteCount
        )
        let header = try start.header(text)
        let signatures = try withErrorContext("signatures") { () throws(ModelError) in
            try ArchiveSignature.list(signaturesText)
        }
        let payloadStart = start.payloadStart
        guard file.byteCount == (header.files.isEmpty ? file.byteCount : payloadStart + header.payloadByteCount) else {
            throw ModelError(
                .malformed,
                "The archive has \(file.byteCount) bytes, its header says \(payloadStart + header.payloadByteCount): it was "
                    + "cut off, or something was added; get it again."
            )
        }
        return (header, start.headerHash, signatures, payloadStart)
    }

    // MARK: Files

    package func stored(_ file: ArchiveHeader.File) -> StoredFile {
        StoredFile(self.file, offset: payloadStart + file.offset, byteCount: file.byteCount)
    }

    package var files: any StoredFiles { ArchiveFiles(archive: self) }
    package var contents: any FolderContents { ArchiveContents(archive: self) }

    package var record: EncryptionRecord? {
        get throws(ModelError) {
            guard let encryption = header.encryption else {
                guard !header.files.contains(where: { $0.path == ModelVaults.encryptionName }) else {
                    throw contradiction
                }
                return nil
            }
            let record = try Vault.record(in: files, at: path)
            guard record.contentID == encryption.contentID, record.keyID == encryption.keyID,
                record.team == encryption.team
            else { throw contradiction }
            return record
        }
    }

    private var contradiction: ModelError {
        ModelError(
            .decryption,
            "The header and \(ModelVaults.encryptionName) do not match: the archive was changed; get it again.",
            at: path
        )
    }

    package func check(_ contentKey: SecretBytes) throws(ModelError) { try header.check(contentKey) }

    // MARK: Checking

    /// Throws at the first file whose bytes differ from the header's hashes, and for anything but zeros between files.
    package func verify(progress: (Int) -> Void = { _ in }) throws(ModelError) {
        try withErrorContext(path) { () throws(ModelError) in
            var end = 0
            for file in header.files {
                try checkGap(end..<file.offset)
                try withErrorContext(file.path) { () throws(ModelError) in try verify(file, progress) }
                end = file.offset + file.byteCount
            }
        }
    }

    private func verify(_ file: ArchiveHeader.File, _ progress: (Int) -> Void) throws(ModelError) {
        var whole = SHA256()
        var position = 0
        for (index, chunk) in file.chunks.enumerated() {
            let bytes = try self.file.bytes(at: payloadStart + file.offset + position, count: chunk.byteCount)
            guard SHA256.hash(data: bytes).elementsEqual(chunk.hash) else {
                throw ModelError(.malformed, "The file is damaged (piece \(index)); get the archive again.")
            }
            whole.update(data: bytes)
            position += chunk.byteCount
            progress(chunk.byteCount)
        }
        guard whole.finalize().elementsEqual(file.hash) else {
            throw ModelError(.malformed, "The pieces are right, but not the whole file; get the archive again.")
        }
    }

    private func checkGap(_ range: Range<Int>) throws(ModelError) {
        let bytes = try file.bytes(at: payloadStart + range.lowerBound, count: range.count)
        guard bytes.allSatisfy({ $0 == 0 }) else {
            throw ModelError(.malformed, "There is something between the files; get the archive again.")
        }
    }

    /// Writes the stored files into a folder that replaces `folder` when all of them are right.
    package func extract(to folder: String) throws(ModelError) {
        try FileAccess.replaceFolder(folder) { (temporary) throws(ModelError) in
            for file in header.files {
                let location = temporary + "/" + file.path
                try FileAccess.makeFolder(FileAccess.folder(of: location))
                let new = try NewFile(replacing: location)
                try withErrorContext(path) { () throws(ModelError) in
                    try withErrorContext(file.path) { () throws(ModelError) in try copy(file, to: new) }
                }
                try new.finish()
            }
        }
    }

    private func copy(_ file: ArchiveHeader.File, to new: NewFile) throws(ModelError) {
        var position = 0
        for (index, chunk) in file.chunks.enumerated() {
            let bytes = try self.file.bytes(at: payloadStart + file.offset + position, count: chunk.byteCount)
            guard SHA256.hash(data: bytes).elementsEqual(chunk.hash) else {
                throw ModelError(.malformed, "The file is damaged (piece \(index)); get the archive again.")
            }
            try new.append(bytes)
            position += chunk.byteCount
        }
    }

    /// Maps a file that is stored in the clear.
    fileprivate func mapped(_ file: ArchiveHeader.File) throws(ModelError) -> TensorStorage {
        try withErrorContext(path) { () throws(ModelError) in
            try self.file.mapped(at: payloadStart + file.offset, byteCount: file.byteCount)
        }
    }
}

/// The stored files of an archive by their paths.
private struct ArchiveFiles: StoredFiles {
    let archive: ModelArchive

    func stored(_ path: String) throws(ModelError) -> StoredFile? {
        archive.header.files.first { $0.path == path }.map { archive.stored($0) }
    }
}

/// The files of an archive whose model is in the clear, mapped in place.
private struct ArchiveContents: FolderContents {
    let archive: ModelArchive

    var isProtected: Bool { false }

    func contents(of name: String) throws(ModelError) -> TensorStorage? {
        guard let file = archive.header.files.first(where: { $0.path == name }) else { return nil }
        return try archive.mapped(file)
    }

    func path(of name: String) -> String? { nil }
}
