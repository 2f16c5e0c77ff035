package import ArgumentParser
import MLEngine
import MLFiles
import MLNumerics

package struct MetadataCommand: ParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "metadata",
            abstract: "Print a model's metadata.json.",
            discussion: """
                For a compiled folder this is the file in it, for other models the file that compiling would write.

                Examples:
                  coreml metadata Flowers.mlpackage
                  coreml metadata build/Flowers.mlmodelc
                """
        )
    }

    @Argument(help: "A .mlmodel file, a .mlpackage or a compiled .mlmodelc folder.")
    var model: String

    package init() {}

    package func run() throws {
        print(
            try failing { () throws(ModelError) in
                try ModelCompiler.metadata(of: ModelFile.open(path: model), named: ModelName.of(model))
            }
        )
    }
}
