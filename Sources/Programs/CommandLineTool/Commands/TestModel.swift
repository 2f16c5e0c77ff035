import ArgumentParser
import Foundation
import MLEngine
import MLFeatureFiles
import MLFiles
import MLNumerics
import MLTestVectors

struct TestModel: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Test a model against stored inputs and outputs, before it ships.",
        discussion: """
            Vectors are a .npz, .json or .jsonl file, or a folder (Documentation/TestVectors.md). In Python:

              numpy.savez("cases.npz", x=inputs, y=outputs)     # a row for each case

            A number passes when |got - expected| <= absolute + relative x |expected|; an expected NaN must be NaN. Labels, \
            text, sequences and integers must be equal, and images may differ by a few levels at most. For each case that \
            fails the largest deviation of each output is shown: its position, the expected and the actual value.

            --record runs the inputs (of --vectors, otherwise generated ones) and writes the model's outputs: vectors for \
            testing a changed or converted model.

            Examples:
              coreml test Digits.mlpackage --vectors cases.npz
              coreml test Digits.mlpackage --vectors cases/ --tolerance 1e-2 \\
                --junit report.xml
              coreml test Bert.mlmodelc --vectors answers.json --tolerance logits=1e-3,1e-2
              coreml test Old.mlmodel --record cases.npz && coreml test New.mlpackage \\
                --vectors cases.npz

            Exit status: 0 every case passed, 1 some did not, 2 the model or the vectors cannot be read, 64 wrong usage.
            """
    )

    @OptionGroup var source: RunOptions
    @Option(help: "A .npz, .json or .jsonl file of cases, or a folder.")
    var vectors: String?
    @Option(
        help: ArgumentHelp(
            "The tolerance of numbers, for all outputs or for one: absolute and relative, or one for both. May be repeated.",
            valueName: "[output=]absolute[,relative]"
        )
    )
    var tolerance: [String] = []
    @Option(help: ArgumentHelp("The tolerance of images, in levels of 0 to 255.", valueName: "largest[,mean]"))
    var imageTolerance: String?
    @Option(help: "Write the model's outputs to this .npz, .json or .jsonl file, instead of comparing.")
    var record: String?
    @Option(help: "With --record and without --vectors: the number of cases to generate.")
    var cases = 3
    @Option(help: "Write the results as JUnit XML.")
    var junit: String?
    @Option(help: "The number of worker threads; all cores by default.")
    var threads: Int?
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard vectors != nil || record != nil else {
            throw ValidationError("--vectors is missing: it names the cases to check")
        }
        guard record == nil || junit == nil else {
            throw ValidationError("--record compares nothing; omit --junit")
        }
        guard cases > 0 else { throw ValidationError("--cases takes numbers from 1") }
        _ = try tolerances()
    }

    func run() throws {
        if let threads { InputOptions.limitWorkers(to: threads) }
        let results: [CaseResult]?
        do { results = try self.results() } catch {
            FileHandle.standardError.write(Data("Error: \(error)\n".utf8))
            throw ExitCode(2)
        }
        if results?.contains(where: { !$0.hasPassed }) == true { throw ExitCode.failure }
    }

    /// The results of the cases; `nil` after recording.
    private func results() throws -> [CaseResult]? {
        let engine = try source.engine()
        var read: TestVectors?
        if let vectors { read = try VectorReader(engine.interface).read(vectors) }
        if let record {
            try self.record(read, of: engine, to: record)
            return nil
        }
        guard let read else { return nil }
        guard read.cases.contains(where: { $0.steps.contains { !$0.outputs.isEmpty } }) else {
            throw Failure("\(vectors ?? ""): no case has an expected output")
        }
        let run = VectorRun(engine, read, tolerances: try tolerances())
        var results: [CaseResult] = []
        for test in read.cases {
            let result = run.result(of: test)
            results.append(result)
            if !json { print(result) }
        }
        if let junit {
            let name = URL(fileURLWithPath: source.model).lastPathComponent
            try FileAccess.write(JUnitReport(suite: name, results).text, to: junit)
        }
        let passed = results.count { $0.hasPassed }
        if json {
            Swift.print(try JSONFeature.text(object(results)))
        } else {
            Swift.print("\(passed) of \(results.count) \(results.count == 1 ? "case" : "cases") passed")
        }
        return results
    }

    private func print(_ result: CaseResult) {
        switch result.outcome {
        case .passed: break
        case .failed(let deviations):
            Swift.print("failed: \(result.name)")
            for deviation in deviations { Swift.print("  " + deviation.text(of: result.stepCount)) }
        case .error(let message): Swift.print("failed: \(result.name)\n  \(message)")
        }
    }

    private func object(_ results: [CaseResult]) -> [String: Any] {
        let list = results.map { result -> [String: Any] in
            var object: [String: Any] = ["name": result.name, "passed": result.hasPassed, "seconds": result.seconds]
            switch result.outcome {
            case .passed: break
            case .error(let message): object["error"] = message
            case .failed(let deviations):
                object["deviations"] = deviations.map { entry -> [String: Any] in
                    [
                        "step": entry.step, "output": entry.deviation.output, "message": entry.deviation.message,
                        "place": entry.deviation.location, "expected": entry.deviation.expected,
                        "got": entry.deviation.got, "wrong": entry.deviation.wrong, "count": entry.deviation.count,
                    ]
                }
            }
            return object
        }
        return ["model": source.model, "cases": list, "passed": results.count { $0.hasPassed }, "count": results.count]
    }

    private func record(_ given: TestVectors?, of engine: any ModelEngine, to path: String) throws {
        var recorded = given ?? TestVectors(cases: [])
        if given == nil {
            for index in 0..<cases {
                let inputs = try SampleFeatures.features(of: engine.interface, seed: 42 &+ UInt64(index))
                recorded.cases.append(TestCase(name: "\(index)", steps: [TestStep(inputs: inputs, outputs: [:])]))
            }
        }
        for index in recorded.cases.indices {
            recorded.cases[index] = try VectorRun.recorded(recorded.cases[index], by: engine)
        }
        try VectorWriter.write(recorded, to: path)
        if !json { Swift.print("\(recorded.cases.count) cases written to \(path)") }
    }

    /// The tolerances given on the command line.
    private func tolerances() throws -> ToleranceTable {
        var table = ToleranceTable()
        func numbers(_ text: some StringProtocol, _ option: String) throws -> (Double, Double?) {
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
            guard (1...2).contains(parts.count), let first = parts[0], first >= 0,
                parts.count == 1 || (parts[1] ?? -1) >= 0
            else { throw ValidationError("'\(text)' is not a value of \(option); give one or two numbers from 0") }
            return (first, parts.count == 2 ? parts[1] : nil)
        }
        for text in tolerance {
            if let sign = text.lastIndex(of: "=") {
                let (absolute, relative) = try numbers(text[text.index(after: sign)...], "--tolerance")
                table.outputs[String(text[..<sign])] = Tolerance(absolute: absolute, relative: relative ?? absolute)
            } else {
                let (absolute, relative) = try numbers(text, "--tolerance")
                table.all = Tolerance(absolute: absolute, relative: relative ?? absolute)
            }
        }
        if let imageTolerance {
            let (largest, mean) = try numbers(imageTolerance, "--image-tolerance")
            table.images = ImageTolerance(maximum: largest, mean: mean ?? largest)
        }
        return table
    }
}
