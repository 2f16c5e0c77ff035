import Foundation
import Glibc
import MLFiles

/// Files of a training session: read whole or at their beginning, and written atomically.
///
/// A file is written under another name in its folder, flushed to disk and renamed: whenever the process dies, it
/// exists completely or not at all.
enum DurableFile {
    /// The prefix of the names under which files are written.
    static let unfinishedPrefix = ".unfinished-"

    /// Reads a file.
    /// - Parameters:
    ///   - file: The file.
    ///   - missing: The reason to state when there is no such file.
    /// - Returns: Its contents.
    /// - Throws: `MLCreateError.io` when it is missing or cannot be read.
    static func read(_ file: URL, _ missing: String) throws -> [UInt8] {
        guard FileAccess.kind(of: file.path) == .file else { throw MLCreateError.io(reason: missing) }
        return try MLCreateError.translating { try FileAccess.read(file.path) }
    }

    /// Reads the bytes of a file from `offset`: `count`, or fewer at its end.
    static func read(_ file: URL, from offset: Int, count: Int) throws -> [UInt8] {
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            try handle.seek(toOffset: UInt64(offset))
            return [UInt8](try handle.read(upToCount: count) ?? Data())
        } catch {
            throw MLCreateError.io(reason: "cannot read \(file.path): \(error.localizedDescription)")
        }
    }

    /// Writes a file atomically and flushes it to disk: it is new and complete, or as it was before.
    static func write(_ bytes: [UInt8], to file: URL) throws {
        let folder = file.deletingLastPathComponent().path
        let temporary = "\(folder)/\(unfinishedPrefix)\(getpid())-\(UInt32.random(in: .min ... .max))"
        func failure(_ action: String) -> MLCreateError {
            .io(reason: "cannot \(action) \(file.path): \(String(cString: strerror(errno)))")
        }
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("write") }
        do {
            defer { close(descriptor) }
            guard FileAccess.writeAll(bytes.span.bytes, to: descriptor) else { throw failure("write") }
            guard fsync(descriptor) == 0 else { throw failure("write to the disk") }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, file.path) == 0 else {
            let error = failure("name")
            unlink(temporary)
            throw error
        }
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure("write to the disk the folder of") }
        defer { close(parent) }
        // Some file systems cannot flush a folder, and say EINVAL; the renaming is then as durable as they make it.
        guard fsync(parent) == 0 || errno == EINVAL else { throw failure("write to the disk the folder of") }
    }
}
