import CoreMetrics
import Foundation
import Metrics
package import ServerSupport
import Synchronization

/// The server's measurements, for Prometheus.
package final class ServingMetrics: Sendable {
    let registry: PrometheusRegistry
    private let start = ContinuousClock.now
    private let loads: (done: Counter, failed: Counter)

    package init(_ registry: PrometheusRegistry = PrometheusRegistry()) {
        self.registry = registry
        for (name, help) in [
            ("coreml_serve_requests_total", "Requests for predictions, by model, version and status."),
            ("coreml_serve_request_duration_seconds", "Time from a request's body to its answer."),
            ("coreml_serve_queue_duration_seconds", "Time that examples wait for a worker."),
            ("coreml_serve_compute_duration_seconds", "Time of predictions, that of a batch for each of its examples."),
            ("coreml_serve_batch_size", "Examples that were predicted together, for each example."),
            ("coreml_serve_loads_total", "Attempts to load a model, by result."),
            ("coreml_serve_models", "Versions of models that are loaded."),
            ("coreml_serve_requests_waiting", "Examples that wait for a worker."),
            ("coreml_serve_body_bytes", "Bytes of the requests that are being processed."),
        ] {
            registry.describe(name, help)
        }
        func counter(_ result: String) -> Counter {
            Counter(label: "coreml_serve_loads_total", dimensions: [("result", result)], factory: registry)
        }
        loads = (counter("success"), counter("failure"))
    }

    func loaded(_ isLoaded: Bool) { (isLoaded ? loads.done : loads.failed).increment() }

    /// All metrics in Prometheus' text format, with some values of this moment.
    func text(_ gauges: [String: Double]) -> String {
        var gauges = gauges
        gauges["process_uptime_seconds"] = (ContinuousClock.now - start) / .seconds(1)
        if let bytes = residentBytes() { gauges["process_resident_memory_bytes"] = Double(bytes) }
        return registry.text(gauges: gauges)
    }
}

/// The counters of a version of a model; they continue when it is loaded anew.
final class ModelCounts: Sendable {
    /// Numbers for Triton's statistics extension.
    struct Totals {
        var success = (count: 0, time: Duration.zero)
        var failure = (count: 0, time: Duration.zero)
        var queue = Duration.zero
        var compute = Duration.zero
        /// The predictions, in which a batch counts once.
        var executions = 0.0
        var last: Int64 = 0
    }

    let totals = Mutex(Totals())
    private let labels: [(String, String)]
    private let metrics: ServingMetrics
    private let duration: CoreMetrics.Timer
    private let queue: CoreMetrics.Timer
    private let compute: CoreMetrics.Timer
    private let batch: Recorder
    private let requests = Mutex<[Int: Counter]>([:])

    init(_ name: String, _ version: String, _ metrics: ServingMetrics) {
        labels = [("model", name), ("version", version)]
        self.metrics = metrics
        let registry = metrics.registry
        let (labels, prefix) = (labels, "coreml_serve_")
        duration = Timer(label: prefix + "request_duration_seconds", dimensions: labels, factory: registry)
        queue = Timer(label: prefix + "queue_duration_seconds", dimensions: labels, factory: registry)
        compute = Timer(label: prefix + "compute_duration_seconds", dimensions: labels, factory: registry)
        batch = Recorder(label: prefix + "batch_size", dimensions: labels, aggregate: true, factory: registry)
    }

    /// Counts a prediction.
    func computed(_ answer: Answer) {
        queue.record(duration: answer.waited)
        compute.record(duration: answer.computed)
        batch.record(answer.batch)
        totals.withLock { totals in
            totals.queue += answer.waited
            totals.compute += answer.computed
            totals.executions += 1 / Double(answer.batch)
        }
    }

    /// Counts an answer.
    func answered(_ status: Int, _ time: Duration) {
        duration.record(duration: time)
        let counter = requests.withLock { requests in
            if let counter = requests[status] { return counter }
            let counter = Counter(
                label: "coreml_serve_requests_total",
                dimensions: labels + [("status", "\(status)")],
                factory: metrics.registry
            )
            requests[status] = counter
            return counter
        }
        counter.increment()
        totals.withLock { totals in
            if status == 200 {
                totals.success.count += 1
                totals.success.time += time
                totals.last = Int64(Date().timeIntervalSince1970 * 1000)
            } else {
                totals.failure.count += 1
                totals.failure.time += time
            }
        }
    }
}
