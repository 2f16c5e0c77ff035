import Foundation
import MLEngine
import MLFiles
import MLGraph
import MLLowering
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport

/// Runs captured cases of coremltools' suite: `fixture-runner FOLDER [FILTER] [--verbose] [--reference]`.
///
/// `FILTER` keeps the fixtures whose layer kinds, tests or folders contain it.  `--reference` runs the plain
/// evaluations in place of the engine.  Prints what failed by layer kinds, and the counts.
@main
struct FixtureRunner {
    static func main() throws {
        var words = Array(CommandLine.arguments.dropFirst())
        let isVerbose = words.contains("--verbose")
        let usesReference = words.contains("--reference")
        words.removeAll { $0.hasPrefix("--") }
        guard let root = words.first else {
            print("usage: fixture-runner FOLDER [FILTER] [--verbose] [--reference]")
            return
        }
        let filter = words.count > 1 ? words[1] : ""
        var tally = Tally()
        for fixture in try Fixture.all(in: URL(fileURLWithPath: root)) {
            try run(fixture, filter: filter, usesReference: usesReference, isVerbose: isVerbose, &tally)
        }
        tally.report()
    }

    private static func run(
        _ fixture: Fixture,
        filter: String,
        usesReference: Bool,
        isVerbose: Bool,
        _ tally: inout Tally
    ) throws {
        let cases = try fixture.cases()
        let file: ModelFile
        do { file = try ModelFile.open(path: fixture.modelPath) } catch {
            tally.fail("unreadable", "\(error)", fixture.folder.lastPathComponent)
            return
        }
        let kinds = layerKinds(file.specification)
        let names = [kinds, fixture.folder.lastPathComponent] + cases.map(\.test)
        guard filter.isEmpty || names.contains(where: { $0.contains(filter) }) else { return }
        let model: RunnableModel
        do {
            let function = cases.first?.functionName
            model = try RunnableModel(file, functionName: function, usesReference: usesReference)
        } catch {
            tally.fail(kinds, "load: \(error)", fixture.folder.lastPathComponent, count: max(1, cases.count))
            if isVerbose { print("\(fixture.folder.lastPathComponent) \(kinds): load: \(error)") }
            return
        }
        var states: [String: ModelState] = [:]
        for item in cases {
            do {
                let state = states[item.session] ?? model.makeState()
                states[item.session] = state
                let found = try model.prediction(item.inputs, state: state)
                var failure: String?
                // Random layers are judged by moments, and some tests only expect the compiler to refuse a model.
                let isChecked = !kinds.contains("random") && !item.test.contains("_invalid") && !item.expected.isEmpty
                for (name, wanted) in item.expected.sorted(by: { $0.key < $1.key }) where isChecked {
                    guard let tensor = found[name] else {
                        failure = "output '\(name)' is missing"
                        continue
                    }
                    if let text = item.tolerances[name]?.difference(tensor, wanted) { failure = "'\(name)': \(text)" }
                }
                if let failure {
                    tally.fail(kinds, failure, "\(fixture.folder.lastPathComponent) \(item.test)")
                    if isVerbose { print("\(item.folder.path) \(kinds): \(failure)\n\(item.test)\n\(model.text)") }
                } else if !isChecked {
                    tally.unchecked += 1
                } else {
                    tally.passed += 1
                }
            } catch {
                tally.fail(kinds, "run: \(error)", "\(fixture.folder.lastPathComponent) \(item.test)")
                if isVerbose { print("\(item.folder.path) \(kinds): \(error)\n\(model.text)") }
            }
        }
    }

    /// The kinds of layers in a model, each once, in the order of their first use.
    private static func layerKinds(_ model: SpecModel) -> String {
        let layers: [SpecNeuralNetworkLayer]
        switch model.type {
        case .neuralNetwork(let network): layers = network.layers
        case .neuralNetworkClassifier(let network): layers = network.layers
        case .neuralNetworkRegressor(let network): layers = network.layers
        case .mlProgram(let program):
            var names: [String] = []
            for function in program.functions.values {
                for block in function.blockSpecializations.values { names += block.operations.map(\.type) }
            }
            return names.filter { $0 != "const" }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
                .joined(separator: "+")
        default: return "other"
        }
        var seen: [String] = []
        for layer in layers {
            let kind = layer.fieldName ?? "unknown"
            if !seen.contains(kind) { seen.append(kind) }
        }
        return seen.joined(separator: "+")
    }
}

/// What passed, and what failed for which reason.
private struct Tally {
    var passed = 0
    /// Ran, but the suite states no expected value.
    var unchecked = 0
    private var failed = 0
    private var failures: [String: (count: Int, message: String, place: String)] = [:]

    mutating func fail(_ kinds: String, _ message: String, _ place: String, count: Int = 1) {
        failed += count
        failures[kinds, default: (0, message, place)].count += count
    }

    func report() {
        for (kinds, failure) in failures.sorted(by: { ($1.value.count, $0.key) < ($0.value.count, $1.key) }) {
            print("\(failure.count)\t\(kinds)\n\t\(failure.message)\n\t\(failure.place)")
        }
        print("\(passed) passed, \(failed) failed, \(unchecked) ran without an expected value")
    }
}
