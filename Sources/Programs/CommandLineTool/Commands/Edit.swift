import ArgumentParser
import CoreMLExtras
import Foundation

struct Edit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change a model: make it updatable, rename inputs and outputs, set metadata.",
        discussion: """
            A number is written VALUE, VALUE:MIN...MAX (the values that an app may choose) or, for whole numbers, VALUE:A,B,C.

            Examples:
              coreml edit Digits.mlmodel --updatable linear_0,linear_1 --optimizer adam \\
                --learning-rate 0.001:0...0.1 --epochs 10:1...100 \\
                --output Trainable.mlmodel
              coreml edit Model.mlmodel --updatable fc --loss mse --loss-input y \\
                --loss-shape 10 --output Trainable.mlmodel
              coreml edit Stickers.mlmodel --neighbors 3:1...10 --output Stickers3.mlmodel
              coreml edit Model.mlmodel --rename input_1=image --author "A. Turing" \\
                --output Model2.mlmodel
            """
    )

    @Argument(help: "A .mlmodel file or a .mlpackage.")
    var model: String
    @Option(name: [.short, .long], help: "The changed model: a .mlmodel or .mlpackage.")
    var output: String

    @OptionGroup(title: "Updating") var updating: UpdatingOptions
    @OptionGroup(title: "Metadata") var metadata: MetadataOptions

    @Option(help: ArgumentHelp("Rename an input or output.", valueName: "old=new"))
    var rename: [String] = []
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        do {
            var editor = try ModelEditor(contentsOf: URL(fileURLWithPath: model))
            metadata.apply(to: &editor)
            try updating.apply(to: &editor)
            for pair in try rename.map({ try Self.pair($0, "--rename") }) { try editor.rename(pair.0, to: pair.1) }
            let changed = try editor.finished()
            try changed.write(to: URL(fileURLWithPath: output))
            try report(editor, changed)
        } catch let failure as Failure { throw failure } catch { throw Failure(error.localizedDescription) }
    }

    static func pair(_ text: String, _ option: String) throws -> (String, String) {
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
            throw Failure("\(option) \(text): write name=value.")
        }
        return (String(text[..<sign]), String(text[text.index(after: sign)...]))
    }

    private func report(_ editor: ModelEditor, _ changed: ModelSpecification) throws {
        let foreign = editor.layersOfThisSystem
        if json {
            let facts: [String: Any] = [
                "path": output, "specification": changed.specificationVersion, "updatable": changed.isUpdatable,
                "updatable_layers": editor.updatableLayers, "training_inputs": editor.trainingInputs,
                "updatable_here_only_because_of": foreign,
            ]
            return print(try JSONFeature.text(facts))
        }
        print("\(output): specification \(changed.specificationVersion)" + (changed.isUpdatable ? ", updatable" : ""))
        if !editor.updatableLayers.isEmpty { print("  layers   \(editor.updatableLayers.joined(separator: ", "))") }
        if let loss = editor.loss { print("  loss     \(loss.text)") }
        if let optimizer = editor.optimizer { print("  updates  \(optimizer.text)") }
        if let epochs = editor.epochs { print("  epochs   \(epochs.text)") }
        if let neighbors = editor.neighbors { print("  k        \(neighbors.text)") }
        if !editor.trainingInputs.isEmpty { print("  examples \(editor.trainingInputs.joined(separator: ", "))") }
        if !foreign.isEmpty {
            let note =
                "note: Apple's systems do not propagate gradients through \(editor.layersOfThisSystemText): "
                + "the model can be updated here only\n"
            FileHandle.standardError.write(Data(note.utf8))
        }
    }
}

/// The options for a model's metadata.
struct MetadataOptions: ParsableArguments {
    @Option(help: "The author in the model's metadata.") var author: String?
    @Option(help: "The licence in the model's metadata.") var license: String?
    @Option(name: .customLong("model-version"), help: "The model's version in its metadata.") var version: String?
    @Option(help: "The description of the model.") var description: String?
    @Option(help: ArgumentHelp("A custom metadata entry; an empty value removes it.", valueName: "key=value"))
    var userDefined: [String] = []

    func validate() throws { for text in userDefined { _ = try Edit.pair(text, "--user-defined") } }

    func apply(to editor: inout ModelEditor) {
        var metadata = editor.metadata
        metadata.author = author ?? metadata.author
        metadata.license = license ?? metadata.license
        metadata.version = version ?? metadata.version
        metadata.description = description ?? metadata.description
        for (key, value) in userDefined.compactMap({ try? Edit.pair($0, "--user-defined") }) {
            metadata.userDefined[key] = value.isEmpty ? nil : value
        }
        editor.metadata = metadata
    }
}
