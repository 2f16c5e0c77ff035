import Glibc

/// Files that are either complete or not there, also after a power failure.
enum SafeFile {
    struct Contents {
        let bytes: [UInt8]
        let mode: UInt32
    }

    /// The first `limit` bytes of a file; `nil` when there is none.
    static func read(_ path: String, limit: Int) throws(UpdateError) -> Contents? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw UpdateError(.storage, path, "it is not a file", remedy: "Remove it")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < limit {
            let count = Glibc.read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return Contents(bytes: bytes, mode: status.st_mode)
    }

    /// Writes to a temporary file, flushes it to the disk, and renames it, which replaces an older file atomically.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(UpdateError) {
        let folder = folder(of: path)
        let temporary = "\(folder)/\(temporaryPrefix)\(getpid())-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure("write", path) }
        guard writeAll(bytes, to: descriptor), fsync(descriptor) == 0 else {
            let error = failure("write", path)
            close(descriptor)
            unlink(temporary)
            throw error
        }
        guard close(descriptor) == 0, rename(temporary, path) == 0 else {
            let error = failure("write", path)
            unlink(temporary)
            throw error
        }
        try flush(folder: folder)
    }

    /// Removes a file; not an error when there is none.
    static func remove(_ path: String) throws(UpdateError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove", path) }
        try flush(folder: folder(of: path))
    }

    static func makeFolder(_ path: String) throws(UpdateError) {
        if mkdir(path, 0o777) == 0 { return }
        if errno == ENOENT {
            let parent = folder(of: path)
            guard parent != path, parent != "." else { throw failure("make the folder", path) }
            try makeFolder(parent)
            if mkdir(path, 0o777) == 0 { return }
        }
        var status = stat()
        guard errno == EEXIST, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw failure("make the folder", path)
        }
    }

    /// Removes temporary files that are more than an hour old, whose writers were killed.
    static func removeLeftovers(in folder: String) throws(UpdateError) {
        guard let directory = opendir(folder) else { throw failure("list the folder", folder) }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard name.utf8.starts(with: temporaryPrefix.utf8), lstat("\(folder)/\(name)", &status) == 0,
                status.st_mtim.tv_sec < time(nil) - 3_600
            else { continue }
            // Another process may remove it at the same time.
            guard unlink("\(folder)/\(name)") == 0 || errno == ENOENT else { throw failure("remove", name) }
        }
    }

    private static let temporaryPrefix = ".new-"

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var remaining = buffer[...]
            while !remaining.isEmpty {
                let count = Glibc.write(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: remaining).baseAddress,
                    remaining.count
                )
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                remaining = remaining.dropFirst(count)
            }
            return true
        }
    }

    /// Flushes the names in a folder to the disk.
    private static func flush(folder: String) throws(UpdateError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the folder", folder) }
        defer { close(descriptor) }
        // Some file systems have no way to flush a folder and say so.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("write", folder) }
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func failure(_ action: String, _ path: String) -> UpdateError {
        let number = errno
        let remedy =
            switch number {
            case EACCES, EPERM, EROFS: "Check the permissions"
            case ENOSPC, EDQUOT: "Free some space"
            case ENOENT, ENOTDIR: "Check the path"
            default: "Look up the system's error number \(number)"
            }
        return UpdateError(.storage, path, "cannot \(action): \(String(cString: strerror(number)))", remedy: remedy)
    }
}
