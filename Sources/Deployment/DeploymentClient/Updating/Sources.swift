import Foundation
import Synchronization
import UpdateFramework

/// The addresses of a server, or equally of a static copy.
struct Addresses {
    let configuration: DeploymentConfiguration

    private func address(_ path: String) -> URL {
        let base = configuration.server.absoluteString
        return URL(string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + path) ?? configuration.server
    }

    var metadata: URL { address("/v1/trust/\(configuration.team)/metadata/") }
    var targets: URL { address("/v1/trust/\(configuration.team)/targets/") }

    func policy(_ collection: String) -> URL {
        address(
            "/v1/apps/\(configuration.app)/environments/\(configuration.environment)/collections/\(collection)/policy.json"
        )
    }

    func blob(_ hash: String) -> URL { address("/b/sha256/\(hash)") }
    func path(_ path: String) -> URL { address(path) }
}

extension TransportAnswer {
    /// The error of an unexpected answer.
    func error(_ url: URL) -> DeploymentError {
        let seconds = headers["retry-after"].flatMap { Int($0) }
        switch status {
        case 429, 503:
            return DeploymentError(
                .busy,
                url.absoluteString,
                "The server is overloaded; the request will be repeated later.",
                retryAfter: seconds
            )
        case 300..<400, 200..<300:
            return DeploymentError(
                .server,
                url.absoluteString,
                "Something other than the server answered (\(status)): a proxy, or a page to sign in to a network."
            )
        default:
            return DeploymentError(.server, url.absoluteString, "The server answered \(status).", retryAfter: seconds)
        }
    }
}

/// Signed metadata from a server.
struct MetadataSource: MetadataFetcher {
    let base: URL
    let transport: any Transport

    func fetch(_ path: String, limit: Int) async throws -> [UInt8]? {
        guard let url = URL(string: base.absoluteString + path) else {
            throw DeploymentError(.server, path, "This is not part of an address.")
        }
        let answer = try await transport.send(TransportRequest(url, limit: limit + 1))
        switch answer.status {
        case 200: return answer.body
        case 403, 404: return nil
        default: throw answer.error(url)
        }
    }
}

/// Files on a server by their hashes.
struct BlobSource {
    let addresses: Addresses
    let transport: any Transport

    /// The number of transfers that may end without progress before the rest is left to the next check.
    private static let maximumInterruptionCount = 4
    /// The least number of bytes that count as progress.
    private static let minimumProgress = 16 << 10

    /// Some bytes of a file.
    func bytes(_ hash: String, _ range: Range<Int>) async throws(DeploymentError) -> [UInt8] {
        let collected = Mutex<[UInt8]>([])
        try await stream(hash, range) { (bytes) throws(DeploymentError) in collected.withLock { $0 += bytes } }
        return collected.withLock { $0 }
    }

    /// Some bytes of a file, in as many requests as interrupted transfers need; `receive` gets them in order.
    func stream(
        _ hash: String,
        _ range: Range<Int>,
        receive: @escaping @Sendable ([UInt8]) throws(DeploymentError) -> Void
    ) async throws(DeploymentError) {
        let transfer = RangeTransfer(url: addresses.blob(hash), range: range, receive: receive)
        var stops = 0
        while transfer.arrived < range.count {
            let (before, start) = (transfer.arrived, ContinuousClock.now)
            do throws(DeploymentError) { try await transfer.run(transport) } catch {
                let isStop = transfer.arrived - before < Self.minimumProgress
                stops = isStop ? stops + 1 : 0
                let isSlow = isStop && ContinuousClock.now - start > PersistentTransport.patience
                guard error.code == .offline, transfer.arrived > before, stops < Self.maximumInterruptionCount, !isSlow,
                    !Task.isCancelled
                else { throw error }
            }
        }
    }

    /// A whole small file, which must have this hash.
    func file(_ hash: String, byteCount: Int) async throws(DeploymentError) -> [UInt8] {
        let url = addresses.blob(hash)
        let answer = try await transport.send(TransportRequest(url, limit: byteCount))
        switch answer.status {
        case 200:
            guard answer.body.count == byteCount, Hashes.text(answer.body) == hash else {
                throw DeploymentError(
                    .damaged,
                    url.absoluteString,
                    "The received bytes are not those that were signed."
                )
            }
            return answer.body
        case 404: throw DeploymentError(.releaseMissing, url.absoluteString, "The server does not have the file.")
        default: throw answer.error(url)
        }
    }
}

/// Transfers some bytes of a file; running it again continues where it stopped.
private final class RangeTransfer: Sendable {
    private let url: URL
    private let range: Range<Int>
    private let receive: @Sendable ([UInt8]) throws(DeploymentError) -> Void
    private let count = Atomic<Int>(0)

    init(url: URL, range: Range<Int>, receive: @escaping @Sendable ([UInt8]) throws(DeploymentError) -> Void) {
        self.url = url
        self.range = range
        self.receive = receive
    }

    /// The number of bytes that have arrived.
    var arrived: Int { count.load(ordering: .acquiring) }

    func run(_ transport: any Transport) async throws(DeploymentError) {
        let wanted = range.lowerBound + arrived..<range.upperBound
        var request = TransportRequest(url, limit: wanted.count)
        request.headers["Range"] = "bytes=\(wanted.lowerBound)-\(wanted.upperBound - 1)"
        request.receive = { [self] (part) throws(DeploymentError) in
            try check(part.headers, wanted)
            try take(part.bytes)
        }
        let answer = try await transport.send(request)
        switch answer.status {
        case 206:
            try check(answer.headers, wanted)
            guard arrived == range.count else {
                throw damaged("The server sent \(arrived) bytes instead of the \(range.count) requested ones.")
            }
        case 200 where wanted == range && range.lowerBound == 0 && answer.body.count == range.count:
            try take(answer.body)
        case 200:
            throw DeploymentError(
                .server,
                url.absoluteString,
                "The server does not support parts of files (Range), which downloads need; or it is a page to sign in to a "
                    + "network that answers."
            )
        case 404: throw DeploymentError(.releaseMissing, url.absoluteString, "The server does not have the file.")
        default: throw answer.error(url)
        }
    }

    private func check(_ headers: [String: String], _ wanted: Range<Int>) throws(DeploymentError) {
        let place = headers["content-range"] ?? ""
        guard place.hasPrefix("bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/") else {
            throw damaged("The server sent other bytes (\(place)) than those requested.")
        }
    }

    private func take(_ bytes: [UInt8]) throws(DeploymentError) {
        guard bytes.count <= range.count - arrived else { throw damaged("The server sends more than was requested.") }
        try receive(bytes)
        count.add(bytes.count, ordering: .acquiringAndReleasing)
    }

    private func damaged(_ message: String) -> DeploymentError {
        DeploymentError(.damaged, url.absoluteString, message)
    }
}
