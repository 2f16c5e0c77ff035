import Foundation
import Testing

/// A connection that sends bytes as they are, and shows what comes back. It waits on threads of its own, so that those
/// of the server stay free.
final class RawConnection: Sendable {
    private let socket: Int32
    private let sending = DispatchQueue(label: "sending")
    private let receiving = DispatchQueue(label: "receiving")

    /// - Parameter keptByteCount: how much the system keeps of what arrives until it is taken; `nil` for as much as it
    ///   likes.
    init(port: Int, keptByteCount: Int32? = nil) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var keptByteCount {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &keptByteCount, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    private func run<R: Sendable>(_ queue: DispatchQueue, _ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }

    func send(_ text: String) async throws {
        let isSent = await offer(text)
        try #require(isSent)
    }

    /// Sends what the server may not take any more; returns whether it was sent.
    @discardableResult
    func offer(_ text: String) async -> Bool {
        await run(sending) { [socket] in
            let bytes = Array(text.utf8)
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    /// Received bytes until they suffice, the server closes the connection, or two minutes are over.
    func receive<State: Sendable>(
        _ state: State,
        until isEnough: @escaping @Sendable (inout State, ArraySlice<UInt8>) -> Bool = { _, _ in false }
    ) async -> State {
        await run(receiving) { [socket] in
            var (state, buffer) = (state, [UInt8](repeating: 0, count: 1 << 16))
            while true {
                let count = recv(socket, &buffer, buffer.count, 0)
                if count <= 0 || isEnough(&state, buffer[..<count]) { return state }
            }
        }
    }

    /// An answer: its head by lines without the date, and its body.
    struct Answer: Equatable, Sendable {
        let head: [String]
        let body: [UInt8]
        var status: Int { Int(head[0].dropFirst(9).prefix(3)) ?? 0 }
        func header(_ name: String) -> String? {
            head.first { $0.lowercased().hasPrefix(name + ":") }.map {
                String($0.dropFirst(name.count + 1)).trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// Sends requests in one go and takes as many answers.
    func ask(_ requests: [String]) async throws -> [Answer] {
        try await send(requests.joined())
        return try await answers(requests.count)
    }

    func ask(_ request: String) async throws -> Answer { try await ask([request])[0] }

    func answers(_ count: Int) async throws -> [Answer] {
        let bytes = await receive([UInt8]()) { all, new in
            all += new
            return Self.answers(in: all).count >= count
        }
        let found = Self.answers(in: bytes)
        try #require(found.count == count, "\(String(decoding: bytes.prefix(500), as: UTF8.self))")
        return found
    }

    private static func answers(in bytes: [UInt8]) -> [Answer] {
        var (rest, found) = (bytes[...], [Answer]())
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n").map(
                String.init
            )
            let head = Answer(head: lines.filter { !$0.lowercased().hasPrefix("date:") }, body: [])
            let length = [204, 304].contains(head.status) ? 0 : Int(head.header("content-length") ?? "") ?? 0
            guard rest.distance(from: end.upperBound, to: rest.endIndex) >= length else { break }
            found.append(Answer(head: head.head, body: Array(rest[end.upperBound...].prefix(length))))
            rest = rest[end.upperBound...].dropFirst(length)
        }
        return found
    }

    deinit { close(socket) }
}
