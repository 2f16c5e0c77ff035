package import ArgumentParser

/// The verbs of Apple's compiler of models, under its name: what `coremlc` is, and `coreml` when it is called so.
package struct CompilerTool<Encryption: EncryptedCompiling>: ParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "coremlc",
            abstract: "Compile Core ML models and generate Swift classes for them.",
            discussion: """
                Examples:
                  coremlc compile Flowers.mlpackage build/ --platform ios \\
                    --deployment-target 17.0
                  coremlc generate Flowers.mlpackage Sources/ --language Swift --public-access
                  coremlc metadata Flowers.mlmodelc

                Exit status: 0 success, 1 failure (the model or the target is wrong), 64 wrong usage.
                """,
            subcommands: [CompileCommand<Encryption>.self, GenerateCommand.self, MetadataCommand.self]
        )
    }

    package init() {}

    /// Whether a program that was called as `path` is to be this tool.
    package static func answers(to path: String?) -> Bool {
        guard let name = path?.split(separator: "/").last else { return false }
        return ["coremlc", "coremlc-encrypting", "coremlcompiler"].contains(name)
    }
}
