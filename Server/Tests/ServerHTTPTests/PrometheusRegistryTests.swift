import CoreMetrics
import Metrics
import ServerHTTP
import ServerSupport
import Testing

@Suite("Metrics for Prometheus") struct PrometheusRegistryTests {
    let registry = PrometheusRegistry()

    @Test func countersOfTheSameLabelsAreOne() {
        for _ in 0..<3 {
            Counter(label: "jobs.done", dimensions: [("kind", "a")], factory: registry).increment(by: 2)
        }
        Counter(label: "jobs.done", dimensions: [("kind", "b")], factory: registry).increment()
        FloatingPointCounter(label: "jobs.done", dimensions: [("kind", "b")], factory: registry).increment(by: 0.5)
        registry.describe("jobs_done_total", "Jobs.")
        #expect(
            registry.text() == """
                # HELP jobs_done_total Jobs.
                # TYPE jobs_done_total counter
                jobs_done_total{kind="a"} 6
                jobs_done_total{kind="b"} 1.5

                """
        )
    }

    @Test func amountsThatWouldBreakACounterAreIgnored() {
        let counter = FloatingPointCounter(label: "n", factory: registry)
        for amount in [1, -3, .nan, .infinity] { counter.increment(by: amount) }
        #expect(registry.text().contains("n_total 1\n"))
    }

    @Test func timersAreHistogramsOfSeconds() {
        let timer = CoreMetrics.Timer(label: "answer", dimensions: [("route", "x")], factory: registry)
        for milliseconds in [0, 1, 2, 30_000] { timer.recordMilliseconds(milliseconds) }
        let text = registry.text()
        for line in [
            #"answer_seconds_bucket{route="x",le="0.0005"} 1"#, #"answer_seconds_bucket{route="x",le="0.001"} 2"#,
            #"answer_seconds_bucket{route="x",le="0.0025"} 3"#, #"answer_seconds_bucket{route="x",le="10.0"} 3"#,
            #"answer_seconds_bucket{route="x",le="+Inf"} 4"#, #"answer_seconds_sum{route="x"} 30.003"#,
            #"answer_seconds_count{route="x"} 4"#,
        ] {
            #expect(text.contains(line + "\n"), "\(text)")
        }
    }

    @Test func gaugesAndRecorders() {
        let meter = Meter(label: "depth", factory: registry)
        meter.set(4)
        meter.decrement(by: 1.5)
        Recorder(label: "size", factory: registry).record(3)
        Recorder(label: "size", factory: registry).record(4)
        Gauge(label: "last", factory: registry).record(7)
        #expect(
            registry.text(gauges: ["now": .infinity]) == """
                # TYPE depth gauge
                depth 2.5
                # TYPE last gauge
                last 7
                # TYPE now gauge
                now +Inf
                # TYPE size summary
                size_sum 7
                size_count 2

                """
        )
        meter.destroy()
        // A gauge that is given once does not stay.
        #expect(!registry.text().contains("depth") && !registry.text().contains("now"))
    }

    @Test func namesAndLabelsAreThoseThatPrometheusAllows() {
        Counter(label: "9 höhe-x", dimensions: [("a:b", "\\\"\n")], factory: registry).increment()
        #expect(registry.text().contains(#"_9_h_he_x_total{a_b="\\\"\n"} 1"#))
    }

    @Test func answersAreCountedByRoute() {
        let text = Measurements(registry).text(["coreml_teams": 2])
        #expect(text.contains("coreml_teams 2\n"))
        #expect(text.contains("coreml_http_request_duration_seconds_count 0\n"))
        #expect(text.contains("process_resident_memory_bytes "))
    }
}
