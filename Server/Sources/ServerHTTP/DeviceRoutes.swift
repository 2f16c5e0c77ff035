import DeploymentPolicy
import Foundation
import HTTPTypes
import Hummingbird
import ServerBlobs
import ServerCore

/// The routes of devices: signed documents and files, which anybody may fetch and nobody can change.
struct DeviceRoutes {
    let service: Service
    /// Answers in place of the routes while documents do not change; `nil` where there are no connections.
    let reception: Reception?

    func add(to router: Router<Context>) {
        router.get("v1/apps/:app/environments/:environment/collections/:collection/policy.json", use: policy)
        router.post(ReportRequest.route, use: report)
        router.get("v1/trust/:team/metadata/:file", use: metadata)
        router.get("v1/trust/:team/targets/**", use: target)
        router.get("b/sha256/:digest", use: blob)
        router.head("b/sha256/:digest", use: blob)
    }

    @Sendable private func policy(_ request: Request, _ context: Context) async throws -> Response {
        let (app, environment) = (try context.name("app"), try context.name("environment"))
        let collection = try context.name("collection")
        let answers = DocumentAnswers(
            try await service.policyDocument(app: app, collection: collection, environment: environment),
            caching: "no-cache",
            missing: ServiceError(.notFound, "Nothing was deployed to this collection yet.")
        )
        let path = "/v1/apps/\(app)/environments/\(environment)/collections/\(collection)/policy.json"
        return answer(answers, to: request, path, context)
    }

    @Sendable private func report(_ request: Request, _ context: Context) async throws -> Response {
        let body = Array(buffer: try await request.body.collect(upTo: DeviceReport.maximumByteCount))
        try await service.take(
            try ReportRequest.report(body),
            at: ReportDestination(
                app: context.name("app"),
                collection: context.name("collection"),
                environment: context.name("environment")
            )
        )
        return Answers.empty
    }

    @Sendable private func metadata(_ request: Request, _ context: Context) async throws -> Response {
        let (team, file) = (try context.name("team"), try context.name("file"))
        let answers = DocumentAnswers(
            try await service.metadataDocument(team: team, file: file.removingPercentEncoding ?? file),
            caching: file == "timestamp.json" ? "no-cache" : Self.immutable,
            missing: ServiceError(.notFound, "There is no metadata \"\(file)\".")
        )
        return answer(answers, to: request, "/v1/trust/\(team)/metadata/\(file)", context)
    }

    /// Answers a request for a document at `path`.
    private func answer(
        _ answers: DocumentAnswers,
        to request: Request,
        _ path: String,
        _ context: Context
    ) -> Response {
        if let reception, request.uri.string == path, service.isCurrent(answers.found) {
            reception.keep(answers, at: path, route: context.endpointPath)
        }
        return answers.answer(to: request)
    }

    @Sendable private func target(_ request: Request, _ context: Context) async throws -> Response {
        let path = context.parameters.getCatchAll().joined(separator: "/")
        guard
            let bytes = try await service.target(team: context.name("team"), path: path.removingPercentEncoding ?? path)
        else { throw ServiceError(.notFound, "There is no target \"\(path)\".") }
        let document = TaggedDocument(bytes)
        return DocumentAnswers.answer(document, caching: Self.immutable, to: request).response
    }

    private static let immutable = "public, max-age=31536000, immutable"

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
            case .range(let requested):
                (range, status) = (requested, .partialContent)
                headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(byteCount)"
            case .unsatisfiable:
                headers[.contentRange] = "bytes */\(byteCount)"
                return Response(status: .rangeNotSatisfiable, headers: headers)
            case .ignored: break
            }
        }
        headers[.contentLength] = String(range.count)
        if request.method == .head { return Response(status: status, headers: headers) }
        let body = FileBody(
            service: service,
            digest: digest,
            range: range,
            channel: reception == nil ? nil : context.channel,
            isSent: reception?.sendsFiles ?? false
        )
        return Response(status: status, headers: headers, body: body.responseBody)
    }
}

/// The range requested by a `Range` header (RFC 9110, section 14).
enum ByteRange: Equatable {
    case range(Range<Int>)
    case unsatisfiable
    /// Several ranges or another unit, which are answered with the whole file.
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
