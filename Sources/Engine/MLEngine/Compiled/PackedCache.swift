import Glibc
import MLFiles
import MLNumerics

/// The user's cache of weights packed for this machine, for compiled models that do not contain them.
///
/// It is stored in `$XDG_CACHE_HOME/swift-coreml` or `~/.cache/swift-coreml`, with one file per model and instruction
/// set, and has at most `COREML_CACHE_MB` megabytes (4096 by default; 0 turns it off); the least recently used files
/// are removed first. Files are renamed into place when they are complete and never changed afterwards. All content can
/// be made again, so a file that cannot be read is made again, and failures to write are ignored.
struct PackedCache {
    private static let standardLimit = 4096
    private static let fileEnding = ".packed"

    private let folder: String
    private let path: String
    /// The source of the packed weights: the file's device, number, size and times, and the version of the format.
    private let identity: String
    private let instructionSet: String
    private let limit: Int

    /// Makes the cache entry of a model; `nil` when nothing may or can be cached for it.
    init?(for compiled: CompiledModel, instructionSet: String) {
        guard let path = compiled.path, let base = Self.base else { return nil }
        let megabytes = getenv("COREML_CACHE_MB").flatMap { Int(String(cString: $0)) } ?? Self.standardLimit
        guard megabytes > 0 else { return nil }
        limit = min(megabytes, 1 << 40) << 20
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec, CompiledModel.version,
        ]
        identity = (numbers.map(String.init) + [instructionSet, LinkedModels.resolvedPath(path)]).joined(separator: " ")
        self.instructionSet = instructionSet
        folder = base + "/swift-coreml"
        var hash = SectionHash()
        hash.add(Array(identity.utf8))
        self.path = folder + "/" + String(hash.value, radix: 16) + Self.fileEnding
    }

    private static var base: String? {
        func folder(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return folder("XDG_CACHE_HOME") ?? folder("HOME").map { $0 + "/.cache" }
    }

    /// The cached weights, if they exist, belong to this user and are complete.
    func library() -> PackedLibrary? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            let storage = try? MappedFile(path).storage, let sections = try? SectionFile(storage, path: path),
            sections.version == CompiledModel.version,
            let written = try? sections.bytes("identity"), written == Array(identity.utf8),
            let library = try? PackedLibrary(sections, instructionSet: instructionSet)
        else { return nil }
        // The file's time records its last use.
        utimensat(AT_FDCWD, path, nil, 0)
        return library
    }

    /// Stores the weights that `library` recorded.
    func keep(_ library: PackedLibrary) {
        // Failures only make the next load take longer.
        try? FileAccess.makeFolder(folder)
        chmod(folder, 0o700)
        let temporary = FileAccess.temporaryName(for: path)
        defer { unlink(temporary) }
        do throws(ModelError) {
            let writer = try SectionFileWriter(temporary, version: CompiledModel.version)
            try writer.add("identity", Array(identity.utf8))
            guard try library.write(to: writer, instructionSet: instructionSet) else { return }
            try writer.seal()
        } catch { return }
        guard let byteCount = FileAccess.byteCount(of: temporary), byteCount <= limit else { return }
        chmod(temporary, 0o400)
        rename(temporary, path)
        trim()
    }

    /// Removes the least recently used files until the cache is within its limit.
    private func trim() {
        guard let names = try? FileAccess.names(in: folder) else { return }
        var files: [(path: String, byteCount: Int, used: Int)] = []
        for name in names where name.hasSuffix(Self.fileEnding) {
            var status = stat()
            guard lstat(folder + "/" + name, &status) == 0 else { continue }
            let used = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
            files.append((folder + "/" + name, Int(status.st_size), used))
        }
        var total = files.reduce(0) { $0 + $1.byteCount }
        for file in files.sorted(by: { $0.used < $1.used }) where total > limit && file.path != path {
            unlink(file.path)
            total -= file.byteCount
        }
    }
}
