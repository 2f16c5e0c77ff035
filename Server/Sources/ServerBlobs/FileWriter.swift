import Crypto
import Foundation
import Synchronization

/// A new file that is hashed while it is written, and removed unless it is kept.
final class FileWriter: Sendable {
    private struct State {
        var file: Int32?
        var hash = SHA256()
        var byteCount = 0
    }

    private let path: String
    private let state: Mutex<State>

    init(path: String) throws {
        self.path = path
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("write", path) }
        state = Mutex(State(file: file))
    }

    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The hash of the bytes written so far.
    func digest() -> BlobDigest {
        state.withLock { state in
            let hash = state.hash
            return BlobDigest(hash: hash.finalize())
        }
    }

    func append(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            guard let file = state.file else { preconditionFailure("the upload has ended") }
            state.hash.update(data: bytes)
            state.byteCount += bytes.count
            try bytes.withUnsafeBytes { buffer in
                var written = 0
                while written < buffer.count {
                    let count = write(file, buffer.baseAddress! + written, buffer.count - written)
                    guard count >= 0 || errno == EINTR else { throw failure("write", path) }
                    written += max(count, 0)
                }
            }
        }
    }

    /// Ends writing; the file then belongs to the caller.
    func close() throws -> String {
        try end { file in
            guard Glibc.close(file) == 0 else { throw failure("write", path) }
        }
        return path
    }

    /// Ends writing and renames the file, which survives crashes of the machine once this returns.
    func move(to place: String) throws {
        try end { file in
            guard fsync(file) == 0 else { throw failure("write", path) }
            Glibc.close(file)
        }
        guard rename(path, place) == 0 else { throw failure("write", place) }
        try synchronizeFolder((place as NSString).deletingLastPathComponent)
    }

    private func end(_ body: (Int32) throws -> Void) throws {
        try state.withLock { state in
            guard let file = state.file else { preconditionFailure("the upload has ended") }
            try body(file)
            state.file = nil
        }
    }

    func discard() {
        state.withLock { state in
            guard let file = state.file else { return }
            Glibc.close(file)
            unlink(path)
            state.file = nil
        }
    }

    deinit { discard() }
}

/// Some bytes of a file.
func readFile(_ path: String, _ range: Range<Int>) throws -> Data {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("read", path) }
    defer { close(file) }
    return Data(try readBytes(file, path, range))
}

/// Some bytes of an open file.
func readBytes(_ file: Int32, _ path: String, _ range: Range<Int>) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
        let all = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count])
        try fill(all, file, path, range.lowerBound)
        count = range.count
    }
}

/// Fills memory with the bytes of an open file from a position on.
func fill(_ buffer: UnsafeMutableRawBufferPointer, _ file: Int32, _ path: String, _ start: Int) throws {
    var rest = buffer[...]
    while !rest.isEmpty {
        let position = start + buffer.count - rest.count
        let part = UnsafeMutableRawBufferPointer(rebasing: rest)
        let count = pread(file, part.baseAddress, part.count, position)
        guard count > 0 else {
            if count < 0, errno == EINTR { continue }
            throw count == 0
                ? BlobError.failure("\(path) ends before its byte \(start + buffer.count)") : failure("read", path)
        }
        rest = rest.dropFirst(count)
    }
}
