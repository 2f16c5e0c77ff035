import Glibc
package import MLNumerics

/// File system operations by POSIX calls; every failure names the path, the operation and a remedy.
package enum FileAccess {
    package enum Kind: Sendable { case file, folder, other }

    /// The kind of file at `path`, following symbolic links; `nil` when there is nothing.
    package static func kind(of path: String) -> Kind? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// The size of a file; `nil` when there is none.
    package static func byteCount(of path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Int(status.st_size)
    }

    /// The sorted names in a folder, without `.` and `..`.
    package static func names(in folder: String) throws(ModelError) -> [String] {
        guard let directory = opendir(folder) else { throw failure("list the folder", folder) }
        defer { closedir(directory) }
        var result: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { result.append(name) }
        }
        return result.sorted()
    }

    /// Makes a folder and its missing parents.
    package static func makeFolder(_ path: String) throws(ModelError) {
        if path.isEmpty || kind(of: path) == .folder { return }
        let parent = folder(of: path)
        if parent != path { try makeFolder(parent) }
        guard mkdir(path, 0o777) == 0 || errno == EEXIST && kind(of: path) == .folder else {
            throw failure("make the folder", path)
        }
    }

    /// Writes all bytes to an open file, in as many calls as that takes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - descriptor: The file's descriptor, open for writing.
    /// - Returns: Whether all were written; `errno` has the reason otherwise.
    package static func writeAll(_ bytes: RawSpan, to descriptor: Int32) -> Bool {
        var remaining = bytes
        while !remaining.isEmpty {
            let written = remaining.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            remaining = remaining.extracting(droppingFirst: written)
        }
        return true
    }

    /// Writes bytes to a new file, which replaces `path` once it is complete.
    package static func write(_ bytes: RawSpan, to path: String) throws(ModelError) {
        let file = try NewFile(replacing: path)
        try file.append(bytes)
        try file.finish()
    }

    package static func write(_ bytes: [UInt8], to path: String) throws(ModelError) {
        try write(bytes.span.bytes, to: path)
    }

    package static func write(_ text: String, to path: String) throws(ModelError) {
        try write([UInt8](text.utf8), to: path)
    }

    /// All bytes of a file.
    package static func read(_ path: String) throws(ModelError) -> [UInt8] {
        let file = try MappedFile(path)
        let bytes = file.withBytes { [UInt8]($0) }
        try file.storage.checkWhole()
        return bytes
    }

    /// Makes `target` a hard link to the file `source` where the file system can, otherwise a copy.
    package static func linkOrCopy(_ source: String, to target: String) throws(ModelError) {
        if link(source, target) == 0 { return }
        try copy(source, to: target)
    }

    /// Copies the content of the file `source` to `target`.
    package static func copy(_ source: String, to target: String) throws(ModelError) {
        let file = try MappedFile(source)
        try file.withBytes { (bytes) throws(ModelError) in try write(bytes.bytes, to: target) }
    }

    /// Links or copies a file, or a folder with all its content; symbolic links inside are followed.
    package static func linkOrCopyTree(_ source: String, to target: String, depth: Int = 0) throws(ModelError) {
        switch kind(of: source) {
        case .file: try linkOrCopy(source, to: target)
        case .folder:
            guard depth < 32 else {
                throw ModelError(
                    .io,
                    "The folder is nested deeper than 32 levels: does a link in it lead back?",
                    at: source
                )
            }
            try makeFolder(target)
            for name in try names(in: source) {
                try linkOrCopyTree(source + "/" + name, to: target + "/" + name, depth: depth + 1)
            }
        case .other: throw ModelError(.io, "Neither a file nor a folder; remove it from the model.", at: source)
        case nil: throw failure("open", source)
        }
    }

    /// Removes a file, or a folder with all its content; a path that does not exist is no error.
    package static func remove(_ path: String) throws(ModelError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            for name in try names(in: path) { try remove(path + "/" + name) }
            guard rmdir(path) == 0 || errno == ENOENT else { throw failure("remove the folder", path) }
        } else {
            guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove", path) }
        }
    }

    /// Builds a folder under a temporary name and renames it to `path` when `build` has succeeded.
    ///
    /// An existing folder is replaced; after a failure it is unchanged. Where the file system can exchange two names,
    /// there is a complete folder at `path` at every moment.
    package static func replaceFolder(
        _ path: String,
        build: (_ temporary: String) throws(ModelError) -> Void
    ) throws(ModelError) {
        let path = withoutTrailingSlash(path)
        try makeFolder(folder(of: path))
        let temporary = temporaryName(for: path)
        do throws(ModelError) {
            try makeFolder(temporary)
            try build(temporary)
            if exchange(temporary, path) {
                try remove(temporary)
            } else if kind(of: path) == nil {
                guard rename(temporary, path) == 0 else { throw failure("name the finished folder", path) }
            } else {
                let old = temporaryName(for: path)
                guard rename(path, old) == 0 else { throw failure("replace", path) }
                guard rename(temporary, path) == 0 else {
                    let error = failure("name the finished folder", path)
                    _ = rename(old, path)
                    throw error
                }
                try remove(old)
            }
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// Exchanges the files that two paths name, atomically; returns false when the system cannot or one does not exist.
    private static func exchange(_ first: String, _ second: String) -> Bool {
        // `renameat2` is not declared by the C library's POSIX interface; 2 is RENAME_EXCHANGE.
        typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        guard let symbol = dlsym(nil, "renameat2") else { return false }
        let call = unsafeBitCast(symbol, to: Call.self)
        return call(AT_FDCWD, first, AT_FDCWD, second, 2) == 0
    }

    /// Makes a new empty folder for temporary files, in `TMPDIR` or `/tmp`.
    package static func makeTemporaryFolder(_ purpose: String) throws(ModelError) -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = [CChar]((withoutTrailingSlash(base) + "/" + purpose + "-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw failure("make a temporary folder in", base) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The folder that holds `path`: `.` for a bare name.
    package static func folder(of path: String) -> String {
        let path = withoutTrailingSlash(path)
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last component of `path`.
    package static func name(of path: String) -> String {
        let path = withoutTrailingSlash(path)
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[path.index(after: slash)...])
    }

    package static func withoutTrailingSlash(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        return String(path)
    }

    /// A unique name in the folder of `path`.
    package static func temporaryName(for path: String) -> String {
        let number = UInt32.random(in: .min ... .max)
        return "\(folder(of: path))/.\(name(of: path)).\(getpid())-\(String(number, radix: 36))"
    }

    /// The error of the call that just failed, from `errno`.
    static func failure(_ action: String, _ path: String) -> ModelError {
        let number = errno
        let reason = String(cString: strerror(number))
        let remedy =
            switch number {
            case ENOENT: "check the spelling of the path"
            case EACCES, EPERM: "check the permissions"
            case ENOSPC, EDQUOT: "free some space"
            case EMFILE, ENFILE: "close files or raise the limit of open files"
            case ENOTDIR, EISDIR: "a file is where a folder is expected, or the reverse"
            default: "errno \(number)"
            }
        return ModelError(.io, "Cannot \(action): \(reason) (\(remedy)).", at: path)
    }
}
