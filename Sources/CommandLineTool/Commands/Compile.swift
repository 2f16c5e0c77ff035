import ArgumentParser
import MLCompiler
import MLFiles
import MLNumerics

struct Compile: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compile a model into a .mlmodelc folder.",
        discussion: """
            Example:
              coreml compile Digits.mlpackage build/      makes build/Digits.mlmodelc
            """
    )

    @Argument(help: "A .mlmodel file or a .mlpackage.")
    var model: String
    @Argument(help: "The folder that takes the compiled model.")
    var folder = "."

    func run() throws {
        print(try failing { () throws(ModelError) in try ModelCompiler.compile(path: model, into: folder) })
    }
}

/// Reads a model and writes it again: how scripts prove that nothing is lost on the way.
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
