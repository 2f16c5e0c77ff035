import ArgumentParser
import Foundation
import MLFiles
import MLInspection

struct Validate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "List all problems of a model file with their locations.",
        discussion: """
            Errors make a model fail, be rejected, or behave differently from its description; warnings concern models \
            that work here but may not elsewhere. The command checks the files of a package, the encoding, the interface, \
            labels, every layer and operation separately (so that a wrong one hides no other), weights, the connections of \
            a pipeline, functions, states, update parameters, metadata, and finally whether the model loads.

            Examples:
              coreml validate Digits.mlpackage
              coreml validate Converted.mlmodel --run
              coreml validate Model.mlmodelc --json

            Exit status: 0 no errors (there may be warnings), 1 errors, 64 wrong usage.
            """
    )

    @Argument(help: "A .mlmodel file, a .mlpackage or a compiled .mlmodelc folder.")
    var model: String
    @Flag(name: .customLong("run"), help: "Also predict with generated inputs, and require finite numbers.")
    var runs = false
    @Flag(help: "Print a JSON list of findings: severity, place, message.")
    var json = false

    func run() throws {
        let findings = ModelValidation.findings(at: model, runs: runs)
        let errors = findings.count { $0.severity == .error }
        if json {
            let list = findings.map { finding -> [String: Any] in
                ["severity": finding.severity.rawValue, "place": finding.location, "message": finding.message]
            }
            print(try JSONFeature.text(list))
        } else {
            for finding in findings { print(finding) }
            let warnings = findings.count - errors
            func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
            print(
                findings.isEmpty
                    ? "\(model): nothing is wrong"
                    : "\(model): \(count(errors, "error")), \(count(warnings, "warning"))"
            )
        }
        if errors > 0 { throw ExitCode.failure }
    }
}
