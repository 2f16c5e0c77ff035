import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How often addresses may ask; a bucket that fills by itself and that each request takes one from.
struct RequestRate: Sendable {
    /// Per second.
    let rate: Double
    /// The most at once.
    let burst: Double

    /// What devices ask at each check.
    static let policy = RequestRate(rate: 1, burst: 120)
    static let signIn = RequestRate(rate: 5.0 / 60, burst: 5)
}

/// Token buckets of addresses, in memory and within bounds.
final class TokenBuckets: Sendable {
    private struct Bucket {
        var tokens: Double
        var time: Double
    }

    /// More addresses than this at once share one bucket.
    private static let most = 100_000
    private let rate: RequestRate
    private let state = Mutex<[String: Bucket]>([:])

    init(_ rate: RequestRate) { self.rate = rate }

    /// Takes one from the bucket of an address.
    /// - Parameter now: in seconds, from any beginning.
    /// - Returns: `nil`, or the seconds after which there is one again.
    func take(_ address: String, at now: Double) -> Int? {
        state.withLock { buckets in
            if buckets.count >= Self.most, buckets[address] == nil {
                buckets = buckets.filter { $0.value.tokens + (now - $0.value.time) * rate.rate < rate.burst }
            }
            let name = buckets.count >= Self.most && buckets[address] == nil ? "" : address
            var bucket = buckets[name] ?? Bucket(tokens: rate.burst, time: now)
            bucket.tokens = min(rate.burst, bucket.tokens + max(0, now - bucket.time) * rate.rate)
            bucket.time = now
            defer { buckets[name] = bucket }
            guard bucket.tokens >= 1 else { return max(1, Int(((1 - bucket.tokens) / rate.rate).rounded(.up))) }
            bucket.tokens -= 1
            return nil
        }
    }
}

/// Refuses addresses that ask too often for what is open to all.
///
/// Addresses of the machine itself are not limited: a proxy on it would be all clients at once.  It is named by
/// `--trusted-proxy`, and then the clients' own addresses count.
struct RateLimits: RouterMiddleware {
    let now: @Sendable () -> Double
    private let policies = TokenBuckets(.policy)
    private let reports = TokenBuckets(.policy)
    private let signIns = TokenBuckets(.signIn)

    init(now: @escaping @Sendable () -> Double = RateLimits.uptime) { self.now = now }

    private static let start = ContinuousClock.now

    @Sendable static func uptime() -> Double { start.duration(to: .now) / .seconds(1) }

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let seconds = secondsToWait(request.method, request.uri.path, address: context.limitedAddress) {
            throw ServiceError(.rateLimited, "Too many requests: come again in \(seconds) s.", retryAfter: seconds)
        }
        return try await next(request, context)
    }

    /// Takes one from the bucket that a request falls into.
    /// - Parameter address: whose bucket it is; nothing is taken for `nil`.
    /// - Returns: `nil`, or the seconds after which there is one again.
    func secondsToWait(_ method: HTTPRequest.Method, _ path: String, address: String?) -> Int? {
        address.flatMap { buckets(method, RequestPath(path))?.take($0, at: now()) }
    }

    private func buckets(_ method: HTTPRequest.Method, _ path: RequestPath) -> TokenBuckets? {
        switch method {
        case .get: return path.isOfApps ? policies : nil
        case .post where path.isOfApps: return reports
        case .post: return path.isSignIn ? signIns : nil
        default: return nil
        }
    }
}

/// The path of a request, as routes are found by it: slashes more or fewer make no other route.
struct RequestPath {
    private static let signIns: [[Substring]] = [
        ["sign-in"], ["api", "v1", "sessions"], ["api", "v1", "oidc", "token"],
    ]

    private let path: String

    init(_ path: String) { self.path = path }

    private var parts: [Substring] { path.split(separator: "/", maxSplits: 4) }

    /// Whether a device asks for what is open to all.
    var isOfApps: Bool { path.hasPrefix("/v1/apps/") || parts.starts(with: ["v1", "apps"]) }

    /// Whether somebody who sends this proves who they are.
    var isSignIn: Bool { Self.signIns.contains(parts) }
}

// MARK: Addresses

/// The machines whose word on where a request came from is taken.
public struct TrustedProxies: Sendable {
    /// A network: the first bits of addresses.
    private struct Network: Sendable {
        let bytes: [UInt8]
        let bits: Int

        func contains(_ address: [UInt8]) -> Bool {
            guard address.count == bytes.count else { return false }
            return (0..<bits).allSatisfy { bit in
                (address[bit / 8] ^ bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }

    private let networks: [Network]
    var isEmpty: Bool { networks.isEmpty }

    /// - Parameter texts: addresses and networks, such as `10.0.0.7` and `fd00::/8`.
    /// - Throws: `ServiceError` for a text that is neither.
    public init(_ texts: [String]) throws {
        networks = try texts.map { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let bytes = IPAddress.bytes(String(parts[0])), parts.count <= 2,
                let bits = parts.count == 2 ? Int(parts[1]) : bytes.count * 8, (0...bytes.count * 8).contains(bits)
            else {
                throw ServiceError(.invalid, "\"\(text)\" is no address or network.", field: "trusted-proxy")
            }
            return Network(bytes: bytes, bits: bits)
        }
    }

    func contains(_ address: String) -> Bool {
        guard let bytes = IPAddress.bytes(address) else { return false }
        return networks.contains { $0.contains(bytes) }
    }

    /// Where a request came from: what proxies that are trusted say, one after the other from the last, else who sent it.
    /// - Parameter forwarded: the values of `X-Forwarded-For`.
    func client(of peer: String, _ forwarded: [String]) -> String {
        var address = peer
        for text in forwarded.flatMap({ $0.split(separator: ",") }).reversed() {
            guard contains(address) else { break }
            let next = text.trimmingCharacters(in: .whitespaces)
            guard IPAddress.bytes(next) != nil else { break }
            address = next
        }
        return address
    }
}

/// Addresses of the Internet Protocol.
enum IPAddress {
    /// The four or sixteen bytes of an address; those of IPv4 also when they are written as IPv6.
    static func bytes(_ text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var sixteen = in6_addr()
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &sixteen) { Array($0) }
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? Array(bytes.suffix(4)) : bytes
    }

    static func isLoopback(_ bytes: [UInt8]) -> Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// What limits count: an address of IPv4, and of IPv6 the network of 64 bits, which one client has whole.
    /// - Returns: `nil` for the machine itself.
    static func limited(_ text: String) -> String? {
        guard let bytes = bytes(text), !isLoopback(bytes) else { return nil }
        return bytes.prefix(bytes.count == 4 ? 4 : 8).map { String($0) }.joined(separator: ".")
    }
}

/// Finds out where requests came from when they came through proxies.
struct ForwardedAddress: RouterMiddleware {
    let proxies: TrustedProxies

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard !proxies.isEmpty, let name = HTTPField.Name("X-Forwarded-For") else {
            return try await next(request, context)
        }
        var context = context
        context.remoteAddress = proxies.client(of: context.remoteAddress, request.headers[values: name])
        return try await next(request, context)
    }
}

extension Context {
    /// The address by which requests are limited; `nil` for those that are not.
    var limitedAddress: String? { IPAddress.limited(remoteAddress) }
}
