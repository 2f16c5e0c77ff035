import ServerBlobs
import Synchronization

/// Limits the number of simultaneous uploads of a team.
final class UploadSlots: Sendable {
    /// The largest number of uploads of a team at once.
    static let maximumCount = 4
    private let counts = Mutex<[String: Int]>([:])

    /// A place for one upload, which is free again when the value is released.
    final class Slot: Sendable {
        private let release: @Sendable () -> Void
        init(_ release: @escaping @Sendable () -> Void) { self.release = release }
        deinit { release() }
    }

    /// Takes a place; throws `rateLimited` when the team has none left.
    func slot(_ team: String) throws(ServiceError) -> Slot {
        let isFree = counts.withLock { counts in
            guard counts[team, default: 0] < Self.maximumCount else { return false }
            counts[team, default: 0] += 1
            return true
        }
        guard isFree else {
            throw ServiceError(
                .rateLimited,
                "The team \"\(team)\" uploads \(Self.maximumCount) files already: wait for one of them.",
                retryAfter: 10
            )
        }
        return Slot { [self] in
            counts.withLock { counts in
                counts[team, default: 1] -= 1
                if counts[team] == 0 { counts[team] = nil }
            }
        }
    }
}

/// An upload that occupies a place.
final class PlacedUpload: BlobUpload {
    private let upload: any BlobUpload
    private let slot: UploadSlots.Slot

    init(_ upload: any BlobUpload, _ slot: UploadSlots.Slot) { (self.upload, self.slot) = (upload, slot) }

    func append(_ bytes: [UInt8]) async throws { try await upload.append(bytes) }

    func finish(expecting expected: BlobDigest?) async throws -> (digest: BlobDigest, byteCount: Int) {
        try await upload.finish(expecting: expected)
    }

    func cancel() async { await upload.cancel() }
}
