import Foundation

/// A lock that one holder on this machine has until the value is released or the process ends.
final class FileLock: Sendable {
    private let file: Int32

    /// Takes the lock; `nil` if another process holds it.
    ///
    /// The file at `path` is created when it does not exist, and is not removed.
    init?(path: String) throws {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DatabaseError.failure("cannot open \(path): \(String(cString: strerror(errno)))") }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            guard error == EWOULDBLOCK else {
                throw DatabaseError.failure("cannot lock \(path): \(String(cString: strerror(error)))")
            }
            return nil
        }
    }

    deinit { if file >= 0 { close(file) } }
}
