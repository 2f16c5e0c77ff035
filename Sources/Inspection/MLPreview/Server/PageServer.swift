import Glibc
package import MLNumerics
import Synchronization

/// A small HTTP server for one page on the loopback interface.
///
/// Each connection has a thread, because responses are computed rather than waited for. Connections, heads, bodies and
/// times are limited before anything is known about the client; bodies are only read from clients with the token.
package final class PageServer: Sendable {
    package struct Limits: Sendable {
        package var connections = 64
        /// The time limit for a request's head, in seconds.
        package var headSeconds = 10.0
        /// The maximum size of a body in bytes.
        package var bodyBytes = 256 << 20
        /// The maximum size of all bodies at a time in bytes.
        package var allBodyBytes = 768 << 20
        /// The time limit for a body in seconds, and one more second for each so many bytes.
        package var bodySeconds = 30.0
        package var bytesPerSecond = 1 << 18

        package init() {}
    }

    /// A response.
    package enum Answer: Sendable {
        case response(PageResponse)
        /// Events that the closure sends, one after the other.
        case events(@Sendable (PageEvents) -> Void)
    }

    package typealias Handler = @Sendable (PageRequest, [UInt8], PageConnection) -> Answer

    package let access: PageAccess
    private let listener: Int32
    private let limits: Limits
    private let load = Mutex((open: [ObjectIdentifier: PageConnection](), bodyBytes: 0))

    /// Listens on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - port: 0 for any free port.
    ///   - limits: The limits of requests and connections.
    /// - Throws: `.io` when the port cannot be opened.
    package init(port: UInt16 = 0, limits: Limits = Limits()) throws(ModelError) {
        self.limits = limits
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw Self.failure("cannot open a socket") }
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        guard bound else {
            let error = Self.failure("cannot listen on port \(port) of 127.0.0.1")
            close(listener)
            throw error
        }
        access = PageAccess(port: UInt16(bigEndian: address.sin_port))
    }

    deinit { close(listener) }

    private static func failure(_ detail: String) -> ModelError {
        ModelError(.io, "The server \(detail): \(String(cString: strerror(errno))).")
    }

    /// Serves requests until `isOver` returns true, which is called several times a second; then waits a moment for
    /// responses in progress.
    package func run(until isOver: () -> Bool, _ handler: @escaping Handler) {
        while !isOver() {
            var place = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            let isAsked = poll(&place, 1, 50) > 0
            for connection in load.withLock({ Array($0.open.values) }) { connection.lookAfter() }
            guard isAsked else { continue }
            let client = accept(listener, nil, nil)
            guard client >= 0 else {
                // Out of file descriptors: wait until some are free.
                if errno == EMFILE || errno == ENFILE { usleep(50_000) }
                continue
            }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            admit(client, handler)
        }
        for _ in 0..<40 where load.withLock({ !$0.open.isEmpty }) { usleep(50_000) }
    }

    private func admit(_ client: Int32, _ handler: @escaping Handler) {
        var yes: Int32 = 1
        setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        let connection = PageConnection(client)
        let isAdmitted = load.withLock { load in
            guard load.open.count < limits.connections else { return false }
            load.open[ObjectIdentifier(connection)] = connection
            return true
        }
        guard isAdmitted else {
            let response = PageResponse(503, text: "Too many connections; try again.")
            connection.send(response.head(length: response.body.count) + response.body, seconds: 0.1)
            close(client)
            return
        }
        let started = Self.detach { [self] in
            serve(connection, handler)
            connection.close()
            load.withLock { $0.open[ObjectIdentifier(connection)] = nil }
        }
        if !started {
            connection.close()
            load.withLock { $0.open[ObjectIdentifier(connection)] = nil }
        }
    }

    private func serve(_ connection: PageConnection, _ handler: Handler) {
        do {
            let (head, remaining) = try connection.head(seconds: limits.headSeconds)
            let request = try PageRequest(head: head)
            try access.check(request)
            let length = request.contentLength
            try reserve(length)
            defer { load.withLock { $0.bodyBytes -= length } }
            let seconds = limits.bodySeconds + Double(length) / Double(limits.bytesPerSecond)
            let body = try connection.body(remaining, length: length, seconds: seconds)
            switch handler(request, body, connection) {
            case .response(var response):
                if request.path == "/" { response.headers.append(("Set-Cookie", access.cookie)) }
                connection.send(response.head(length: response.body.count))
                connection.send(response.body)
            case .events(let produce):
                connection.send(PageResponse(type: "text/event-stream; charset=utf-8", []).head(length: nil))
                produce(PageEvents(connection: connection))
            }
        } catch let refusal {
            let response = PageResponse(refusal.status, text: refusal.reason)
            connection.send(response.head(length: response.body.count) + response.body, seconds: 2)
        }
    }

    private func reserve(_ length: Int) throws(PageRequest.Refusal) {
        guard length <= limits.bodyBytes else {
            throw PageRequest.Refusal(413, "The body is too large; at most \(limits.bodyBytes >> 20) MB are taken.")
        }
        let isReserved = load.withLock { load in
            guard load.bodyBytes + length <= limits.allBodyBytes else { return false }
            load.bodyBytes += length
            return true
        }
        guard isReserved else {
            throw PageRequest.Refusal(503, "Too much data is being sent at the same time; try again.")
        }
    }

    /// Runs `body` on a new thread.
    ///
    /// - Returns: Whether the thread could be created.
    private static func detach(_ body: @escaping @Sendable () -> Void) -> Bool {
        final class Work {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 8 << 20)
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            &attributes,
            { pointer in
                if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
                return nil
            },
            work.toOpaque()
        )
        if status != 0 { work.release() }
        return status == 0
    }
}
