import Crypto
import Foundation
import Synchronization

/// Local copies of blobs of a remote storage: those in use, and the most recently used others.
final class LocalCopies: Sendable {
    private struct Copy {
        let path: String
        let byteCount: Int
        var uses: Int
        var last: Int
    }

    private struct State {
        var copies: [BlobDigest: Copy] = [:]
        var clock = 0
        var number = 0
    }

    /// The largest total size of copies that are not in use.
    private static let limit = 1 << 30

    private let folder: String
    private let state = Mutex(State())

    /// Opens a folder, which is created when it does not exist and emptied otherwise.
    init(folder: String) throws {
        self.folder = folder
        try makeFolder(folder)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }

    func newPath() -> String {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return "\(folder)/\(number)"
    }

    func take(_ digest: BlobDigest) -> LocalBlob? {
        state.withLock { state in
            state.clock += 1
            state.copies[digest]?.uses += 1
            state.copies[digest]?.last = state.clock
            return state.copies[digest].map { copy in blob(digest, copy.path) }
        }
    }

    /// Adds a file, which the copies own from now on.
    func add(_ digest: BlobDigest, _ path: String) -> LocalBlob {
        var status = stat()
        let byteCount = stat(path, &status) == 0 ? Int(status.st_size) : 0
        return state.withLock { state in
            state.clock += 1
            if let known = state.copies[digest] {
                unlink(path)
                state.copies[digest]?.uses += 1
                state.copies[digest]?.last = state.clock
                return blob(digest, known.path)
            }
            state.copies[digest] = Copy(path: path, byteCount: byteCount, uses: 1, last: state.clock)
            return blob(digest, path)
        }
    }

    func remove(_ digest: BlobDigest) {
        state.withLock { state in
            guard let copy = state.copies[digest], copy.uses == 0 else { return }
            unlink(copy.path)
            state.copies[digest] = nil
        }
    }

    private func blob(_ digest: BlobDigest, _ path: String) -> LocalBlob {
        LocalBlob(path: path) { [weak self] in self?.release(digest) }
    }

    private func release(_ digest: BlobDigest) {
        state.withLock { state in
            state.copies[digest]?.uses -= 1
            let unused = state.copies.filter { $0.value.uses == 0 }.sorted { $0.value.last > $1.value.last }
            var sum = 0
            for (digest, copy) in unused {
                sum += copy.byteCount
                guard sum > Self.limit else { continue }
                unlink(copy.path)
                state.copies[digest] = nil
            }
        }
    }
}
