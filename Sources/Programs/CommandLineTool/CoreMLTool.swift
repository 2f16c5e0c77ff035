import ArgumentParser
import CVersion
import CompilerCommands
import DeployCommands
import EncryptedCommands
import MLNumerics

/// The `coreml` command.
@main
struct CoreMLTool: ParsableCommand {
    /// The version of the project (https://semver.org), which the file VERSION states.
    static let version = String(cString: cversion()).filter { !$0.isNewline }

    // Each command states its name: deriving it from the type would make ArgumentParser search all conformances in the
    // program at every start.
    static let configuration = CommandConfiguration(
        commandName: "coreml",
        abstract: "Run, train, inspect and measure Core ML models.",
        discussion: """
            Examples:
              coreml inspect Digits.mlpackage
              coreml predict Digits.mlpackage --input image=three.png
              coreml predict Bert.mlpackage --input input_ids=ids.npy --output answer.npz
              coreml answer --text next.txt 'Who started NeXT?'
              coreml train tabular houses.csv --target price
              coreml evaluate houses.mlmodel sold.csv
              coreml profile ResNet50.mlpackage
              coreml serve models/
              coreml preview Flowers.mlmodel --open
              coreml validate Digits.mlpackage
              coreml test Digits.mlpackage --vectors cases.npz
              coreml edit Digits.mlmodel --updatable linear_1 --output Trainable.mlmodel
              coreml compile Digits.mlpackage build/
              coreml generate Digits.mlpackage Sources/App/

            Called as coremlc or coremlcompiler (by a link of that name), it takes the arguments of Apple's compiler.

            Exit status: 0 success, 1 failure (the model or an input is wrong), 64 wrong usage; commands that compare or \
            check have further codes, listed in their help.
            """,
        version: "coreml \(version)",
        subcommands: [
            Predict.self, AnswerQuestions.self, Serve.self, Preview.self, Evaluate.self, Train.self, Extractors.self,
            Inspect.self, Diff.self,
            Validate.self, TestModel.self, ShowPlan.self, Profile.self, Bench.self,
            CompileCommand<KeyFileEncryption>.self, GenerateCommand.self, MetadataCommand.self, Archive.self, Key.self,
            Sign.self, Verify.self,
            DeployCommand.self, TrustCommand.self,
            Update.self, Edit.self,
            ConvertWire.self,
        ]
    )
}

extension CoreMLTool {
    static func main() {
        if CompilerTool<KeyFileEncryption>.answers(to: CommandLine.arguments.first) {
            CompilerTool<KeyFileEncryption>.main(nil)
        } else {
            main(nil)
        }
    }
}

/// An error message that a command prints on standard error before it exits with status 1.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
