import Foundation
public import Hummingbird
public import ServerCore
import Synchronization

/// Counts and durations of requests for Prometheus.
public final class Measurements: Sendable {
    /// The measurements of this process.
    public static let shared = Measurements()

    private struct Key: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private struct State {
        var requests: [Key: Int] = [:]
        /// The number of answers that took at most as long as each bound.
        var durations = [Int](repeating: 0, count: Measurements.bounds.count)
        var seconds = 0.0
        var count = 0
    }

    /// The bounds in seconds.
    private static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private let state = Mutex(State())
    private let start = Date()

    /// Creates measurements without requests.
    public init() {}

    /// Counts an answer; `duration` is `nil` for answers whose duration means nothing.
    func note(_ method: String, _ route: String, _ status: Int, _ duration: Duration?) {
        let seconds = duration.map {
            Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18
        }
        // Clients may invent names of methods, which are counted together.
        let method = Self.methods.contains(method) ? method : "other"
        state.withLock { state in
            state.requests[Key(method: method, route: route, status: status), default: 0] += 1
            guard let seconds else { return }
            if let index = Self.bounds.firstIndex(where: { seconds <= $0 }) { state.durations[index] += 1 }
            state.seconds += seconds
            state.count += 1
        }
    }

    /// All measurements, and the given gauges, in Prometheus' text format.
    public func text(_ gauges: [String: Double]) -> String {
        let state = state.withLock { $0 }
        var lines = [
            "# HELP coreml_http_requests_total Answers, by route and status.",
            "# TYPE coreml_http_requests_total counter",
        ]
        for (key, count) in state.requests.sorted(by: { ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status) })
        {
            lines.append(
                "coreml_http_requests_total{method=\"\(key.method)\",route=\"\(key.route)\",status=\"\(key.status)\"} "
                    + "\(count)"
            )
        }
        lines += [
            "# HELP coreml_http_request_duration_seconds Time until an answer begins.",
            "# TYPE coreml_http_request_duration_seconds histogram",
        ]
        var sum = 0
        for (bound, count) in zip(Self.bounds, state.durations) {
            sum += count
            lines.append("coreml_http_request_duration_seconds_bucket{le=\"\(bound)\"} \(sum)")
        }
        lines += [
            "coreml_http_request_duration_seconds_bucket{le=\"+Inf\"} \(state.count)",
            "coreml_http_request_duration_seconds_sum \(state.seconds)",
            "coreml_http_request_duration_seconds_count \(state.count)",
        ]
        var all = gauges
        all["process_uptime_seconds"] = Date().timeIntervalSince(start).rounded()
        if let bytes = residentBytes() { all["process_resident_memory_bytes"] = Double(bytes) }
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            lines += ["# TYPE \(name) gauge", "\(name) \(value)"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The resident memory in bytes, from `/proc/self/statm`.
    private func residentBytes() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map {
            $0 * sysconf(Int32(_SC_PAGESIZE))
        }
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
