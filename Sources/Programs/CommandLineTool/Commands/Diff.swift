import ArgumentParser
import Foundation
import MLFiles
import MLInspection
import MLNumerics

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say how two models differ: interface, metadata, structure, and how far weights moved.",
        discussion: """
            Forms may differ (.mlmodel, .mlpackage, .mlmodelc). Operations and layers belong together by what they say
            and their order, then by name, so new names alone are no difference. Weights are compared decoded, whatever
            their storage: relative distance |a - b| / |a|, largest difference of two values, and cosine, those that moved
            furthest first. Models that are no graphs are compared field by field, the elements of a list together; of a
            network and a program only interfaces, metadata and weights, those of a shape in their order.

            Examples:
              coreml diff Before.mlpackage After.mlpackage
              coreml diff Digits.mlmodel Updated.mlmodelc --limit 5
              coreml diff Full.mlpackage Palettized.mlpackage --json

            Exit status: 0 no difference, 1 some, 2 a model cannot be read, 64 wrong usage.
            """
    )

    @Argument(help: "A .mlmodel file, a .mlpackage or a compiled .mlmodelc folder.")
    var before: String
    @Argument(help: "The model to hold against it.")
    var after: String
    @Option(help: "How many differences of a kind to print; 0 for all.")
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
