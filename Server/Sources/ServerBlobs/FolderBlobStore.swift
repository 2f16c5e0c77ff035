public import Foundation

/// Blobs as files in folders: `ab/cd/abcd…` by the digits of the hash.
public final class FolderBlobStore: BlobStore {
    /// The folder's path.
    public let folder: String

    /// Opens a store, whose folder is created when it does not exist.
    ///
    /// If `removesLeftovers` is true (the default), incomplete uploads that a crash left are removed; use false
    /// while a server may be writing.
    public init(folder: String, removesLeftovers: Bool = true) throws {
        self.folder = folder
        try makeFolder(folder + "/new")
        guard removesLeftovers else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/new") {
            try FileManager.default.removeItem(atPath: folder + "/new/" + name)
        }
    }

    /// 256 KiB.
    public var pieceByteCount: Int { 256 << 10 }

    private func path(_ digest: BlobDigest) -> String {
        let name = digest.description
        return "\(folder)/\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"
    }

    /// Begins an upload into a temporary file.
    public func upload() async throws -> any BlobUpload {
        try FileUpload(temporary: folder + "/new/" + UUID().uuidString, target: { [self] in path($0) })
    }

    /// The length of a blob's file; `nil` when there is none.
    public func byteCount(_ digest: BlobDigest) async throws -> Int? {
        var status = stat()
        guard stat(path(digest), &status) == 0 else {
            guard errno == ENOENT else { throw failure("read", path(digest)) }
            return nil
        }
        return Int(status.st_size)
    }

    /// Some bytes of a blob's file.
    public func read(_ digest: BlobDigest, _ range: Range<Int>) async throws -> [UInt8] {
        let file = try open(digest)
        return try readBytes(file.descriptor, path(digest), range)
    }

    /// The opened file of a blob.
    public func openFile(_ digest: BlobDigest) throws -> BlobFile? { try open(digest) }

    private func open(_ digest: BlobDigest) throws -> BlobFile {
        let path = path(digest)
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw errno == ENOENT ? BlobError.missing(digest) : failure("read", path) }
        return BlobFile(descriptor: file, path: path)
    }

    /// The path of a blob's file itself.
    public func localFile(_ digest: BlobDigest) async throws -> LocalBlob {
        guard try await byteCount(digest) != nil else { throw BlobError.missing(digest) }
        return LocalBlob(path: path(digest)) {}
    }

    /// Always `nil`: only the server can fetch the files.
    public func temporaryAddress(_ digest: BlobDigest, seconds: Int) -> URL? { nil }

    /// The digests of all files whose names are digests.
    public func digests() async throws -> [BlobDigest] {
        let files = FileManager.default.enumerator(atPath: folder)
        var result: [BlobDigest] = []
        while let path = files?.nextObject() as? String {
            if let digest = BlobDigest(String(path.split(separator: "/").last ?? "")) { result.append(digest) }
        }
        return result
    }

    /// Removes a blob's file, if there is one.
    public func remove(_ digest: BlobDigest) async throws {
        guard unlink(path(digest)) == 0 || errno == ENOENT else { throw failure("remove", path(digest)) }
    }
}

/// A file that is written under another name until it is complete.
private final class FileUpload: BlobUpload {
    private let file: FileWriter
    private let target: @Sendable (BlobDigest) -> String

    init(temporary: String, target: @escaping @Sendable (BlobDigest) -> String) throws {
        file = try FileWriter(path: temporary)
        self.target = target
    }

    func append(_ bytes: [UInt8]) async throws { try file.append(bytes) }

    func finish(expecting expected: BlobDigest?) async throws -> (digest: BlobDigest, byteCount: Int) {
        let digest = file.digest()
        if let expected, expected != digest { throw BlobError.wrongDigest(expected: expected, found: digest) }
        let byteCount = file.byteCount
        let place = target(digest)
        try makeFolder((place as NSString).deletingLastPathComponent)
        try file.move(to: place)
        return (digest, byteCount)
    }

    func cancel() async { file.discard() }
}

/// Creates a folder and its parents so that their names survive a crash of the machine.
func makeFolder(_ path: String) throws {
    guard !FileManager.default.fileExists(atPath: path) else { return }
    let parent = (path as NSString).deletingLastPathComponent
    if !parent.isEmpty { try makeFolder(parent) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make the folder", path) }
    try synchronizeFolder(parent.isEmpty ? "." : parent)
}

/// Makes the names in a folder survive a crash of the machine.
func synchronizeFolder(_ path: String) throws {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw failure("write", path) }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw failure("write", path) }
}

func failure(_ action: String, _ path: String) -> BlobError {
    .failure("cannot \(action) \(path): \(String(cString: strerror(errno)))")
}
