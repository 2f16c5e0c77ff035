import Glibc
package import MLNumerics

/// A file being written under a temporary name; it is renamed in `finish`, or removed when it is dropped before.
package final class NewFile {
    private let path: String
    private let temporary: String
    private var descriptor: Int32
    /// The bytes written so far.
    package private(set) var count = 0

    package init(replacing path: String) throws(ModelError) {
        self.path = path
        temporary = FileAccess.temporaryName(for: path)
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileAccess.failure("write", path) }
    }

    package func append(_ bytes: RawSpan) throws(ModelError) {
        guard FileAccess.writeAll(bytes, to: descriptor) else { throw FileAccess.failure("write", path) }
        count += bytes.byteCount
    }

    package func append(_ bytes: [UInt8]) throws(ModelError) { try append(bytes.span.bytes) }

    /// Overwrites `bytes.count` bytes at `offset`, which must have been written before.
    package func overwrite(_ bytes: [UInt8], at offset: Int) throws(ModelError) {
        precondition(offset + bytes.count <= count)
        let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard written == bytes.count else { throw FileAccess.failure("write", path) }
    }

    /// Renames the file to its final name.
    package func finish() throws(ModelError) {
        let closed = close(descriptor)
        descriptor = -1
        guard closed == 0, rename(temporary, path) == 0 else {
            let error = FileAccess.failure("write", path)
            unlink(temporary)
            throw error
        }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(temporary)
    }
}
