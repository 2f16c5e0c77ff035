import Glibc

/// A server's response, with the fields that devices use here.
struct Answer {
    let status: Int
    let retryAfter: Int?
    let tag: String?
}

/// A connection that is kept, with at most one request on it.
final class Connection {
    private(set) var socket: Int32
    private let port: UInt16
    /// The received part of the response.
    private var bytes: [UInt8] = []

    /// The connection's user, its current request, and the start time.
    var check: Check?
    var asked = 0

    init(port: UInt16) throws {
        self.port = port
        socket = try Self.open(port)
    }

    private static func open(_ port: UInt16) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw WireError("no socket: \(message())") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(socket)
            throw WireError("the server does not take connections: \(message())")
        }
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return socket
    }

    static func message() -> String { String(cString: strerror(errno)) }

    func reconnect() throws {
        close(socket)
        bytes.removeAll(keepingCapacity: true)
        socket = try Self.open(port)
    }

    /// - Returns: whether the request is on its way.
    func send(_ request: [UInt8]) -> Bool {
        request.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            == request.count
    }

    /// Takes what has arrived.
    /// - Returns: the answer, when it is whole.
    /// - Throws: when the server closed the connection, or answered what is no answer.
    func receive(into scratch: UnsafeMutableRawBufferPointer) throws -> Answer? {
        let count = recv(socket, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0 else {
            throw WireError(count == 0 ? "the server closed a connection" : Self.message())
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        guard let end = headEnd() else { return nil }
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "), let status = Int(first.dropFirst(9).prefix(3))
        else { throw WireError("the server answered \(head.prefix(80))") }
        var (length, retryAfter, tag) = (0, Int?.none, String?.none)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            switch line[..<colon].lowercased() {
            case "content-length": length = Int(value) ?? 0
            case "retry-after": retryAfter = Int(value)
            case "etag": tag = String(value)
            default: break
            }
        }
        if status == 204 || status == 304 { length = 0 }
        guard bytes.count >= end + length else { return nil }
        guard bytes.count == end + length else { throw WireError("the server answered more than was asked") }
        bytes.removeAll(keepingCapacity: true)
        return Answer(status: status, retryAfter: retryAfter, tag: tag)
    }

    /// The offset of the body.
    private func headEnd() -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 0...bytes.count - 4
        where bytes[index] == 13 && bytes[index + 1] == 10 && bytes[index + 2] == 13 && bytes[index + 3] == 10 {
            return index + 4
        }
        return nil
    }

    deinit { close(socket) }
}

/// A device's check, from the moment at which it wanted it.
struct Check {
    let device: UInt32
    /// In microseconds since the beginning.
    let wanted: Int
    /// How many of its steps are done.
    var step = 0
}

struct WireError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
