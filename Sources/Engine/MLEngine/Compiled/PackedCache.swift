import Glibc
import MLFiles
import MLNumerics

/// This user's cache of weights that were packed for this machine because a compiled model does not hold them so.
///
/// It lies in `$XDG_CACHE_HOME/swift-coreml` or `~/.cache/swift-coreml`, one file for each model and instruction set,
/// and takes at most `COREML_CACHE_MB` megabytes (4096 unless set; 0 turns it off), the ones used longest ago last out.
/// Files take their names when they are complete and are never changed afterwards.  Everything in it can be made again,
/// so what cannot be read is made again, and where nothing can be written, nothing is kept.
struct PackedCache {
    private static let standardLimit = 4096
    private static let fileEnding = ".packed"

    private let folder: String
    private let path: String
    /// What the weights were packed from: the file by its device, number, size and times, and the version of the form.
    private let identity: String
    private let instructionSet: String
    private let limit: Int

    /// `nil` when nothing may or can be kept of the model.
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
        identity = (numbers.map(String.init) + [instructionSet, LinkedModels.truePath(path)]).joined(separator: " ")
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

    /// The packed weights, if they are kept, are this user's and are whole.
    func library() -> PackedLibrary? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            let storage = try? MappedFile(path).storage, let sections = try? SectionFile(storage, path: path),
            sections.version == CompiledModel.version,
            let written = try? sections.bytes("identity"), written == Array(identity.utf8),
            let library = try? PackedLibrary(sections, instructionSet: instructionSet)
        else { return nil }
        // The time tells what was used last.
        utimensat(AT_FDCWD, path, nil, 0)
        return library
    }

    /// Keeps what `library` took down.
    func keep(_ library: PackedLibrary) {
        // Whether any of this succeeds only decides how long the next load takes.
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

    /// Removes files until the cache takes no more than it may, those used longest ago first.
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
