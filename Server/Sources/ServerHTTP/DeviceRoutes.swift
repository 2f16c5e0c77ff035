import DeploymentPolicy
import Foundation
import HTTPTypes
import Hummingbird
import ServerBlobs
import ServerCore

/// What devices ask for: signed documents and files, which anybody may fetch and nobody can change.
struct DeviceRoutes {
    let service: Service

    func add(to router: Router<Context>) {
        router.get("v1/apps/:app/environments/:environment/collections/:collection/policy.json", use: policy)
        router.post("v1/apps/:app/environments/:environment/collections/:collection/reports", use: report)
        router.get("v1/trust/:team/metadata/:file", use: metadata)
        router.get("v1/trust/:team/targets/**", use: target)
        router.get("b/sha256/:digest", use: blob)
        router.head("b/sha256/:digest", use: blob)
    }

    @Sendable private func policy(_ request: Request, _ context: Context) async throws -> Response {
        let policy = try await service.policyDocument(
            app: context.name("app"),
            collection: context.name("collection"),
            environment: context.name("environment")
        )
        guard let policy else { throw ServiceError(.notFound, "Nothing was deployed to this collection yet.") }
        return document(policy, for: request, caching: "no-cache")
    }

    @Sendable private func report(_ request: Request, _ context: Context) async throws -> Response {
        let body = Array(buffer: try await request.body.collect(upTo: DeviceReport.largest))
        let report: DeviceReport
        do throws(PolicyError) { report = try DeviceReport(body) } catch {
            throw ServiceError(.invalid, error.message, field: error.path)
        }
        try await service.take(
            report,
            at: ReportPlace(
                app: context.name("app"),
                collection: context.name("collection"),
                environment: context.name("environment")
            )
        )
        return Answers.empty
    }

    @Sendable private func metadata(_ request: Request, _ context: Context) async throws -> Response {
        let file = try context.name("file")
        guard
            let metadata = try await service.metadataDocument(
                team: context.name("team"),
                file: file.removingPercentEncoding ?? file
            )
        else { throw ServiceError(.notFound, "There is no metadata \"\(file)\".") }
        return document(metadata, for: request, caching: file == "timestamp.json" ? "no-cache" : Self.immutable)
    }

    @Sendable private func target(_ request: Request, _ context: Context) async throws -> Response {
        let path = context.parameters.getCatchAll().joined(separator: "/")
        guard
            let bytes = try await service.target(team: context.name("team"), path: path.removingPercentEncoding ?? path)
        else { throw ServiceError(.notFound, "There is no target \"\(path)\".") }
        return document(TaggedDocument(bytes), for: request, caching: Self.immutable)
    }

    private static let immutable = "public, max-age=31536000, immutable"

    /// A small document with its hash as its tag.
    private func document(_ document: TaggedDocument, for request: Request, caching: String) -> Response {
        let known = request.headers[.ifNoneMatch]
        if known == document.tag {
            return Response(status: .notModified, headers: [.eTag: document.tag, .cacheControl: caching])
        }
        let headers: HTTPFields = [
            .contentType: "application/json", .eTag: document.tag, .cacheControl: caching,
            .contentLength: String(document.bytes.count),
        ]
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.bytes))
        )
    }

    // MARK: Files

    @Sendable private func blob(_ request: Request, _ context: Context) async throws -> Response {
        let name = try context.name("digest")
        guard let digest = BlobDigest(name), let byteCount = try await service.byteCount(of: digest) else {
            throw ServiceError(.notFound, "There is no file sha256:\(name).")
        }
        if request.method == .get, let address = service.temporaryAddress(of: digest) {
            return Response(
                status: .temporaryRedirect,
                headers: [.location: address.absoluteString, .cacheControl: "no-store"]
            )
        }
        let tag = "\"\(digest)\""
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .eTag: tag, .cacheControl: Self.immutable, .acceptRanges: "bytes",
        ]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        var range = 0..<byteCount
        var status = HTTPResponse.Status.ok
        if let header = request.headers[.range], request.headers[.ifRange].map({ $0 == tag }) ?? true {
            switch ByteRange(header, of: byteCount) {
            case .range(let wanted):
                (range, status) = (wanted, .partialContent)
                headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(byteCount)"
            case .unsatisfiable:
                headers[.contentRange] = "bytes */\(byteCount)"
                return Response(status: .rangeNotSatisfiable, headers: headers)
            case .ignored: break
            }
        }
        headers[.contentLength] = String(range.count)
        if request.method == .head { return Response(status: status, headers: headers) }
        let (service, piece, wanted) = (service, service.pieceByteCount, range)
        let body = ResponseBody(contentLength: wanted.count) { writer in
            var position = wanted.lowerBound
            while position < wanted.upperBound {
                let end = min(position + piece, wanted.upperBound)
                try await writer.write(ByteBuffer(bytes: try await service.bytes(of: digest, position..<end)))
                position = end
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }
}

/// What a `Range` header asks for (RFC 9110, section 14).
enum ByteRange: Equatable {
    case range(Range<Int>)
    case unsatisfiable
    /// Several ranges or another unit: the whole file answers them.
    case ignored

    init(_ header: String, of byteCount: Int) {
        guard header.hasPrefix("bytes="), !header.contains(",") else {
            self = .ignored
            return
        }
        let parts = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            self = .ignored
            return
        }
        switch (Int(parts[0]), Int(parts[1])) {
        case (let first?, let last?) where first <= last && first >= 0:
            self = first < byteCount ? .range(first..<min(byteCount, last == .max ? last : last + 1)) : .unsatisfiable
        case (let first?, nil) where parts[1].isEmpty && first >= 0:
            self = first < byteCount ? .range(first..<byteCount) : .unsatisfiable
        case (nil, let count?) where parts[0].isEmpty && count >= 0:
            self = count > 0 && byteCount > 0 ? .range(max(0, byteCount - count)..<byteCount) : .unsatisfiable
        default: self = .ignored
        }
    }
}
