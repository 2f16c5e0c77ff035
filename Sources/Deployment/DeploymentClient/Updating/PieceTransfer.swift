import Crypto
import Synchronization

/// A piece that is missing or incomplete.
struct MissingPiece {
    let piece: ArchivePiece
    /// The number of bytes of its beginning that are there, unless they are wrong.
    var arrived = 0

    /// The range to fetch.
    var range: Range<Int> { piece.range.lowerBound + arrived..<piece.range.upperBound }
}

/// Fetches pieces of a file on the server into a local one.
struct PieceTransfer {
    /// The hash that names the file.
    let blob: String
    let file: PartialFile
    let source: BlobSource
    /// Throws when the rest of the download has to wait.
    let mayGoOn: @Sendable () throws(DeploymentError) -> Void
    /// Called with the number of bytes that have been added; negative where some were wrong.
    let progress: @Sendable (Int) -> Void

    /// The largest number of bytes fetched in one request.
    private static let maximumRequestByteCount = 8 << 20
    /// The largest number of unneeded bytes that are fetched to save a request.
    private static let maximumGap = 64 << 10

    /// Fetches the missing parts of pieces, which are in the order of their positions.
    func fetch(_ missing: [MissingPiece]) async throws(DeploymentError) {
        var remaining = missing[...]
        while let first = remaining.first {
            var group = [first]
            remaining = remaining.dropFirst()
            while let next = remaining.first, let last = group.last,
                next.range.lowerBound - last.range.upperBound <= Self.maximumGap,
                next.range.upperBound - first.range.lowerBound <= Self.maximumRequestByteCount
            {
                group.append(next)
                remaining = remaining.dropFirst()
            }
            let wrong = try await request(group)
            // The part of these that an earlier download had brought was wrong: a disk lost it, or a server lied.
            for piece in wrong { _ = try await request([MissingPiece(piece: piece)]) }
        }
    }

    /// Fetches adjacent pieces, or one that takes several requests; each is kept when it is right.
    ///
    /// Returns the pieces whose existing beginning was not right.
    private func request(_ pieces: [MissingPiece]) async throws(DeploymentError) -> [ArchivePiece] {
        guard let first = pieces.first, let last = pieces.last else { return [] }
        let (collector, end) = (PieceCollector(pieces, self), last.range.upperBound)
        for start in stride(from: first.range.lowerBound, to: end, by: Self.maximumRequestByteCount) {
            if Task.isCancelled { throw DeploymentError(.cancelled, blob, "The download was cancelled.") }
            try mayGoOn()
            try await source.stream(blob, start..<min(end, start + Self.maximumRequestByteCount)) {
                (bytes) throws(DeploymentError) in try collector.take(bytes)
            }
        }
        return collector.wrong
    }
}

/// Writes the arriving bytes of pieces to their positions, and verifies each piece when it is complete.
private final class PieceCollector: Sendable {
    private struct State {
        var pieces: ArraySlice<MissingPiece>
        /// The position of the next byte that arrives.
        var position: Int
        /// The hash of the arrived part of the first piece; `nil` before its next byte arrives.
        var hash: SHA256?
        var wrong: [ArchivePiece] = []
    }

    private let state: Mutex<State>
    private let transfer: PieceTransfer

    init(_ pieces: [MissingPiece], _ transfer: PieceTransfer) {
        state = Mutex(State(pieces: pieces[...], position: pieces.first?.range.lowerBound ?? 0))
        self.transfer = transfer
    }

    /// The pieces whose existing beginning was not right.
    var wrong: [ArchivePiece] { state.withLock { $0.wrong } }

    /// Adds the bytes that arrive next; those between two pieces are dropped.
    func take(_ bytes: [UInt8]) throws(DeploymentError) {
        try state.withLock { (state) throws(DeploymentError) in
            var bytes = bytes[...]
            while let missing = state.pieces.first, !bytes.isEmpty {
                let gap = min(max(0, missing.range.lowerBound - state.position), bytes.count)
                let place = state.position + gap
                let part = bytes.dropFirst(gap).prefix(missing.range.upperBound - place)
                state.position = place + part.count
                bytes = bytes.dropFirst(gap + part.count)
                guard !part.isEmpty else { continue }
                var hash: SHA256
                if let begun = state.hash { hash = begun } else { hash = try beginning(of: missing) }
                hash.update(data: part)
                state.hash = hash
                try transfer.file.write(part, at: place)
                transfer.progress(part.count)
                guard state.position == missing.range.upperBound else { continue }
                state.pieces.removeFirst()
                state.hash = nil
                if !hash.finalize().elementsEqual(missing.piece.hash) { try discard(missing, &state) }
            }
        }
    }

    /// The hash of the existing beginning of a piece.
    private func beginning(of missing: MissingPiece) throws(DeploymentError) -> SHA256 {
        var hash = SHA256()
        let start = missing.piece.range.lowerBound
        for offset in stride(from: 0, to: missing.arrived, by: 1 << 20) {
            hash.update(data: try transfer.file.read(start + offset..<start + min(missing.arrived, offset + 1 << 20)))
        }
        return hash
    }

    private func discard(_ missing: MissingPiece, _ state: inout State) throws(DeploymentError) {
        let range = missing.piece.range
        try transfer.file.erase(range)
        transfer.progress(-range.count)
        guard missing.arrived == 0 else { return state.wrong.append(missing.piece) }
        throw DeploymentError(
            .damaged,
            transfer.blob,
            "The bytes from \(range.lowerBound) on are not those that were signed: someone changed them in transit, or the "
                + "server's file is damaged."
        )
    }
}
