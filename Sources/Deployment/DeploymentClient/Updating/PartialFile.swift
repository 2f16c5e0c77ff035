import Crypto
import Foundation
import Glibc
import Synchronization

/// A piece of a file, by its range.
struct ArchivePiece {
    let range: Range<Int>
    let hash: [UInt8]
}

/// A file of a known length that is filled piece by piece.
///
/// Bytes are written as they arrive. Until a piece is complete and has the right hash, the number of its bytes that
/// have arrived is read off the file, which consists of zeros at first: a killed process loses what had not been
/// written, and a power failure what had not reached the disk.
final class PartialFile: Sendable {
    /// The largest number of bytes written between two flushes to the disk.
    private static let maximumUnsynchronizedByteCount = 8 << 20

    private let path: String
    private let descriptor: Int32
    private let byteCount: Int
    private let unsynchronized = Atomic<Int>(0)

    /// Opens an existing file, or creates one with all its space allocated, so that a full disk is noticed at once.
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

    /// The number of bytes of a piece that have arrived.
    ///
    /// It is all of them when the hash is right; else those up to the last one that is not zero, which may turn out to
    /// be wrong; 0 when even the last byte has arrived and the hash is not right.
    func arrivedByteCount(of piece: ArchivePiece) throws(DeploymentError) -> Int {
        var (hash, arrived) = (SHA256(), 0)
        for start in stride(from: 0, to: piece.range.count, by: Self.blockByteCount) {
            let end = min(piece.range.count, start + Self.blockByteCount)
            let block = try read(piece.range.lowerBound + start..<piece.range.lowerBound + end)
            hash.update(data: block)
            if let last = block.lastIndex(where: { $0 != 0 }) { arrived = start + last + 1 }
        }
        if hash.finalize().elementsEqual(piece.hash) { return piece.range.count }
        return arrived == piece.range.count ? 0 : arrived
    }

    private static let blockByteCount = 1 << 20

    func read(_ range: Range<Int>) throws(DeploymentError) -> [UInt8] {
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

    func write(_ bytes: some Collection<UInt8>, at offset: Int) throws(DeploymentError) {
        let result = bytes.withContiguousStorageIfAvailable { write(UnsafeRawBufferPointer($0), at: offset) }
        guard result ?? write(Array(bytes), at: offset) else { throw Durable.failure("write", path) }
        guard unsynchronized.add(bytes.count, ordering: .relaxed).newValue >= Self.maximumUnsynchronizedByteCount else {
            return
        }
        try synchronize()
    }

    private func write(_ bytes: [UInt8], at offset: Int) -> Bool { bytes.withUnsafeBytes { write($0, at: offset) } }

    /// Writes bytes, and returns whether all were written; otherwise `errno` has the reason.
    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        var position = 0
        while position < bytes.count {
            let remaining = UnsafeRawBufferPointer(rebasing: bytes[position...])
            let count = pwrite(descriptor, remaining.baseAddress, remaining.count, off_t(offset + position))
            if count > 0 { position += count } else if errno != EINTR { return false }
        }
        return true
    }

    /// Marks bytes as not arrived.
    func erase(_ range: Range<Int>) throws(DeploymentError) {
        let zeros = [UInt8](repeating: 0, count: min(range.count, Self.blockByteCount))
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.blockByteCount) {
            try write(zeros.prefix(range.upperBound - start), at: start)
        }
    }

    func synchronize() throws(DeploymentError) {
        unsynchronized.store(0, ordering: .relaxed)
        guard fdatasync(descriptor) == 0 else { throw Durable.failure("write", path) }
    }

    /// The SHA-256 of all bytes, in hexadecimal digits.
    func hash() throws(DeploymentError) -> String {
        var hash = SHA256()
        for start in stride(from: 0, to: byteCount, by: Self.blockByteCount) {
            hash.update(data: try read(start..<min(byteCount, start + Self.blockByteCount)))
        }
        return hash.finalize().map { String(format: "%02x", $0) }.joined()
    }
}
