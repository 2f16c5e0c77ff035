import Glibc
import MLEncryption
import MLFiles
import MLNumerics

/// Files that only their owner has access to, in folders that nobody else can enter.
enum PrivateFiles {
    static func makeFolder(_ path: String) throws(ModelError) {
        try FileAccess.makeFolder(path)
        guard chmod(path, 0o700) == 0 else { throw failure("protect the folder", path) }
    }

    /// Writes a file of mode `0600` that replaces `path` once it is complete and survives a power failure.
    static func write(_ bytes: [UInt8], to path: String) throws(ModelError) {
        let temporary = FileAccess.temporaryName(for: path)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("write", path) }
        let isWritten = FileAccess.writeAll(bytes.span.bytes, to: descriptor) && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten, rename(temporary, path) == 0 else {
            let error = failure("write", path)
            unlink(temporary)
            throw error
        }
        try synchronize(FileAccess.folder(of: path))
    }

    /// Makes the names in a folder survive a power failure.
    static func synchronize(_ folder: String) throws(ModelError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the folder", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("write the folder", folder) }
    }

    /// Reads a file of at most `limit` bytes; `nil` when there is none.
    static func read(_ path: String, limit: Int) throws(ModelError) -> [UInt8]? {
        guard FileAccess.kind(of: path) != nil else { return nil }
        let file = try OpenFile(path)
        guard file.byteCount <= limit else {
            throw ModelError(.malformed, "The file is too large; restore it.", at: path)
        }
        return try file.bytes(at: 0, count: file.byteCount)
    }

    /// Runs `body` while no other thread or process holds the lock of the same file.
    static func locked<R, E: Error>(
        _ path: String,
        _ wrap: (ModelError) -> E,
        _ body: () throws(E) -> R
    ) throws(E) -> R {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw wrap(failure("lock", path)) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw wrap(failure("lock", path)) }
        }
        return try body()
    }

    static func failure(_ action: String, _ path: String) -> ModelError {
        ModelError(
            .io,
            "Cannot \(action): \(String(cString: strerror(errno))); check the path, the permissions and the space.",
            at: path
        )
    }
}
