import Crypto
import Foundation
import Glibc
import MLArchive
import MLFiles
import MLNumerics
import Synchronization

/// Brings an archive to the device: piece by piece, only those that are not there yet, each checked when it arrives.
///
/// What has arrived stays when the download is interrupted, and models that are on the device lend the pieces that they share
/// with the new one.
struct ArchiveDownload {
    fileprivate typealias Piece = ArchivePiece

    let hash: String
    let byteCount: Int
    let store: CollectionStore
    let source: BlobSource
    /// Throws when the rest of the download has to wait.
    let mayGoOn: @Sendable () throws(DeploymentError) -> Void
    /// Called with the number of bytes that are there now and were not before.
    let progress: @Sendable (Int) -> Void

    /// What is fetched at once, at most.
    private static let largestRequest = 8 << 20
    /// Bytes that are fetched although they are there, so that one request serves where two would.
    private static let largestGap = 64 << 10

    /// Fetches what is missing; when this returns, the partial file has the bytes that were signed.
    func run() async throws(DeploymentError) {
        let file = try PartialFile(store.partialPath(hash), byteCount: byteCount)
        let (pieces, payloadStart) = try await layout(file)
        progress(payloadStart)
        try await fill(file, pieces)
        try check(file)
    }

    /// Runs `body`; what it finds wrong with the archive leaves it as the client's error.
    private func reading<R>(_ body: () throws(ModelError) -> R) throws(DeploymentError) -> R {
        do throws(ModelError) { return try body() } catch { throw DeploymentError(.damaged, hash, error.description) }
    }

    // MARK: Layout

    /// The pieces of the archive, which its header names, and how much lies before them.
    private func layout(_ file: PartialFile) async throws(DeploymentError) -> ([Piece], payloadStart: Int) {
        guard byteCount >= ArchiveStart.byteCount else {
            throw DeploymentError(.damaged, hash, "It is too short to be an archive.")
        }
        let bytes = try await source.bytes(hash, 0..<ArchiveStart.byteCount)
        let start = try reading { () throws(ModelError) in try ArchiveStart(bytes) }
        guard start.byteCount <= byteCount else {
            throw DeploymentError(.damaged, hash, "The archive's header is longer than the archive.")
        }
        let rest = try await source.bytes(hash, ArchiveStart.byteCount..<start.byteCount)
        let header = try reading { () throws(ModelError) in try start.header(Array(rest.prefix(start.headerByteCount)))
        }
        guard header.files.isEmpty || start.payloadStart + header.payloadByteCount == byteCount else {
            throw DeploymentError(.damaged, hash, "The archive's header tells of another archive.")
        }
        try file.write(bytes + rest, at: 0)
        var pieces: [Piece] = []
        for entry in header.files {
            var position = start.payloadStart + entry.offset
            for chunk in entry.chunks {
                pieces.append(Piece(range: position..<position + chunk.byteCount, hash: chunk.hash))
                position += chunk.byteCount
            }
        }
        return (pieces, min(start.payloadStart, byteCount))
    }

    // MARK: Pieces

    private func fill(_ file: PartialFile, _ pieces: [Piece]) async throws(DeploymentError) {
        let lenders = try Lenders(store)
        var missing: [Int] = []
        for (index, piece) in pieces.enumerated() {
            if try file.has(piece.range, piece.hash) {
                progress(piece.range.count)
            } else if let bytes = lenders.bytes(piece.hash, count: piece.range.count) {
                try file.write(bytes, at: piece.range.lowerBound)
                progress(piece.range.count)
            } else {
                missing.append(index)
            }
        }
        var next = missing.startIndex
        while next < missing.endIndex {
            var last = next
            while last + 1 < missing.endIndex,
                pieces[missing[last + 1]].range.lowerBound - pieces[missing[last]].range.upperBound <= Self.largestGap,
                pieces[missing[last + 1]].range.upperBound - pieces[missing[next]].range.lowerBound
                    <= Self.largestRequest
            { last += 1 }
            try await fetch(missing[next...last].map { pieces[$0] }, file)
            next = last + 1
        }
    }

    /// Fetches pieces that lie close together; each is kept when it is right, whatever the others are.
    private func fetch(_ pieces: [Piece], _ file: PartialFile) async throws(DeploymentError) {
        guard let first = pieces.first, let last = pieces.last else { return }
        if Task.isCancelled { throw DeploymentError(.cancelled, hash, "The download was cancelled.") }
        try mayGoOn()
        let collector = PieceCollector(pieces, file, hash, progress)
        try await source.stream(hash, first.range.lowerBound..<last.range.upperBound) {
            (bytes) throws(DeploymentError) in try collector.take(bytes)
        }
        try file.synchronize()
    }

    /// Throws unless the file is the one that was signed: then nothing of it stays.
    private func check(_ file: PartialFile) throws(DeploymentError) {
        try file.synchronize()
        guard try file.hash() == hash else {
            try store.discardPartial(hash)
            throw DeploymentError(.damaged, hash, "The archive that arrived is not the one that was signed.")
        }
    }
}

/// A piece of an archive, by its place.
private struct ArchivePiece {
    let range: Range<Int>
    let hash: [UInt8]
}

/// Keeps each of some pieces as soon as the last byte of it has arrived.
private final class PieceCollector: Sendable {
    private struct State {
        var pieces: ArraySlice<ArchivePiece>
        /// Where the next byte that arrives belongs.
        var position: Int
        /// What has arrived of the first of the pieces.
        var bytes: [UInt8] = []
    }

