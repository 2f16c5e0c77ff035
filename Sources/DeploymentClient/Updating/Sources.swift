import Foundation
import UpdateFramework

/// The addresses of a server, which are those of a static copy, too.
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
    /// The error of an answer that is none of those that were hoped for.
    func error(_ url: URL) -> DeploymentError {
        let seconds = headers["retry-after"].flatMap { Int($0) }
        switch status {
        case 429, 503:
            return DeploymentError(
                .busy,
                url.absoluteString,
                "The server has too much to do; it will be asked again later.",
                retryAfter: seconds
            )
        case 300..<400, 200..<300:
            return DeploymentError(
                .server,
                url.absoluteString,
                "Something else than the server answered (\(status)): a proxy, or a page to sign in to a network."
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
            throw DeploymentError(.server, path, "This is no part of an address.")
        }
        let answer = try await transport.send(TransportRequest(url, limit: limit + 1))
        switch answer.status {
        case 200: return answer.body
        case 403, 404: return nil
        default: throw answer.error(url)
        }
    }
}

/// Files by their hashes from a server.
struct BlobSource {
    let addresses: Addresses
    let transport: any Transport

    /// Some bytes of a file.
    func bytes(_ hash: String, _ range: Range<Int>) async throws(DeploymentError) -> [UInt8] {
        guard !range.isEmpty else { return [] }
        let url = addresses.blob(hash)
        var request = TransportRequest(url, limit: range.count)
        request.headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        let answer = try await transport.send(request)
        switch answer.status {
        case 206:
            let place = answer.headers["content-range"] ?? ""
            guard place.hasPrefix("bytes \(range.lowerBound)-\(range.upperBound - 1)/"),
                answer.body.count == range.count
            else {
                throw DeploymentError(
                    .damaged,
                    url.absoluteString,
                    "The server sent other bytes (\(place), \(answer.body.count)) than those asked for."
                )
            }
            return answer.body
        case 200 where range.lowerBound == 0 && answer.body.count == range.count: return answer.body
        case 200:
            throw DeploymentError(
                .server,
                url.absoluteString,
                "The server does not answer for parts of files (Range), which downloads need."
            )
        case 404: throw DeploymentError(.releaseMissing, url.absoluteString, "The server does not have the file.")
        default: throw answer.error(url)
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
                    "The bytes that arrived are not those that were signed."
                )
            }
            return answer.body
        case 404: throw DeploymentError(.releaseMissing, url.absoluteString, "The server does not have the file.")
        default: throw answer.error(url)
        }
    }
}
