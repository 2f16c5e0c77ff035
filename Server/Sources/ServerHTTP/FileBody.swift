import Hummingbird
import NIOCore
import ServerBlobs
import ServerCore

/// The body of an answer that is a file or a part of one.
///
/// However slowly the client reads, at most one piece of it is in memory, and none where the system sends files.
struct FileBody: Sendable {
    let service: Service
    let digest: BlobDigest
    let range: Range<Int>
    /// The connection; `nil` where there is none.
    let channel: (any Channel)?
    /// Whether the connection's handler sends files.
    let isSent: Bool

    /// The number of bytes that the system is told to send at a time.
    private static let sentByteCount = 1 << 20
    /// The number of bytes that are read at a time.
    private static let readByteCount = 128 << 10

    var responseBody: ResponseBody {
        ResponseBody(contentLength: range.count) { [self] writer in
            if let file = try service.openFile(digest) {
                if isSent, let channel {
                    try await send(file, channel)
                } else {
                    try await write(&writer, Self.readByteCount) { try bytes(of: file, $0) }
                }
            } else {
                try await write(&writer, service.pieceByteCount) {
                    ByteBuffer(bytes: try await service.bytes(of: digest, $0))
                }
            }
            try await writer.finish(nil)
        }
    }

    private func pieces(_ byteCount: Int) -> some Sequence<Range<Int>> {
        stride(from: range.lowerBound, to: range.upperBound, by: byteCount).lazy.map {
            $0..<min($0 + byteCount, range.upperBound)
        }
    }

    /// Lets the system send the file.
    private func send(_ file: BlobFile, _ channel: any Channel) async throws {
        let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file.descriptor)
        // The file, which stays open until then, closes the descriptor.
        defer { withExtendedLifetime(file) { _ = try? handle.takeDescriptorOwnership() } }
        for piece in pieces(Self.sentByteCount) {
            // Event loops do not wait for the disk: the next piece is prefetched while this one is sent.
            file.prefetch(piece.upperBound..<min(piece.upperBound + Self.sentByteCount, range.upperBound))
            let region = FileRegion(fileHandle: handle, readerIndex: piece.lowerBound, endIndex: piece.upperBound)
            try await channel.triggerUserOutboundEvent(FilePiece(region: region)).get()
        }
    }

    private func write(
        _ writer: inout any ResponseBodyWriter,
        _ byteCount: Int,
        read: (Range<Int>) async throws -> ByteBuffer
    ) async throws {
        for piece in pieces(byteCount) {
            try await writer.write(try await read(piece))
            // A writer waits when the connection is full, which it learns after the event loop has seen its writes;
            // without this it would write on until then.
            try await channel?.eventLoop.submit {}.get()
        }
    }

    private func bytes(of file: BlobFile, _ piece: Range<Int>) throws -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: piece.count)
        try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: piece.count) { memory in
            try file.read(
                at: piece.lowerBound,
                into: UnsafeMutableRawBufferPointer(rebasing: memory[..<piece.count])
            )
            return piece.count
        }
        return buffer
    }
}
