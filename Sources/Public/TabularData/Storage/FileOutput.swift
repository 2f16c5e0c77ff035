import Foundation

/// Writing files that are there as a whole or not at all.
enum FileOutput {
    /// Writes a file that replaces the one at `url`, or the one to which a symbolic link there leads, once `body` has
    /// written everything; after an error the old one is as it was.
    ///
    /// A pipe or another special file is written to directly, and so is a file that the process has open, such as
    /// `/dev/stdout`.
    static func write(to url: URL, _ body: (FileHandle) throws -> Void) throws {
        let path = try target(of: url.path)
        var status = stat()
        let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        if isSpecial || path.hasPrefix("/proc/") {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? file.close() }
            if !isSpecial { try file.truncate(atOffset: 0) }
            return try body(file)
        }
        let whole = URL(fileURLWithPath: path)
        let part = whole.deletingLastPathComponent().appendingPathComponent(
            ".\(whole.lastPathComponent).\(UUID().uuidString)"
        )
        try Data().write(to: part)
        do {
            let file = try FileHandle(forWritingTo: part)
            defer { try? file.close() }
            try body(file)
            if rename(part.path, path) != 0 {
                throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path])
            }
        } catch {
            unlink(part.path)
            throw error
        }
    }

    /// Returns the path to which the symbolic links at `path` lead, where there need not be a file yet.
    ///
    /// Links of `/proc` stand for open files rather than for paths and are not followed.
    private static func target(of path: String) throws -> String {
        var path = path
        // As many as Linux follows.
        for _ in 0...40 {
            guard !path.hasPrefix("/proc/"),
                let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            else { return path }
            let folder = (path as NSString).deletingLastPathComponent
            path = next.hasPrefix("/") || folder.isEmpty ? next : folder + "/" + next
        }
        throw POSIXError(.ELOOP, userInfo: [NSFilePathErrorKey: path])
    }
}
