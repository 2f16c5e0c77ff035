import Glibc
import Synchronization

/// One request and its response.
///
/// A connection serves one request: none can be smuggled in the body of another, and a client that disconnects is
/// noticed.
package final class PageConnection: Sendable {
    private let socket: Int32
    private let watch = Mutex<(isOver: Bool, whenAbandoned: (@Sendable () -> Void)?)>((false, nil))
    /// Linux's POLLRDHUP, which Swift's Glibc hides: the peer has shut down writing.
    private static let hungUp: Int16 = 0x2000

    init(_ socket: Int32) { self.socket = socket }

    /// Whether the client closed its side: nobody waits for the response.
    package var isAbandoned: Bool {
        var place = pollfd(fd: socket, events: Self.hungUp, revents: 0)
        guard poll(&place, 1, 0) > 0 else { return false }
        return place.revents & (Self.hungUp | Int16(POLLHUP) | Int16(POLLERR)) != 0
    }

    /// Runs `body`; if the client disconnects meanwhile, `cancel` is called once, on another thread.
    package func watching<R>(_ cancel: @escaping @Sendable () -> Void, _ body: () throws -> R) rethrows -> R {
        watch.withLock { $0.whenAbandoned = cancel }
        defer { watch.withLock { $0.whenAbandoned = nil } }
        return try body()
    }

    /// Notifies the watcher if the client has disconnected.
    func lookAfter() {
        let cancel = watch.withLock { watch -> (@Sendable () -> Void)? in
            guard !watch.isOver, let cancel = watch.whenAbandoned, isAbandoned else { return nil }
            watch.whenAbandoned = nil
            return cancel
        }
        cancel?()
    }

    /// Reads up to the empty line, and whatever follows in the buffer.
    ///
    /// - Throws: For heads that are too long or take longer than `seconds`.
    func head(seconds: Double) throws(PageRequest.Refusal) -> (head: [UInt8], rest: [UInt8]) {
        let end = Self.now + seconds
        var bytes: [UInt8] = []
        while true {
            let searched = max(bytes.count - 3, 0)
            guard try append(to: &bytes, atMost: 4096, until: end) else {
                throw PageRequest.Refusal(400, "The head is cut off.")
            }
            if let place = Self.emptyLine(in: bytes, from: searched) {
                return (Array(bytes[..<place]), Array(bytes[place...]))
            }
            guard bytes.count <= PageRequest.maximumHeadByteCount else {
                throw PageRequest.Refusal(431, "The head of the request is too long.")
            }
        }
    }

    /// Reads a body of a known length.
    func body(_ rest: [UInt8], length: Int, seconds: Double) throws(PageRequest.Refusal) -> [UInt8] {
        guard rest.count <= length else { throw PageRequest.Refusal(400, "The body is longer than its stated length.") }
        let end = Self.now + seconds
        var bytes = rest
        bytes.reserveCapacity(length)
        while bytes.count < length {
            guard try append(to: &bytes, atMost: min(length - bytes.count, 1 << 18), until: end) else {
                throw PageRequest.Refusal(400, "The body is cut off.")
            }
        }
        return bytes
    }

    /// - Returns: False when the client disconnected or accepts no data for `seconds`.
    @discardableResult func send(_ bytes: [UInt8], seconds: Double = 30) -> Bool {
        var end = Self.now + seconds
        return bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                guard let base = buffer.baseAddress, wait(Int16(POLLOUT), until: end) else { return false }
                let count = Glibc.send(
                    socket,
                    base + sent,
                    buffer.count - sent,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                )
                if count > 0 {
                    sent += count
                    end = Self.now + seconds
                } else if errno != EAGAIN && errno != EINTR {
                    return false
                }
            }
            return true
        }
    }

    /// Closes the connection so that the client still receives what was sent, even if it is still sending.
    func close() {
        shutdown(socket, Int32(SHUT_WR))
        var discarded = [UInt8](repeating: 0, count: 1 << 16)
        let end = Self.now + 1
        while wait(Int16(POLLIN), until: end) {
            guard recv(socket, &discarded, discarded.count, Int32(MSG_DONTWAIT)) > 0 else { break }
        }
        // From now on the descriptor may belong to another connection.
        watch.withLock { watch in
            watch.isOver = true
            Glibc.close(socket)
        }
    }

    /// - Returns: False at the end of the client's data.
    private func append(to bytes: inout [UInt8], atMost count: Int, until end: Double) throws(PageRequest.Refusal)
        -> Bool
    {
        guard wait(Int16(POLLIN), until: end) else { throw PageRequest.Refusal(408, "The request takes too long.") }
        var failed = false
        let part = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let received = recv(socket, buffer.baseAddress, count, Int32(MSG_DONTWAIT))
            failed = received < 0 && errno != EAGAIN && errno != EINTR
            initialized = max(received, 0)
            if received == 0 { failed = true }
        }
        bytes += part
        return !failed
    }

    private func wait(_ events: Int16, until end: Double) -> Bool {
        while true {
            let rest = end - Self.now
            guard rest > 0 else { return false }
            var place = pollfd(fd: socket, events: events, revents: 0)
            let count = poll(&place, 1, Int32(min(rest * 1000 + 1, 60_000)))
            if count > 0 { return true }
            guard count == 0 || errno == EINTR else { return false }
        }
    }

    private static func emptyLine(in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for place in start...(bytes.count - 4) where bytes[place] == 13 && bytes[place + 1] == 10 {
            if bytes[place + 2] == 13, bytes[place + 3] == 10 { return place + 4 }
        }
        return nil
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A response that is sent in parts: server-sent events.
package struct PageEvents: Sendable {
    let connection: PageConnection

    /// Sends an event of a stream of server-sent events.
    ///
    /// - Parameters:
    ///   - name: The type of the event.
    ///   - data: One line, such as JSON without line feeds.
    /// - Returns: `false` when the client has disconnected.
    @discardableResult package func send(_ name: String, _ data: String) -> Bool {
        guard !connection.isAbandoned else { return false }
        return connection.send(Array("event: \(name)\ndata: \(data)\n\n".utf8))
    }
}
