import Foundation
import HTTPTypes
package import Hummingbird
import Logging
import NIOCore

/// The limits of requests.
package struct RequestLimits: Sendable {
    /// The most bytes of a request's body.
    package var bodyBytes = 64 << 20
    /// The most bytes of all bodies in hand.
    package var totalBytes = 512 << 20

    package init() {}
}

/// The Open Inference Protocol over HTTP, with Triton's extensions for binary tensors, repositories, classes,
/// configurations and statistics.
/// Source: https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol,
/// https://github.com/triton-inference-server/server/tree/main/docs/protocol
package struct ServingRoutes: Sendable {
    /// The program's version, that of the project.
    package static let version = "0.1.0"

    let repository: ModelRepository
    let metrics: ServingMetrics
    let limits: RequestLimits
    package let budget: BodyBudget

    package init(_ repository: ModelRepository, metrics: ServingMetrics, limits: RequestLimits = RequestLimits()) {
        self.repository = repository
        self.metrics = metrics
        self.limits = limits
        budget = BodyBudget(limit: limits.totalBytes)
    }

    private typealias Handler = @Sendable (Request, BasicRequestContext) async throws -> Response

    /// The routes, with answers to other methods and paths.
    package func router() -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ServingErrors())
        func add(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
            router.on(RouterPath(path), method: method, use: handler)
            let allowed = method == .get ? "GET, HEAD" : method.rawValue
            for other in [HTTPRequest.Method.get, .post, .put, .delete, .patch, .options] where other != method {
                router.on(RouterPath(path), method: other) { request, _ -> Response in
                    var answer = ServingErrors.answer(
                        ServingError(405, "\(request.uri.path) takes \(allowed), not \(other.rawValue).")
                    )
                    answer.headers[.allow] = allowed
                    return answer
                }
            }
        }
        add(.get, "v2") { _, _ in metadata }
        add(.get, "v2/health/live") { _, _ in state("live", true) }
        add(.get, "v2/health/ready") { _, _ in state("ready", repository.isReady) }
        add(.get, "v2/models/stats") { _, _ in statistics(repository.loaded) }
        for version in ["", "/versions/:version"] {
            let path = "v2/models/:name" + version
            add(.get, path) { _, context in try json { metadata(try model(context), &$0) } }
            add(.get, path + "/ready") { _, context in
                try state("ready", true, of: model(context).name)
            }
            add(.get, path + "/config") { _, context in try json { configuration(try model(context), &$0) } }
            add(.get, path + "/stats") { _, context in statistics([try model(context)]) }
            add(.post, path + "/infer") { request, context in try await infer(request, context) }
        }
        add(.post, "v2/repository/index") { request, _ in try await index(request) }
        add(.post, "v2/repository/models/:name/load") { request, context in
            try await refuseParameters(request)
            try await repository.load(name(context))
            return Response(status: .ok)
        }
        add(.post, "v2/repository/models/:name/unload") { request, context in
            _ = try await smallBody(request)
            try repository.unload(name(context))
            return Response(status: .ok)
        }
        add(.get, "metrics") { _, _ in prometheus }
        return router
    }

    // MARK: Models

    /// A state in the status, which is 503 where it does not hold, and in the body, where KServe's clients look for it.
    private func state(_ state: String, _ holds: Bool, of name: String? = nil) -> Response {
        json(status: holds ? .ok : .serviceUnavailable) { writer in
            writer.object { writer in
                if let name { writer.member("name", name) }
                writer.member(state, holds)
            }
        }
    }

    private func name(_ context: BasicRequestContext) throws -> String {
        let text = try context.parameters.require("name")
        return text.removingPercentEncoding ?? text
    }

    private func model(_ context: BasicRequestContext) throws -> LoadedModel {
        try repository.model(name(context), context.parameters.get("version"))
    }

    // MARK: Predictions

    private func infer(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let model = try model(context)
        let answer = try await model.counting { try await predict(request, model) }
        var headers: HTTPFields = [.contentType: "application/json"]
        if let length = answer.headerLength {
            headers[.contentType] = "application/octet-stream"
            headers[Self.headerLength] = String(length)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: answer.bytes))
    }

    private static let headerLength: HTTPField.Name = {
        guard let name = HTTPField.Name("Inference-Header-Content-Length") else { preconditionFailure("it is a name") }
        return name
    }()

    private func predict(_ request: Request, _ model: LoadedModel) async throws -> AnswerBody {
        var headerLength: Int?
        if let text = request.headers[Self.headerLength] {
            guard let length = Int(text), length >= 0 else {
                throw ServingError.invalid(
                    "Inference-Header-Content-Length must be a number of bytes, not \"\(text)\"."
                )
            }
            headerLength = length
        }
        let share = BodyReservation(budget)
        let body = try await request.collectBody(limit: limits.bodyBytes, share: share)
        var inference = InferenceRequest()
        if headerLength == 0 {
            inference.inputs = [try model.interface.rawTensor(body)]
        } else {
            inference = try InferenceRequest(body: body, headerLength: headerLength)
        }
        let answer = try await model.answer(inference)
        return withExtendedLifetime(share) { answer }
    }

    // MARK: Repository

    /// The body of a request that carries only parameters.
    private func smallBody(_ request: Request) async throws -> ByteBuffer {
        try await request.collectBody(limit: 1 << 20, share: BodyReservation(budget))
    }

    private func index(_ request: Request) async throws -> Response {
        let body = try await smallBody(request)
        var isReady = false
        if body.readableBytes > 0 {
            try body.withUnsafeReadableBytes { bytes in
                var reader = JSONReader(bytes)
                try reader.object("the request") { reader, key in
                    if key == "ready" { isReady = try reader.boolean("ready") } else { try reader.skipValue() }
                }
                try reader.finish()
            }
        }
        let entries = repository.index().filter { !isReady || $0.state == "READY" }
        return json { writer in
            writer.array { writer in
                for entry in entries {
                    writer.object { writer in
                        writer.member("name", entry.name)
                        writer.member("version", entry.version)
                        writer.member("state", entry.state)
                        writer.member("reason", entry.reason)
                    }
                }
            }
        }
    }

    /// Refuses files and configurations that a client sends along: models come from this machine's disk.
    private func refuseParameters(_ request: Request) async throws {
        let body = try await smallBody(request)
        guard body.readableBytes > 0 else { return }
        try body.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            try reader.object("the request") { reader, key in
                guard key == "parameters" else { return try reader.skipValue() }
                try reader.object("parameters") { _, key in
                    throw ServingError.invalid(
                        "This server loads models as they are: it does not accept the parameter \"\(key)\"."
                    )
                }
            }
            try reader.finish()
        }
    }

    // MARK: Metrics

    private var prometheus: Response {
        let loaded = repository.loaded
        let text = metrics.text([
            "coreml_serve_models": Double(loaded.count),
            "coreml_serve_requests_waiting": Double(loaded.reduce(0) { $0 + $1.waiting }),
            "coreml_serve_body_bytes": Double(budget.inUse),
        ])
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

/// Turns errors into the protocol's answers: `{"error": "…"}`.
struct ServingErrors: RouterMiddleware {
    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch let error as ServingError {
            return Self.answer(error)
        } catch let error as HTTPError where error.status == .notFound {
            return Self.answer(.missing("There is no path \(request.uri.path)."))
        } catch let error as any HTTPResponseError {
            return Self.answer(ServingError(error.status.code, error.status.reasonPhrase))
        } catch is CancellationError {
            return Self.answer(ServingError(499, "The client left."))
        } catch {
            context.logger.error("\(request.method) \(request.uri.path): \(error)")
            return Self.answer(ServingError(500, "\(error)"))
        }
    }

    static func answer(_ error: ServingError) -> Response {
        var response = json(status: HTTPResponse.Status(code: error.status)) { writer in
            writer.object { $0.member("error", error.description) }
        }
        if let seconds = error.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }
}

/// An answer of JSON.
func json(status: HTTPResponse.Status = .ok, _ body: (inout JSONWriter) throws -> Void) rethrows -> Response {
    var writer = JSONWriter()
    try body(&writer)
    return Response(
        status: status,
        headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: writer.buffer)
    )
}