    private let state: Mutex<State>
    private let file: PartialFile
    private let archive: String
    private let progress: @Sendable (Int) -> Void

    init(
        _ pieces: [ArchivePiece],
        _ file: PartialFile,
        _ archive: String,
        _ progress: @escaping @Sendable (Int) -> Void
    ) {
        state = Mutex(State(pieces: pieces[...], position: pieces.first?.range.lowerBound ?? 0))
        self.file = file
        self.archive = archive
        self.progress = progress
    }

    /// Takes the bytes that arrive next; those between two pieces are not kept.
    func take(_ bytes: [UInt8]) throws(DeploymentError) {
        try state.withLock { (state) throws(DeploymentError) in
            var bytes = bytes[...]
            while let piece = state.pieces.first, !bytes.isEmpty {
                let gap = min(max(0, piece.range.lowerBound - state.position), bytes.count)
                let wanted = min(piece.range.count - state.bytes.count, bytes.count - gap)
                state.bytes += bytes.dropFirst(gap).prefix(wanted)
                state.position += gap + wanted
                bytes = bytes.dropFirst(gap + wanted)
                guard state.bytes.count == piece.range.count else { continue }
                try keep(state.bytes, as: piece)
                state.bytes.removeAll(keepingCapacity: true)
                state.pieces.removeFirst()
            }
        }
    }

    private func keep(_ bytes: [UInt8], as piece: ArchivePiece) throws(DeploymentError) {
        guard SHA256.hash(data: bytes).elementsEqual(piece.hash) else {
            throw DeploymentError(
                .damaged,
                archive,
                "The bytes from \(piece.range.lowerBound) on are not those of the archive: somebody changed them on their "
                    + "way, or the server's file is damaged."
            )
        }
        try file.write(bytes, at: piece.range.lowerBound)
        progress(piece.range.count)
    }
}

/// A file of a known length that is filled piece by piece.
private final class PartialFile: Sendable {
    private let path: String
    private let descriptor: Int32
    private let byteCount: Int

    /// Opens what was begun before, or makes a file: the space for all of it is taken at once, so that a full disk is noticed
    /// before anything is fetched.
    init(_ path: String, byteCount: Int) throws(DeploymentError) {
        self.path = path
        self.byteCount = byteCount
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Durable.failure("write", path) }
        let result = byteCount == 0 ? 0 : posix_fallocate(descriptor, 0, off_t(byteCount))
        guard result == 0 || result == EOPNOTSUPP, ftruncate(descriptor, off_t(byteCount)) == 0 else {
            if result != 0 { errno = result }
            let error = Durable.failure("take \(byteCount) bytes for", path)
            close(descriptor)
            unlink(path)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Whether the bytes at a place are those of this hash already.
    func has(_ range: Range<Int>, _ hash: [UInt8]) throws(DeploymentError) -> Bool {
        SHA256.hash(data: try read(range)).elementsEqual(hash)
    }

    private func read(_ range: Range<Int>) throws(DeploymentError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var position = 0
        while position < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + position, $0.count - position, off_t(range.lowerBound + position))
            }
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                throw Durable.failure("read", path)
            }
            position += count
        }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(DeploymentError) {
        var position = 0
        while position < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + position, $0.count - position, off_t(offset + position))
            }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw Durable.failure("write", path)
            }
            position += count
        }
    }

    func synchronize() throws(DeploymentError) {
        guard fdatasync(descriptor) == 0 else { throw Durable.failure("write", path) }
    }

    /// SHA-256 of all bytes, as hexadecimal digits.
    func hash() throws(DeploymentError) -> String {
        var hash = SHA256()
        for start in stride(from: 0, to: byteCount, by: 1 << 20) {
            hash.update(data: try read(start..<min(byteCount, start + 1 << 20)))
        }
        return hash.finalize().map { String(format: "%02x", $0) }.joined()
    }
}

/// Models on the device whose pieces new archives may share.
private struct Lenders {
    private struct Place {
        let path: String
        let offset: Int
    }

    private var places: [[UInt8]: Place] = [:]

    init(_ store: CollectionStore) throws(DeploymentError) {
        let models = try Durable.files { () throws(ModelError) in try FileAccess.names(in: store.folder + "/models") }
        for model in models {
            guard let folder = store.modelPath(model), let header = Self.header(store.modelFolder(model)) else {
                continue
            }
            for file in header.files {
                var offset = 0
                for chunk in file.chunks {
                    places[chunk.hash] = Place(path: folder + "/" + file.path, offset: offset)
                    offset += chunk.byteCount
                }
            }
        }
    }

    /// The header of the archive that a model came by; a damaged one lends nothing.
    private static func header(_ folder: String) -> ArchiveHeader? {
        guard let text = try? FileAccess.read(folder + "/header.json") else { return nil }
        return try? ArchiveHeader(readingText: text)
    }

    /// The bytes of a piece, if a model has them: what has changed on the disk is not what is looked for.
    func bytes(_ hash: [UInt8], count: Int) -> [UInt8]? {
        guard let place = places[hash] else { return nil }
        let file = open(place.path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(place.offset)) }
        guard read == count, SHA256.hash(data: bytes).elementsEqual(hash) else { return nil }
        return bytes
    }
}
