public import Foundation

/// A store of immutable files, named by the hashes of their contents.
public protocol BlobStore: Sendable {
    /// Begins to store bytes that arrive in pieces.
    func upload() async throws -> any BlobUpload

    /// The length of a blob in bytes; `nil` when there is none with the digest.
    func byteCount(_ digest: BlobDigest) async throws -> Int?

    /// The number of bytes that are best read at a time.
    var pieceByteCount: Int { get }

    /// Some bytes of a blob; throws ``BlobError/missing(_:)`` when there is none with the digest.
    func read(_ digest: BlobDigest, _ range: Range<Int>) async throws -> [UInt8]

    /// The opened file of a blob; `nil` when the store has no files on this machine.
    ///
    /// Throws ``BlobError/missing(_:)`` when there is none with the digest.
    func openFile(_ digest: BlobDigest) throws -> BlobFile?

    /// A path to a blob on this machine, for callers that read it whole.
    ///
    /// The caller calls ``LocalBlob/release`` when it is done with it.
    func localFile(_ digest: BlobDigest) async throws -> LocalBlob

    /// A URL at which anyone can fetch the blob without this server for some seconds.
    ///
    /// `nil` when only the server can fetch it.
    func temporaryAddress(_ digest: BlobDigest, seconds: Int) -> URL?

    /// The digests of all blobs, in no particular order.
    func digests() async throws -> [BlobDigest]

    /// Removes a blob, if there is one.
    func remove(_ digest: BlobDigest) async throws
}

extension BlobStore {
    /// The opened file of a blob: `nil`, for stores that have no files on this machine.
    public func openFile(_ digest: BlobDigest) throws -> BlobFile? { nil }
}

/// A file that is open for reading until it is released.
public final class BlobFile: Sendable {
    /// The file descriptor; the caller keeps the file alive while using it, and does not close it.
    public let descriptor: Int32
    private let path: String

    init(descriptor: Int32, path: String) { (self.descriptor, self.path) = (descriptor, path) }

    deinit { close(descriptor) }

    /// Fills memory with the bytes from `position` on.
    ///
    /// Throws ``BlobError/failure(_:)`` when the file cannot be read or ends before.
    public func read(at position: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
        try fill(buffer, descriptor, path, position)
    }

    /// Tells the system that bytes will be read soon, so that it begins to load them from the disk.
    public func prefetch(_ range: Range<Int>) {
        // A length of 0 would mean everything from there on.
        guard !range.isEmpty else { return }
        // It is advice, whose failure does not matter.
        _ = posix_fadvise(descriptor, range.lowerBound, range.count, POSIX_FADV_WILLNEED)
    }
}

/// A file with the bytes of a blob, for a limited time.
public struct LocalBlob: Sendable {
    /// The path of the file.
    public let path: String
    /// Tells the store that the file is not needed any more; called once.
    public let release: @Sendable () -> Void

    /// Creates a local blob.
    public init(path: String, release: @escaping @Sendable () -> Void) {
        self.path = path
        self.release = release
    }
}

/// An upload into a store.
///
/// One that is released without ``finish(expecting:)`` leaves nothing behind.
public protocol BlobUpload: Sendable {
    /// Appends bytes.
    func append(_ bytes: [UInt8]) async throws

    /// Stores the appended bytes, which survive crashes of the machine once this returns.
    ///
    /// - Parameter expected: the hash that the bytes must have; `nil` for any.
    /// - Returns: the digest and the number of bytes.
    /// - Throws: ``BlobError/wrongDigest(expected:found:)`` for another hash, or an error of the store; nothing is
    ///   stored then.
    func finish(expecting expected: BlobDigest?) async throws -> (digest: BlobDigest, byteCount: Int)

    /// Discards the appended bytes.
    func cancel() async
}

/// The name of a blob: the SHA-256 of its bytes.
public struct BlobDigest: Hashable, Sendable, CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public let description: String

    /// Creates a digest from 64 lower-case hexadecimal digits; `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 64, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        description = text
    }

    /// Creates a digest from a hash of 32 bytes.
    public init(hash: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        description = String(decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        precondition(description.utf8.count == 64)
    }
}

/// An error of a store of blobs.
public enum BlobError: Error, Sendable, CustomStringConvertible {
    /// There is no blob with this digest.
    case missing(BlobDigest)
    /// The bytes that arrived have another hash than expected.
    case wrongDigest(expected: BlobDigest, found: BlobDigest)
    /// The store cannot be read or written, for the reason given.
    case failure(String)

    /// The error message.
    public var description: String {
        switch self {
        case .missing(let digest): "There is no file sha256:\(digest)."
        case .wrongDigest(let expected, let found):
            "The bytes that arrived have the hash \(found), not \(expected): send the file again."
        case .failure(let what): "The files cannot be stored or read: \(what)."
        }
    }
}
