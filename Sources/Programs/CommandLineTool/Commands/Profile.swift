import ArgumentParser
import Foundation
import MLEngine
import MLModels
import MLNumerics
import MLRuntime

struct Profile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Profile a prediction: every operation with its share of the time, slowest first.",
        discussion: """
            Examples:
              coreml profile ResNet50.mlpackage
              coreml profile Bert.mlpackage --by-kind --runs 50
            """
    )

    @OptionGroup var source: RunOptions
    @OptionGroup var inputs: InputOptions
    @Option(help: "The number of predictions, whose median is shown.")
    var runs = 20
    @Option(help: "The number of lines to print.")
    var lines = 30
    @Flag(help: "Combine operations of the same kind and kernel.")
    var byKind = false
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard runs > 0, lines > 0 else { throw ValidationError("--runs and --lines take numbers from 1") }
    }

    func run() throws {
        inputs.apply()
        let loaded = try source.engine()
        guard let engine = loaded as? GraphEngine else {
            try profileStages(loaded)
            return
        }
        let features = try SampleInputs.features(engine.interface, inputs.input)
        let profile = try failing { () throws(ModelError) in
            try PredictionProfile(of: engine, for: features, runs: runs)
        }
        var entries = profile.entries.map(Entry.init)
        if byKind {
            entries = Dictionary(grouping: entries) { "\($0.operation) \($0.kernel)" }.values.map { group in
                Entry(
                    location: "\(group.count) operations",
                    operation: group[0].operation,
                    kernel: group[0].kernel,
                    shape: "",
                    nanoseconds: group.reduce(0) { $0 + $1.nanoseconds }
                )
            }
        }
        entries.sort { $0.nanoseconds > $1.nanoseconds }
        let total = entries.reduce(0) { $0 + $1.nanoseconds }
        if json {
            let objects = entries.map { entry -> [String: Any] in
                [
                    "source": entry.location, "operation": entry.operation, "kernel": entry.kernel,
                    "shape": entry.shape, "milliseconds": entry.nanoseconds / 1e6,
                ]
            }
            print(try JSONFeature.text(["total_milliseconds": total / 1e6, "operations": objects]))
            return
        }
        var table = Table(rightAligned: [0, 1])
        for entry in entries.prefix(lines) {
            let share = entry.nanoseconds / max(total, 1)
            table.add(
                String(format: "%.3f ms", entry.nanoseconds / 1e6),
                String(format: "%.1f %%", share * 100),
                bar(share, width: 12),
                entry.operation,
                entry.kernel,
                entry.shape,
                entry.location
            )
        }
        print(table.text(indent: ""))
        print(String(format: "%.3f ms in %d steps, median of %d runs", total / 1e6, profile.entries.count, runs))
    }
}

extension Profile {
    /// The time of each model in a pipeline, or of a single model that is not a graph.
    private func profileStages(_ engine: any ModelEngine) throws {
        let features = try SampleInputs.features(engine.interface, inputs.input)
        let profile = try failing { () throws(ModelError) in
            try PredictionProfile(of: engine, for: features, runs: runs)
        }
        let stages = PredictionProfile.stages(of: engine)
        let names = engine is Pipeline ? stages.map(\.name) : [source.model]
        let kinds = stages.map { EngineText.kind($0.engine) }
        let medians = profile.entries.map { $0.nanoseconds / 1e6 }
        let total = medians.reduce(0, +)
        if json {
            let objects = zip(zip(names, kinds), medians).map { part, time -> [String: Any] in
                ["source": part.0, "operation": part.1, "milliseconds": time]
            }
            print(try JSONFeature.text(["total_milliseconds": total, "operations": objects] as [String: Any]))
            return
        }
        var table = Table(rightAligned: [0, 1])
        for index in names.indices {
            let share = medians[index] / max(total, .leastNormalMagnitude)
            table.add(
                String(format: "%.4f ms", medians[index]),
                String(format: "%.1f %%", share * 100),
                bar(share, width: 12),
                kinds[index],
                names[index]
            )
        }
        print(table.text(indent: ""))
        print(String(format: "%.4f ms in %d models, median of %d runs", total, names.count, runs))
    }
}

private struct Entry {
    let location: String
    let operation: String
    let kernel: String
    let shape: String
    let nanoseconds: Double
}

extension Entry {
    fileprivate init(_ entry: PredictionProfile.Entry) {
        location = entry.location
        operation = entry.operation
        kernel = entry.kernel
        shape = entry.shapes.map { "\($0)" }.joined(separator: " ")
        nanoseconds = entry.nanoseconds
    }
}
