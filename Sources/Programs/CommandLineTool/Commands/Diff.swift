import ArgumentParser
import Foundation
import MLFiles
import MLInspection
import MLNumerics

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two models: interface, metadata, structure, and the change of weights.",
        discussion: """
            Formats may differ (.mlmodel, .mlpackage, .mlmodelc). Operations and layers are matched by their attributes \
            and order, then by name, so that new names alone are not a difference. Weights are compared decoded, whatever \
            their storage: relative distance |a - b| / |a|, largest difference of two values, and cosine, the largest \
            changes first. Models that are not graphs are compared field by field, with the elements of a list combined; \
            of a network and a program only interfaces, metadata and weights are compared, matched by shape and order.

            Examples:
              coreml diff Before.mlpackage After.mlpackage
              coreml diff Digits.mlmodel Updated.mlmodelc --limit 5
              coreml diff Full.mlpackage Palettized.mlpackage --json

            Exit status: 0 no difference, 1 some, 2 a model cannot be read, 64 wrong usage.
            """
    )

    @Argument(help: "A .mlmodel file, a .mlpackage or a compiled .mlmodelc folder.")
    var before: String
    @Argument(help: "The model to compare it with.")
    var after: String
    @Option(help: "The maximum number of differences of a kind to print; 0 for all.")
    var limit = 20
    @Flag(help: "Print JSON, with all differences.")
    var json = false

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit takes numbers from 0") }
    }

    func run() throws {
        let comparison: ModelComparison
        do throws(ModelError) {
            comparison = ModelComparison(try ModelFile.open(path: before), try ModelFile.open(path: after))
        } catch {
            FileHandle.standardError.write(Data("Error: \(error)\n".utf8))
            throw ExitCode(2)
        }
        let text = ComparisonText(comparison, before, after)
        print(try json ? JSONFeature.text(text.object) : text.text(limit: limit == 0 ? .max : limit))
        if !comparison.failures.isEmpty { throw ExitCode(2) }
        if !comparison.isIdentical { throw ExitCode.failure }
    }
}
