import ArgumentParser
import Foundation
import MLEngine
import MLNumerics

struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure a model's latency, throughput and peak memory.",
        discussion: """
            Examples:
              coreml bench ResNet50.mlpackage --threads 2
              coreml bench Bert.mlpackage -i ids=ids.npy --json
              coreml bench Forest.mlmodel --batch rows.npy --threads 2
              coreml bench ResNet50.mlpackage --clients 8

            With --interactive the process prints "ready" once the model is loaded, and answers each line "run N" on \
            standard input with a JSON list of N latencies in milliseconds: of predictions, or of whole batches with \
            --batch.
            """
    )

    @OptionGroup var source: RunOptions
    @OptionGroup var inputs: InputOptions
    @Option(help: "The number of predictions to measure.")
    var runs = 50
    @Option(help: "The number of threads that predict with the same model concurrently.")
    var clients = 1
    @Option(
        help: """
            Predict this file of examples as one batch: .csv, .npz, or .npy for a model with one input. Arrays have one \
            more axis than the model's, or more examples on a first axis of extent 1.
            """
    )
    var batch: String?
    @Flag(help: "Print JSON.")
    var json = false
    @Flag(help: "Serve measurements over standard input and output.")
    var interactive = false

    func validate() throws {
        guard runs > 0, clients > 0 else { throw ValidationError("--runs and --clients take numbers from 1") }
    }

    func run() throws {
        inputs.apply()
        let start = ContinuousClock.now
        let engine = try source.engine()
        if let batch {
            let load = (ContinuousClock.now - start) / .milliseconds(1)
            let examples = try InputReader(interface: engine.interface).batch(inFile: batch)
            if interactive {
                try serve { try (0..<$0).map { _ in try Self.time(engine, examples) } }
            } else {
                try measureBatch(engine, examples, load: load)
            }
            return
        }
        let features = try SampleInputs.features(engine.interface, inputs.input)
        let load = (ContinuousClock.now - start) / .milliseconds(1)
        if interactive {
            try serve { count in
                try clients == 1 ? measure(engine, features, count) : measureTogether(engine, features, count)
            }
            return
        }
        let first = try measure(engine, features, 1)[0]
        _ = try measure(engine, features, min(runs, 3))
        let began = ContinuousClock.now
        let times = try clients == 1 ? measure(engine, features, runs) : measureTogether(engine, features, runs)
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        let sorted = times.sorted()
        let throughput = Double(times.count) / elapsed
        if json {
            print(
                try JSONFeature.text(
                    [
                        "load_ms": load, "first_ms": first, "median_ms": sorted[sorted.count / 2],
                        "minimum_ms": sorted[0],
                        "per_second": throughput, "peak_bytes": Self.peakByteCount(), "runs": times.count,
                        "clients": clients,
                    ] as [String: Any]
                )
            )
            return
        }
        var table = Table(rightAligned: [1])
        table.add("load", String(format: "%.2f ms", load))
        table.add("first prediction", String(format: "%.3f ms", first))
        table.add("median", String(format: "%.3f ms", sorted[sorted.count / 2]))
        table.add("minimum", String(format: "%.3f ms", sorted[0]))
        table.add("throughput", String(format: "%.1f / s", throughput))
        table.add("peak memory", byteText(Self.peakByteCount()))
        print(table.text())
    }

    private func measure(_ engine: any ModelEngine, _ features: [String: FeatureData], _ count: Int) throws -> [Double]
    {
        let state = engine.makeState()
        return try (0..<count).map { _ in
            let start = ContinuousClock.now
            _ = try failing { () throws(ModelError) in
                try engine.prediction(from: features, backings: [:], state: state)
            }
            return (ContinuousClock.now - start) / .milliseconds(1)
        }
    }

    /// The milliseconds that the batch takes.
    private static func time(_ engine: any ModelEngine, _ batch: FeatureBatch) throws -> Double {
        let start = ContinuousClock.now
        _ = try failing { () throws(ModelError) in try engine.predictions(from: batch) }
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    /// Predicts the batch `runs` times.
    private func measureBatch(_ engine: any ModelEngine, _ batch: FeatureBatch, load: Double) throws {
        let times = try (0..<runs + 1).map { _ in try Self.time(engine, batch) }
        let sorted = times.dropFirst().sorted()
        let median = sorted[sorted.count / 2]
        if json {
            print(
                try JSONFeature.text(
                    [
                        "load_ms": load, "first_ms": times[0], "median_ms": median, "minimum_ms": sorted[0],
                        "rows": batch.count, "per_second": Double(batch.count) / median * 1000,
                        "peak_bytes": Self.peakByteCount(), "runs": runs,
                    ] as [String: Any]
                )
            )
            return
        }
        var table = Table(rightAligned: [1])
        table.add("load", String(format: "%.2f ms", load))
        table.add("first batch of \(batch.count)", String(format: "%.3f ms", times[0]))
        table.add("median", String(format: "%.3f ms", median))
        table.add("minimum", String(format: "%.3f ms", sorted[0]))
        table.add("throughput", String(format: "%.1f / s", Double(batch.count) / median * 1000))
        table.add("peak memory", byteText(Self.peakByteCount()))
        print(table.text())
    }

    /// Predicts at least `count` times, on as many threads as there are clients.
    private func measureTogether(
        _ engine: any ModelEngine,
        _ features: [String: FeatureData],
        _ count: Int
    ) throws -> [Double] {
        let share = (count + clients - 1) / clients
        let results = Results()
        let threads = (0..<clients).map { _ in
            Thread {
                do {
                    results.add(.success(try measure(engine, features, share)))
                } catch {
                    results.add(.failure(error))
                }
            }
        }
        for thread in threads { thread.start() }
        return try results.wait(for: clients)
    }

    private func serve(_ times: (Int) throws -> [Double]) throws {
        answer("ready")
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 2, words[0] == "run", let count = Int(words[1]), count > 0 else {
                throw Failure("unknown command '\(line)'; send \"run N\"")
            }
            answer("[" + (try times(count)).map { String(format: "%.6f", $0) }.joined(separator: ", ") + "]")
        }
    }

    /// Writes a line at once, without buffering.
    private func answer(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// The largest resident size so far, in bytes.
    static func peakByteCount() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }
}

/// Collects measurements from several threads.
///
/// `@unchecked Sendable`: the condition guards the contents.
private final class Results: @unchecked Sendable {
    private let condition = NSCondition()
    private var results: [Result<[Double], any Error>] = []

    func add(_ result: Result<[Double], any Error>) {
        condition.withLock { results.append(result) }
        condition.signal()
    }

    func wait(for count: Int) throws -> [Double] {
        try condition.withLock {
            while results.count < count { condition.wait() }
            return try results.flatMap { try $0.get() }
        }
    }
}
