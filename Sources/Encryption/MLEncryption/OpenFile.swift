import Glibc
import MLFiles
package import MLNumerics

/// A file that is read by position rather than mapped: truncating it meanwhile causes an error, not a crash.
package final class OpenFile: Sendable {
    package let path: String
    package let byteCount: Int
    private let descriptor: Int32

    package init(_ path: String) throws(ModelError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("open", path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw ModelError(.io, "Not a file; give the path of a file.", at: path)
        }
        byteCount = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// Fills `buffer` with the bytes at `offset`.
    package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ModelError) {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor,
                buffer.baseAddress.map { $0 + done },
                buffer.count - done,
                off_t(offset + done)
            )
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("read", path) }
            guard count > 0 else {
                throw ModelError(
                    .malformed,
                    "The file ends at byte \(offset + done), too early; copy it again.",
                    at: path
                )
            }
            done += count
        }
    }

    /// Some bytes of the file.
    package func bytes(at offset: Int, count: Int) throws(ModelError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        try fill(&result) { (buffer) throws(ModelError) in try read(at: offset, into: buffer) }
        return result
    }

    /// A part of the file, mapped: pages are read when touched, and shared.
    package func mapped(at offset: Int, byteCount: Int) throws(ModelError) -> TensorStorage {
        guard byteCount > 0 else { return TensorStorage(byteCount: 0) }
        let start = offset / sysconf(Int32(_SC_PAGESIZE)) * sysconf(Int32(_SC_PAGESIZE))
        let count = byteCount + offset - start
        guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, off_t(start)), address != MAP_FAILED
        else { throw Self.failure("map", path) }
        let bits = UInt(bitPattern: address)
        return TensorStorage(borrowing: address + (offset - start), byteCount: byteCount) {
            munmap(UnsafeMutableRawPointer(bitPattern: bits), count)
        }
    }

    static func failure(_ action: String, _ path: String) -> ModelError {
        ModelError(
            .io,
            "Cannot \(action): \(String(cString: strerror(errno))); check the path and the permissions.",
            at: path
        )
    }
}

/// A stored file: a whole file, or a part of an archive.
package struct StoredFile: Sendable {
    let file: OpenFile
    let offset: Int
    package let byteCount: Int

    package init(_ file: OpenFile, offset: Int, byteCount: Int) {
        self.file = file
        self.offset = offset
        self.byteCount = byteCount
    }

    package func bytes() throws(ModelError) -> [UInt8] { try file.bytes(at: offset, count: byteCount) }

    package func read(at position: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ModelError) {
        try file.read(at: offset + position, into: buffer)
    }
}

/// Stored files by their paths within a model.
package protocol StoredFiles: Sendable {
    /// The file at `path`; `nil` when there is none.
    func stored(_ path: String) throws(ModelError) -> StoredFile?
}

/// The files of a folder.
package struct StoredFolder: StoredFiles {
    private let path: String

    package init(_ path: String) { self.path = path }

    package func stored(_ name: String) throws(ModelError) -> StoredFile? {
        guard FileAccess.kind(of: path + "/" + name) == .file else { return nil }
        let file = try OpenFile(path + "/" + name)
        return StoredFile(file, offset: 0, byteCount: file.byteCount)
    }
}
