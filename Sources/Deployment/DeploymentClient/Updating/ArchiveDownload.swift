import Crypto
import Glibc
import MLArchive
import MLFiles
import MLNumerics

/// Downloads an archive: only the pieces that are missing, each verified when it has arrived.
///
/// An interrupted download keeps what has arrived, even the beginning of a piece; and models on the device provide the
/// pieces that they share with the new one.
struct ArchiveDownload {
    fileprivate typealias Piece = ArchivePiece

    let hash: String
    let byteCount: Int
    let store: CollectionStore
    let source: BlobSource
    /// Throws when the rest of the download has to wait.
    let mayGoOn: @Sendable () throws(DeploymentError) -> Void
    /// Called with the number of bytes that have been added.
    let progress: @Sendable (Int) -> Void

    /// Fetches everything that is missing; afterwards the partial file has the signed bytes.
    func run() async throws(DeploymentError) {
        let file = try PartialFile(store.partialPath(hash), byteCount: byteCount)
        do throws(DeploymentError) {
            let (pieces, payloadStart) = try await layout(file)
            progress(payloadStart)
            try await fill(file, pieces)
        } catch {
            // A forged header names pieces that no honest server has: the next check reads it anew.
            if error.code == .damaged { try file.erase(0..<min(ArchiveStart.byteCount, byteCount)) }
            throw error
        }
        try check(file)
    }

    /// Runs `body` and turns errors in the archive into the client's.
    private func reading<R>(_ body: () throws(ModelError) -> R) throws(DeploymentError) -> R {
        do throws(ModelError) { return try body() } catch { throw DeploymentError(.damaged, hash, error.description) }
    }

    // MARK: Layout

    /// The pieces of the archive, which its header lists, and the number of bytes before them.
    private func layout(
        _ file: PartialFile
    ) async throws(DeploymentError) -> (pieces: [Piece], payloadStart: Int) {
        guard byteCount >= ArchiveStart.byteCount else {
            throw DeploymentError(.damaged, hash, "It is too short to be an archive.")
        }
        if let (start, header) = try arrivedHeader(file) { return try layout(start, header) }
        let bytes = try await source.bytes(hash, 0..<ArchiveStart.byteCount)
        let start = try reading { () throws(ModelError) in try ArchiveStart(bytes) }
        guard start.byteCount <= byteCount else {
            throw DeploymentError(.damaged, hash, "The archive's header is longer than the archive.")
        }
        let remaining = try await source.bytes(hash, ArchiveStart.byteCount..<start.byteCount)
        let header = try reading { () throws(ModelError) in
            try start.header(Array(remaining.prefix(start.headerByteCount)))
        }
        let layout = try layout(start, header)
        // Bytes that belong to another header may lie between the pieces of this one.
        var end = start.byteCount
        for piece in layout.pieces {
            try file.erase(end..<piece.range.lowerBound)
            end = piece.range.upperBound
        }
        try file.erase(end..<min(byteCount, max(end, start.payloadStart)))
        // The start comes last: once it is written, the whole header follows it.
        try file.write(remaining, at: ArchiveStart.byteCount)
        try file.synchronize()
        try file.write(bytes, at: 0)
        return layout
    }

    /// The header that an earlier download has brought; `nil` when there is none yet.
    private func arrivedHeader(_ file: PartialFile) throws(DeploymentError) -> (ArchiveStart, ArchiveHeader)? {
        let bytes = try file.read(0..<ArchiveStart.byteCount)
        guard let start = try? ArchiveStart(bytes), start.byteCount <= byteCount else { return nil }
        let text = try file.read(ArchiveStart.byteCount..<ArchiveStart.byteCount + start.headerByteCount)
        guard let header = try? start.header(text) else { return nil }
        return (start, header)
    }

    private func layout(
        _ start: ArchiveStart,
        _ header: ArchiveHeader
    ) throws(DeploymentError) -> (pieces: [Piece], payloadStart: Int) {
        guard header.files.isEmpty || start.payloadStart + header.payloadByteCount == byteCount else {
            throw DeploymentError(.damaged, hash, "The archive's header describes another archive.")
        }
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
        let lenders = try PieceSources(store)
        var missing: [MissingPiece] = []
        for piece in pieces {
            let found = try file.arrivedByteCount(of: piece)
            if found == piece.range.count {
                progress(piece.range.count)
            } else if let bytes = lenders.bytes(piece.hash, count: piece.range.count) {
                try file.write(bytes, at: piece.range.lowerBound)
                progress(piece.range.count)
            } else {
                progress(found)
                missing.append(MissingPiece(piece: piece, arrived: found))
            }
        }
        try await PieceTransfer(
            blob: hash,
            file: file,
            source: source,
            mayGoOn: mayGoOn,
            progress: progress
        ).fetch(missing)
    }

    /// Throws unless the file is the signed one, in which case it is removed.
    private func check(_ file: PartialFile) throws(DeploymentError) {
        try file.synchronize()
        guard try file.hash() == hash else {
            try store.discardPartial(hash)
            throw DeploymentError(.damaged, hash, "The archive that arrived is not the one that was signed.")
        }
    }
}

/// Models on the device whose pieces new archives may share.
private struct PieceSources {
    private struct PieceLocation {
        let path: String
        let offset: Int
    }

    private var locations: [[UInt8]: PieceLocation] = [:]

    init(_ store: CollectionStore) throws(DeploymentError) {
        let models = try Durable.files { () throws(ModelError) in try FileAccess.names(in: store.folder + "/models") }
        for model in models {
            guard let folder = store.modelPath(model), let header = Self.header(store.modelFolder(model)) else {
                continue
            }
            for file in header.files {
                var offset = 0
                for chunk in file.chunks {
                    locations[chunk.hash] = PieceLocation(path: folder + "/" + file.path, offset: offset)
                    offset += chunk.byteCount
                }
            }
        }
    }

    /// The header of a model's archive; `nil` for a damaged one.
    private static func header(_ folder: String) -> ArchiveHeader? {
        guard let text = try? FileAccess.read(folder + "/header.json") else { return nil }
        return try? ArchiveHeader(readingText: text)
    }

    /// The bytes of a piece, if an unchanged model has them.
    func bytes(_ hash: [UInt8], count: Int) -> [UInt8]? {
        guard let location = locations[hash] else { return nil }
        let file = open(location.path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(location.offset)) }
        guard read == count, SHA256.hash(data: bytes).elementsEqual(hash) else { return nil }
        return bytes
    }
}
