public import Foundation

/// Bytes under the names of their hashes: what is stored never changes.
public protocol BlobStore: Sendable {
    /// Begins to store bytes that arrive in pieces.
    func upload() async throws -> any BlobUpload

    /// How many bytes a blob has; `nil` when there is none of that name.
    func byteCount(_ digest: BlobDigest) async throws -> Int?

    /// How many bytes are well read at a time.
    var pieceByteCount: Int { get }

    /// Some bytes of a blob.
    /// - Throws: `BlobError.missing` when there is none of that name.
    func read(_ digest: BlobDigest, _ range: Range<Int>) async throws -> [UInt8]

    /// The file that holds a blob, opened; `nil` when the store has no files on this machine.
    /// - Throws: `BlobError.missing` when there is none of that name.
    func openFile(_ digest: BlobDigest) throws -> BlobFile?

    /// A path at which the blob lies on this machine, for those who read it whole.
    ///
    /// The caller calls `release` when it is done with it.
    func localFile(_ digest: BlobDigest) async throws -> LocalBlob

    /// Where whoever has the address can fetch the blob without this server, for a time; `nil` when only the server can.
    func temporaryAddress(_ digest: BlobDigest, seconds: Int) -> URL?

    /// The digests of all blobs, in no order.
    func digests() async throws -> [BlobDigest]

    /// Removes a blob, if there is one.
    func remove(_ digest: BlobDigest) async throws
}

extension BlobStore {
    public func openFile(_ digest: BlobDigest) throws -> BlobFile? { nil }
}

/// A file that is open for reading, until nobody holds it.
public final class BlobFile: Sendable {
    /// Whoever uses it holds the file meanwhile, and does not close it.
    public let descriptor: Int32
    private let path: String

    init(descriptor: Int32, path: String) { (self.descriptor, self.path) = (descriptor, path) }

    deinit { close(descriptor) }

    /// Fills memory with the bytes from `position` on.
    /// - Throws: `BlobError.failure` when the file cannot be read or ends before.
    public func read(at position: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
        try fill(buffer, descriptor, path, position)
    }

    /// Tells the system that bytes will be read soon, so that it fetches them from the disk meanwhile.
    public func prefetch(_ range: Range<Int>) {
        // Nothing would mean everything from there on.
        guard !range.isEmpty else { return }
        // Advice: what comes of it does not matter to whoever reads.
        _ = posix_fadvise(descriptor, range.lowerBound, range.count, POSIX_FADV_WILLNEED)
    }
}

/// A file with the bytes of a blob, for a time.
public struct LocalBlob: Sendable {
    public let path: String
    /// Says that the file is not needed any more.
    public let release: @Sendable () -> Void

    public init(path: String, release: @escaping @Sendable () -> Void) {
        self.path = path
        self.release = release
    }
}

/// Bytes on their way into a store.  Whoever drops one without `finish` leaves nothing behind.
public protocol BlobUpload: Sendable {
    func append(_ bytes: [UInt8]) async throws

    /// Stores what was appended; when this returns, it outlives crashes of the machine.
    /// - Parameter expected: the hash that the bytes must have; another one is an error and stores nothing.
    func finish(expecting expected: BlobDigest?) async throws -> (digest: BlobDigest, byteCount: Int)

    func cancel() async
}

/// The name of a blob: the SHA-256 of its bytes.
public struct BlobDigest: Hashable, Sendable, CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public let description: String

    /// `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 64, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        description = text
    }

    /// The name of what has this hash of 32 bytes.
    public init(hash: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        description = String(decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        precondition(description.utf8.count == 64)
    }
}

/// What goes wrong in a store of blobs.
public enum BlobError: Error, Sendable, CustomStringConvertible {
    case missing(BlobDigest)
    case wrongDigest(expected: BlobDigest, found: BlobDigest)
    case failure(String)

    public var description: String {
        switch self {
        case .missing(let digest): "There is no file sha256:\(digest)."
        case .wrongDigest(let expected, let found):
            "The bytes that arrived have the hash \(found), not \(expected): send the file again."
        case .failure(let what): "The files cannot be stored or read: \(what)."
        }
    }
}
