import ArgumentParser

/// `coreml train`: a command for each kind of data.
struct Train: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Train a model from data.",
        discussion: """
            Examples:
              coreml train tabular houses.csv --target price
              coreml train tabular mail.csv --target spam --algorithm boosted-tree --report spam.html
            """,
        subcommands: [TrainTabular.self]
    )
}

/// What all kinds of training take.
struct TrainingOptions: ParsableArguments {
    @Option(name: [.short, .long], help: "Where the model goes: a .mlmodel file or a .mlpackage.")
    var output: String?
    @Option(help: "A folder for checkpoints; the same command run again goes on from them.")
    var resume: String?
    @Option(help: "Iterations between two checkpoints.")
    var checkpointInterval = 10
    @Option(help: "Write a page with scores, learning curve and confusion matrix to this .html file.")
    var report: String?
    @Option(help: "Worker threads; all cores by default.")
    var threads: Int?
    @Flag(help: "Print a JSON object for each iteration and for the end.")
    var json = false

    func validate() throws {
        guard checkpointInterval > 0 else { throw ValidationError("--checkpoint-interval takes numbers from 1") }
        guard threads ?? 1 > 0 else { throw ValidationError("--threads takes numbers from 1") }
        for (name, path, ends) in [
            ("--output", output, [".mlmodel", ".mlpackage"]), ("--report", report, [".html", ".htm"]),
        ] {
            guard let path, !ends.contains(where: path.hasSuffix) else { continue }
            throw ValidationError("\(name) takes a name that ends in \(ends.joined(separator: " or ")), not '\(path)'")
        }
    }
}
