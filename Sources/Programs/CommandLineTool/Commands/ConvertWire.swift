import ArgumentParser
import MLFiles
import MLNumerics

/// Reads a model and writes it again, for scripts that verify that nothing is lost.
struct ConvertWire: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert-wire",
        abstract: "Read a model file and write it again.",
        shouldDisplay: false
    )

    @Argument var source: String
    @Argument var target: String

    func run() throws { try failing { () throws(ModelError) in try ModelFile.reserialize(path: source, to: target) } }
}
