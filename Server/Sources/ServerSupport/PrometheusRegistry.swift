public import CoreMetrics
import Foundation
import Synchronization

/// Collects what the server and its libraries measure through swift-metrics, and writes it in Prometheus' text format.
///
/// Counters end in `_total`, timers are histograms of seconds, aggregating recorders are summaries without quantiles.
/// Characters that Prometheus does not allow in names become underscores.
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
public final class PrometheusRegistry: MetricsFactory, Sendable {
    /// The registry of this process.
    public static let shared = PrometheusRegistry()

    /// A metric's name, and its labels as they are written.
    private struct Key: Hashable, Comparable {
        let name: String
        let labels: String

        static func < (left: Key, right: Key) -> Bool {
            (left.name, left.labels) < (right.name, right.labels)
        }
    }

    private struct State {
        var help: [String: String] = [:]
        var counters: [Key: CounterValue] = [:]
        var gauges: [Key: GaugeValue] = [:]
        var summaries: [Key: SummaryValue] = [:]
        var histograms: [Key: HistogramValue] = [:]
    }

    private let state = Mutex(State())

    /// Creates a registry without metrics.
    public init() {}

    /// Gives a metric, by its name in Prometheus, the line that says what it is.
    public func describe(_ name: String, _ help: String) {
        let line = Self.escaped(help)
        state.withLock { $0.help[name] = line }
    }

    // MARK: MetricsFactory

    /// The counter of a name and labels, which is made when it does not exist.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let key = Self.key(label, suffix: "_total", dimensions)
        return state.withLock { $0.counters.value(key, CounterValue()) }
    }

    /// The counter of fractions of a name and labels, which is made when it does not exist.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        let key = Self.key(label, suffix: "_total", dimensions)
        return state.withLock { $0.counters.value(key, CounterValue()) }
    }

    /// The gauge of a name and labels, which is made when it does not exist.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        let key = Self.key(label, suffix: "", dimensions)
        return state.withLock { $0.gauges.value(key, GaugeValue()) }
    }

    /// The summary of a name and labels, or the gauge of the last value where `aggregate` is `false`.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        let key = Self.key(label, suffix: "", dimensions)
        return state.withLock { state -> any RecorderHandler in
            aggregate ? state.summaries.value(key, SummaryValue()) : state.gauges.value(key, GaugeValue())
        }
    }

    /// The histogram of durations of a name and labels, which is made when it does not exist.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let key = Self.key(label, suffix: "_seconds", dimensions)
        return state.withLock { $0.histograms.value(key, HistogramValue()) }
    }

    /// Does nothing: Prometheus wants counters to keep their values while the process lives.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing: Prometheus wants counters to keep their values while the process lives.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Does nothing: Prometheus wants histograms to keep their values while the process lives.
    public func destroyTimer(_ handler: any TimerHandler) {}
    /// Forgets a gauge.
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    /// Forgets a recorder.
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }

    private func forget(_ handler: AnyObject) {
        state.withLock { state in
            state.gauges = state.gauges.filter { $0.value !== handler }
            state.summaries = state.summaries.filter { $0.value !== handler }
        }
    }

    // MARK: Text

    /// All metrics in Prometheus' text format, sorted by name and labels within their types.
    ///
    /// - Parameter gauges: values, by name, that are read when they are written.
    /// - Returns: the lines, each ended.
    public func text(gauges: [String: Double] = [:]) -> String {
        var state = state.withLock { $0 }
        for (name, value) in gauges {
            let gauge = GaugeValue()
            gauge.set(value)
            state.gauges[Self.key(name, suffix: "", [])] = gauge
        }
        var lines: [String] = []
        Self.write(state.counters, type: "counter", help: state.help, to: &lines) { key, counter in
            ["\(key.name)\(key.labels) \(Self.number(counter.value))"]
        }
        Self.write(state.gauges, type: "gauge", help: state.help, to: &lines) { key, gauge in
            ["\(key.name)\(key.labels) \(Self.number(gauge.value))"]
        }
        Self.write(state.summaries, type: "summary", help: state.help, to: &lines) { key, summary in
            let (sum, count) = summary.value
            return ["\(key.name)_sum\(key.labels) \(Self.number(sum))", "\(key.name)_count\(key.labels) \(count)"]
        }
        Self.write(state.histograms, type: "histogram", help: state.help, to: &lines) { key, histogram in
            let value = histogram.value
            var below = 0
            var lines = zip(HistogramValue.bounds, value.counts).map { bound, count in
                below += count
                return "\(key.name)_bucket\(Self.adding("le", "\(bound)", to: key.labels)) \(below)"
            }
            lines.append("\(key.name)_bucket\(Self.adding("le", "+Inf", to: key.labels)) \(value.count)")
            lines.append("\(key.name)_sum\(key.labels) \(Self.number(value.seconds))")
            lines.append("\(key.name)_count\(key.labels) \(value.count)")
            return lines
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func write<Value>(
        _ metrics: [Key: Value],
        type: String,
        help: [String: String],
        to lines: inout [String],
        _ samples: (Key, Value) -> [String]
    ) {
        var name: String?
        for (key, value) in metrics.sorted(by: { $0.key < $1.key }) {
            if name != key.name {
                if let help = help[key.name] { lines.append("# HELP \(key.name) \(help)") }
                lines.append("# TYPE \(key.name) \(type)")
                name = key.name
            }
            lines += samples(key, value)
        }
    }

    /// Whole numbers without a fraction, and the three that are none as Prometheus writes them.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    private static func key(_ label: String, suffix: String, _ dimensions: [(String, String)]) -> Key {
        let name = identifier(label, allowsColon: true)
        let labels = dimensions.map { "\(identifier($0.0, allowsColon: false))=\"\(quotable($0.1))\"" }
        return Key(
            name: name.hasSuffix(suffix) ? name : name + suffix,
            labels: labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        )
    }

    private static func adding(_ name: String, _ value: String, to labels: String) -> String {
        labels.isEmpty ? "{\(name)=\"\(value)\"}" : "\(labels.dropLast()),\(name)=\"\(value)\"}"
    }

    private static func identifier(_ text: String, allowsColon: Bool) -> String {
        let characters = text.unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_": Character(scalar)
            case ":" where allowsColon: ":"
            default: "_"
            }
        }
        let name = String(characters)
        return name.first.map { $0.isNumber ? "_" + name : name } ?? "_"
    }

    /// A help text as it is written: on one line.
    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\n", with: "\\n")
    }

    /// The value of a label as it is written between quotation marks.
    private static func quotable(_ text: String) -> String {
        escaped(text).replacingOccurrences(of: "\"", with: "\\\"")
    }
}

