import CSecrets
import Crypto
import Glibc
import MLFiles
package import MLNumerics

/// The files of an encrypted model, decrypted into memory when they are requested.
package final class EncryptedFolder: FolderContents {
    package let record: EncryptionRecord
    private let contentKey: SecretBytes
    private let stored: any StoredFiles

    /// Opens a folder; throws `.decryption` when `contentKey` is not the model's, or the record was changed.
    package init(
        _ record: EncryptionRecord,
        contentKey: SecretBytes,
        stored: any StoredFiles
    ) throws(ModelError) {
        try record.check(contentKey)
        self.record = record
        self.contentKey = contentKey
        self.stored = stored
    }

    package var isProtected: Bool { true }

    package func path(of name: String) -> String? { nil }

    package func contents(of name: String) throws(ModelError) -> TensorStorage? {
        try withErrorContext(name) { () throws(ModelError) in
            if let file = record.files.first(where: { $0.path == name }) { return try decrypted(file) }
            if let file = record.clear.first(where: { $0.path == name }) { return try checked(file) }
            return nil
        }
    }

    private func decrypted(_ file: EncryptionRecord.EncryptedFile) throws(ModelError) -> TensorStorage {
        let stored = try self.stored(file.path, byteCount: Cobblestone.storedByteCount(of: file.byteCount))
        var start = [UInt8](repeating: 0, count: Cobblestone.startByteCount)
        try fill(&start) { (bytes) throws(ModelError) in try stored.read(at: 0, into: bytes) }
        guard start == file.start else { throw Self.changed }
        return try SecretMemory.storage(file.byteCount) { (bytes) throws(ModelError) in
            try Cobblestone.open(
                storedByteCount: stored.byteCount,
                key: contentKey,
                context: record.context(file.path),
                into: bytes
            ) { (offset, buffer) throws(ModelError) in try stored.read(at: offset, into: buffer) }
        }
    }

    private func checked(_ file: EncryptionRecord.ClearFile) throws(ModelError) -> TensorStorage {
        let bytes = try stored(file.path, byteCount: file.byteCount).bytes()
        guard SHA256.hash(data: bytes).elementsEqual(file.hash) else { throw Self.changed }
        return TensorStorage(copying: bytes)
    }

    private func stored(_ path: String, byteCount: Int?) throws(ModelError) -> StoredFile {
        guard let file = try stored.stored(path) else {
            throw ModelError(.decryption, "The file is missing in the encrypted model; copy the model again.")
        }
        guard file.byteCount == byteCount else { throw Self.changed }
        return file
    }

    private static var changed: ModelError {
        ModelError(.decryption, "The file is not the one that was encrypted; copy or compile the model again.")
    }
}

/// Memory for decrypted bytes.
package enum SecretMemory {
    private static let hugePage = 2 << 20

    /// Bytes that `fill` writes, in memory that is left out of core dumps and returned to the system as a whole.
    package static func storage(
        _ byteCount: Int,
        fill: (UnsafeMutableRawBufferPointer) throws(ModelError) -> Void
    ) throws(ModelError) -> TensorStorage {
        let storage = try writableStorage(byteCount)
        try fill(UnsafeMutableRawBufferPointer(start: storage.address, count: byteCount))
        guard mprotect(storage.address, byteCount, PROT_READ) == 0 else {
            throw ModelError(.io, "The decrypted model cannot be protected from being written to.")
        }
        return storage
    }

    /// Such memory, all zeros, that stays writable.
    package static func writableStorage(_ byteCount: Int) throws(ModelError) -> TensorStorage {
        TensorMemory.excludeFromCoreDumps()
        csecrets_exclude_kernels_from_core_dumps()
        let mapped = byteCount + (byteCount >= hugePage ? hugePage : 1)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let base = mmap(nil, mapped, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            throw ModelError(.io, "There is no memory for \(byteCount >> 20) MiB of the decrypted model.")
        }
        let bits = UInt(bitPattern: base)
        let address = byteCount >= hugePage ? base.alignedUp(toMultipleOf: hugePage) : base
        let storage = TensorStorage(borrowing: address, byteCount: byteCount) {
            munmap(UnsafeMutableRawPointer(bitPattern: bits), mapped)
        }
        guard madvise(base, mapped, MADV_DONTDUMP) == 0 else {
            throw ModelError(
                .io,
                "The system cannot leave memory out of core dumps; encrypted models are not loaded here."
            )
        }
        // A system without huge pages ignores this advice.
        if byteCount >= hugePage { _ = madvise(base, mapped, MADV_HUGEPAGE) }
        return storage
    }
}
