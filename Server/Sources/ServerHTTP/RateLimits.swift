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

/// The rate at which an address may send requests, as a token bucket.
struct RequestRate: Sendable {
    /// The number of tokens that are added per second.
    let rate: Double
    /// The largest number of tokens.
    let burst: Double

    /// The rate of the requests that devices send at each check.
    static let policy = RequestRate(rate: 1, burst: 120)
    static let signIn = RequestRate(rate: 5.0 / 60, burst: 5)
}

/// Token buckets of addresses, in memory of bounded size.
final class TokenBuckets: Sendable {
    private struct Bucket {
        var tokens: Double
        var time: Double
    }

    /// The number of addresses beyond which further ones share one bucket.
    private static let maximumEntryCount = 100_000
    private let rate: RequestRate
    private let state = Mutex<[String: Bucket]>([:])

    init(_ rate: RequestRate) { self.rate = rate }

    /// Takes a token from the bucket of an address; `nil` for success, else the seconds until there is one again.
    ///
    /// `now` is in seconds from any origin.
    func take(_ address: String, at now: Double) -> Int? {
        state.withLock { buckets in
            if buckets.count >= Self.maximumEntryCount, buckets[address] == nil {
                buckets = buckets.filter { $0.value.tokens + (now - $0.value.time) * rate.rate < rate.burst }
            }
            let name = buckets.count >= Self.maximumEntryCount && buckets[address] == nil ? "" : address
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

/// Refuses addresses that send too many requests for public resources.
///
/// Addresses of the machine itself are not limited: a proxy on it would be all clients at once. It is named by
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
            throw ServiceError(.rateLimited, "Too many requests: try again in \(seconds) s.", retryAfter: seconds)
        }
        return try await next(request, context)
    }

    /// Takes a token from the bucket for a request; `nil` for success, else the seconds until there is one again.
    ///
    /// Nothing is taken where `address` is `nil`.
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

/// The path of a request as routes see it: additional or missing slashes make no difference.
struct RequestPath {
    private static let signIns: [[Substring]] = [
        ["sign-in"], ["api", "v1", "sessions"], ["api", "v1", "oidc", "token"],
    ]

    private let path: String

    init(_ path: String) { self.path = path }

    private var parts: [Substring] { path.split(separator: "/", maxSplits: 4) }

    /// Whether it is a public resource for devices.
    var isOfApps: Bool { path.hasPrefix("/v1/apps/") || parts.starts(with: ["v1", "apps"]) }

    /// Whether such a request proves an identity.
    var isSignIn: Bool { Self.signIns.contains(parts) }
}

// MARK: Addresses

/// The machines whose statements about the origin of requests are trusted.
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

    /// Reads addresses and networks, such as `10.0.0.7` and `fd00::/8`.
    ///
    /// Throws a `ServiceError` for any other text.
    public init(_ texts: [String]) throws {
        networks = try texts.map { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let bytes = IPAddress.bytes(String(parts[0])), parts.count <= 2,
                let bits = parts.count == 2 ? Int(parts[1]) : bytes.count * 8, (0...bytes.count * 8).contains(bits)
            else {
                throw ServiceError(.invalid, "\"\(text)\" is not an address or network.", field: "trusted-proxy")
            }
            return Network(bytes: bytes, bits: bits)
        }
    }

    func contains(_ address: String) -> Bool {
        guard let bytes = IPAddress.bytes(address) else { return false }
        return networks.contains { $0.contains(bytes) }
    }

    /// The origin of a request: the statements of trusted proxies are followed from the last one back.
    ///
    /// `forwarded` has the values of `X-Forwarded-For`. Without trusted statements it is `peer`, who sent the request.
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
    /// The four or sixteen bytes of an address; four also for an IPv4 address written as IPv6.
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

    /// The unit that is limited: an IPv4 address, or the 64-bit network of an IPv6 address, all of which one client
    /// has.
    ///
    /// `nil` for the machine itself.
    static func limited(_ text: String) -> String? {
        guard let bytes = bytes(text), !isLoopback(bytes) else { return nil }
        return bytes.prefix(bytes.count == 4 ? 4 : 8).map { String($0) }.joined(separator: ".")
    }
}

/// Determines the origin of requests that came through proxies.
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
    /// The address that requests are limited by; `nil` for those that are not limited.
    var limitedAddress: String? { IPAddress.limited(remoteAddress) }
}
