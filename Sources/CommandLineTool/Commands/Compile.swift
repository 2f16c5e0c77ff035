import ArgumentParser
import MLCompiler
import MLFiles
import MLNumerics

struct Compile: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compile a model into a .mlmodelc folder.",
        discussion: """
            Examples:
              coreml compile Digits.mlpackage build/             makes build/Digits.mlmodelc
              coreml compile Digits.mlpackage build/D.mlmodelc   makes that folder; so does -o build/D.mlmodelc
            """
    )

    @Argument(help: "A .mlmodel file or a .mlpackage.")
    var model: String
    @Argument(
        help: "The compiled model, when the name ends in .mlmodelc; otherwise the folder that takes it, by default '.'."
    )
    var folder: String?
    @Option(name: [.short, .long], help: "The same as the second argument.")
    var output: String?

    func validate() throws {
        guard folder == nil || output == nil else {
            throw ValidationError("the compiled model's place is given twice, as '\(folder ?? "")' and with --output")
        }
    }

    func run() throws {
        let place = FileAccess.withoutTrailingSlash(output ?? folder ?? ".")
        let (ending, name) = (".mlmodelc", FileAccess.name(of: place))
        let isModel = name.hasSuffix(ending) && name.count > ending.count
        print(
            try failing { () throws(ModelError) in
                try ModelCompiler.compile(
                    try ModelFile.open(path: model),
                    named: isModel ? String(name.dropLast(ending.count)) : nil,
                    into: isModel ? FileAccess.folder(of: place) : place
                )
            }
        )
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
