import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// The memory that the bodies of all requests in hand may take.
package final class BodyBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    init(limit: Int) { self.limit = limit }

    /// The bytes in use.
    package var inUse: Int { used.withLock { $0 } }

    func reserve(_ count: Int) -> Bool {
        used.withLock { used in
            guard count <= limit - used else { return false }
            used += count
            return true
        }
    }

    func release(_ count: Int) { used.withLock { $0 -= count } }
}

/// The part of the budget that a request uses; it is returned with the last reference.
package final class BodyReservation: Sendable {
    private let budget: BodyBudget
    private let reserved = Mutex(0)

    package init(_ budget: BodyBudget) { self.budget = budget }

    deinit { budget.release(reserved.withLock { $0 }) }

    /// Raises the share to a number of bytes.
    ///
    /// - Throws: `ServingError` 503 when others use the rest.
    package func grow(to count: Int) throws {
        try reserved.withLock { reserved in
            guard count > reserved else { return }
            guard budget.reserve(count - reserved) else {
                throw ServingError.busy("Too many large requests are being processed: try again later.")
            }
            reserved = count
        }
    }
}

extension Request {
    /// The whole body.
    ///
    /// - Parameters:
    ///   - limit: the most bytes.
    ///   - share: what the body takes of the budget.
    /// - Returns: the bytes.
    /// - Throws: `ServingError`: 413 when it is larger, 415 when it is compressed, 503 when there is no room.
    func collectBody(limit: Int, share: BodyReservation) async throws -> ByteBuffer {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw ServingError(415, "The body has the encoding \"\(encoding)\": send it uncompressed.")
        }
        let tooLarge = ServingError(413, "The body is larger than \(limit) bytes, the limit of this server.")
        let announced = headers[.contentLength].flatMap { Int($0) } ?? 0
        guard announced <= limit else { throw tooLarge }
        try share.grow(to: announced)
        var whole = ByteBuffer()
        for try await part in body {
            let count = whole.readableBytes + part.readableBytes
            guard count <= limit else { throw tooLarge }
            // A buffer that grows doubles.
            try share.grow(to: announced > 0 ? max(announced, count) : 2 * count)
            if whole.readableBytes == 0 { whole.reserveCapacity(announced) }
            whole.writeImmutableBuffer(part)
        }
        return whole
    }
}
