import CoreMetrics
import Foundation
public import Hummingbird
import Metrics
public import ServerCore
public import ServerSupport
import Synchronization

/// Counts and durations of the server's answers, through swift-metrics.
public final class Measurements: Sendable {
    /// The measurements of this process.
    public static let shared = Measurements()

    private struct Key: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private let registry: PrometheusRegistry
    private let durations: CoreMetrics.Timer
    /// The counters that were made: looking them up here costs less than making them from their labels.
    private let counters = Mutex<[Key: Counter]>([:])
    private let start = ContinuousClock.now

    /// Creates measurements that a registry collects, by default that of the process.
    public init(_ registry: PrometheusRegistry = .shared) {
        self.registry = registry
        registry.describe("coreml_http_requests_total", "Answers, by route and status.")
        registry.describe("coreml_http_request_duration_seconds", "Time until an answer begins.")
        durations = CoreMetrics.Timer(label: "coreml_http_request_duration_seconds", factory: registry)
    }

    /// Counts an answer; `duration` is `nil` for answers whose duration means nothing.
    func note(_ method: String, _ route: String, _ status: Int, _ duration: Duration?) {
        // Clients may invent names of methods, which are counted together.
        let key = Key(method: Self.methods.contains(method) ? method : "other", route: route, status: status)
        let counter = counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let counter = Counter(
                label: "coreml_http_requests_total",
                dimensions: [("method", key.method), ("route", route), ("status", "\(status)")],
                factory: registry
            )
            counters[key] = counter
            return counter
        }
        counter.increment()
        if let duration { durations.record(duration: duration) }
    }

    /// All metrics of the registry, and the given gauges, in Prometheus' text format.
    public func text(_ gauges: [String: Double]) -> String {
        var all = gauges
        all["process_uptime_seconds"] = Double((ContinuousClock.now - start).components.seconds)
        if let bytes = residentBytes() { all["process_resident_memory_bytes"] = Double(bytes) }
        return registry.text(gauges: all)
    }
}

/// Counts answers.
struct Measuring: RouterMiddleware {
    let measurements: Measurements

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        // The names of routes rather than the requested paths: there are few of them.
        measurements.note(
            request.method.rawValue,
            context.endpointPath ?? "none",
            response.status.code,
            .now - start
        )
        return response
    }
}

/// The answer of `/health`: an error unless the database can be read.
public func healthAnswer(_ service: Service) async throws -> Response {
    do {
        try await service.checkReadiness()
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "ok\n"))
        )
    } catch {
        return ErrorAnswers.response(
            ServiceError(.unavailable, "The server's database cannot be used now; its log says why.", retryAfter: 5)
        )
    }
}