extension Dictionary {
    /// The value of a key, which is the given one from now on where there was none.
    fileprivate mutating func value(_ key: Key, _ made: @autoclosure () -> Value) -> Value {
        if let value = self[key] { return value }
        let value = made()
        self[key] = value
        return value
    }
}

/// A counter; counts beyond 2⁵³ are rounded, as Prometheus' numbers are.
private final class CounterValue: CounterHandler, FloatingPointCounterHandler, Sendable {
    private let sum = Mutex(0.0)
    var value: Double { sum.withLock { $0 } }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    /// Adds an amount; amounts that are negative or not finite would break the counter, and are ignored.
    func increment(by amount: Double) {
        guard amount >= 0, amount.isFinite else { return }
        sum.withLock { $0 += amount }
    }
    func reset() { sum.withLock { $0 = 0 } }
}

private final class GaugeValue: MeterHandler, RecorderHandler, Sendable {
    private let last = Mutex(0.0)
    var value: Double { last.withLock { $0 } }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { last.withLock { $0 = value } }
    func increment(by amount: Double) { last.withLock { $0 += amount } }
    func decrement(by amount: Double) { last.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
}

private final class SummaryValue: RecorderHandler, Sendable {
    private let state = Mutex((sum: 0.0, count: 0))
    var value: (sum: Double, count: Int) { state.withLock { $0 } }

    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) {
        state.withLock { state in
            state.sum += value
            state.count += 1
        }
    }
}

private final class HistogramValue: TimerHandler, Sendable {
    /// The upper bounds of the buckets in seconds.
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    struct Value {
        /// The number of durations in each bucket, without those of lower buckets.
        var counts = [Int](repeating: 0, count: HistogramValue.bounds.count)
        var seconds = 0.0
        var count = 0
    }

    private let state = Mutex(Value())
    var value: Value { state.withLock { $0 } }

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(duration) / 1e9
        state.withLock { state in
            if let index = Self.bounds.firstIndex(where: { seconds <= $0 }) { state.counts[index] += 1 }
            state.seconds += seconds
            state.count += 1
        }
    }
}
