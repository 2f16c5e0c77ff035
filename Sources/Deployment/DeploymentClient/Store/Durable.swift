import Foundation
import Glibc
import MLFiles
import MLNumerics

/// Changes to files that survive a crash of the machine.
enum Durable {
    /// Runs `body` and turns file errors into the client's.
    static func files<R>(_ body: () throws(ModelError) -> R) throws(DeploymentError) -> R {
        do throws(ModelError) { return try body() } catch { throw DeploymentError(.storage, "", error.description) }
    }

    /// Replaces a file: it has the old bytes or the new ones, whatever happens meanwhile.
    static func write(_ bytes: [UInt8], to path: String) throws(DeploymentError) {
        let temporary = FileAccess.temporaryName(for: path)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("write", path) }
        do throws(DeploymentError) {
            guard FileAccess.writeAll(bytes.span.bytes, to: file), fsync(file) == 0 else {
                throw failure("write", path)
            }
            close(file)
        } catch {
            close(file)
            unlink(temporary)
            throw error
        }
        try rename(temporary, to: path)
    }

    /// Renames a file or folder whose contents are on the disk, durably.
    static func rename(_ old: String, to new: String) throws(DeploymentError) {
        guard Glibc.rename(old, new) == 0 else { throw failure("name", new) }
        try synchronize(FileAccess.folder(of: new))
    }

    /// Flushes a file, or the names in a folder, to the disk.
    static func synchronize(_ path: String) throws(DeploymentError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure("open", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw failure("write", path) }
    }

    /// Flushes a folder and everything in it to the disk.
    static func synchronizeTree(_ path: String) throws(DeploymentError) {
        let names = try files { () throws(ModelError) in try FileAccess.names(in: path) }
        for name in names {
            let place = path + "/" + name
            if FileAccess.kind(of: place) == .folder { try synchronizeTree(place) } else { try synchronize(place) }
        }
        try synchronize(path)
    }

    /// Creates a folder and its parents, durably.
    static func makeFolder(_ path: String) throws(DeploymentError) {
        guard FileAccess.kind(of: path) == nil else { return }
        let parent = FileAccess.folder(of: path)
        try makeFolder(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make the folder", path) }
        try synchronize(parent)
    }

    /// Removes a file or a folder, if it exists.
    static func remove(_ path: String) throws(DeploymentError) {
        try files { () throws(ModelError) in try FileAccess.remove(path) }
    }

    /// The contents of a small file; `nil` when there is none.
    static func read(_ path: String) throws(DeploymentError) -> [UInt8]? {
        guard FileAccess.kind(of: path) != nil else { return nil }
        return try files { () throws(ModelError) in try FileAccess.read(path) }
    }

    /// The error of the call that just failed.
    static func failure(_ action: String, _ path: String) -> DeploymentError {
        let number = errno
        let remedy = number == ENOSPC || number == EDQUOT ? "; free space, and it will be tried again" : ""
        return DeploymentError(.storage, path, "Cannot \(action) it: \(String(cString: strerror(number)))\(remedy).")
    }
}

/// A lock on a file; the system releases it when the process ends.
final class FileLock: Sendable {
    enum Kind { case shared, exclusive }

    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Takes the lock of the file at `path`, which is created when it is missing.
    ///
    /// On a full disk an existing file is enough. Returns `nil` when another has the lock and `waits` is false.
    static func take(_ path: String, _ kind: Kind, waits: Bool) throws(DeploymentError) -> FileLock? {
        var descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw Durable.failure("lock", path) }
        let operation = (kind == .shared ? LOCK_SH : LOCK_EX) | (waits ? 0 : LOCK_NB)
        while flock(descriptor, operation) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else {
                defer { close(descriptor) }
                throw Durable.failure("lock", path)
            }
            close(descriptor)
            return nil
        }
        return FileLock(descriptor: descriptor)
    }

    /// Runs `body` while nobody else has the lock of the file at `path`.
    static func with<R>(_ path: String, _ body: () throws(DeploymentError) -> R) throws(DeploymentError) -> R {
        let lock = try take(path, .exclusive, waits: true)
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    deinit { close(descriptor) }
}
