package import MLFiles
package import MLNumerics
import MLSpecification

/// Writes the source of the classes that stand for a model: its input, output and state, what it learns from, and the
/// model itself, which loads and predicts.
///
/// The source is a function of the interface and the options alone: weights have no part in it.
package enum ClassGenerator {
    /// The source for a model.
    ///
    /// - Parameters:
    ///   - file: The model.
    ///   - name: The name of the model's file without its extension, which is also that of its compiled folder.
    ///   - options: The visibility and form of the generated class.
    /// - Returns: The text of a Swift file.
    /// - Throws: An error when the interface has a feature that Swift has no type for, or two features of one name.
    package static func source(
        of file: ModelFile,
        named name: String,
        options: GenerationOptions = GenerationOptions()
    ) throws(ModelError) -> String {
        let model = file.specification
        let interfaces = try withErrorContext(file.path) { () throws(ModelError) in
            try GeneratedInterface.all(model, named: name)
        }
        var writer = SourceWriter()
        writer.add("// \(SourceText.line(name)).swift")
        writer.add("// Written by coreml generate, which replaces what is changed here when it writes it again.")
        writer.add("// swift-format-ignore-file")
        writer.add("// swiftlint:disable all")
        writer.add("")
        writer.add(options.swift.importKeyword(isPublic: options.isPublic) + " CoreML")
        for interface in interfaces {
            let types = TypeWriter(
                interface: interface,
                options: options,
                availability: Availability(model, needs: interface.neededVersion),
                resource: name,
                description: classComment(model, interface, name)
            )
            types.write(to: &writer)
        }
        return writer.text
    }

    private static func classComment(_ model: SpecModel, _ interface: GeneratedInterface, _ name: String) -> [String] {
        let metadata = model.description_p.metadata
        var lines = SourceText.comment(metadata.shortDescription)
        if !lines.isEmpty { lines.append("///") }
        var sentence = "/// The model \(SourceText.line(name))"
        if let function = interface.functionName { sentence += ", its function \(SourceText.line(function))" }
        lines.append(sentence + ".")
        for (title, text) in [
            ("Author", metadata.author), ("Licence", metadata.license), ("Version", metadata.versionString),
        ] {
            let text = SourceText.line(text)
            if !text.isEmpty { lines += ["///", "/// \(title): \(text)"] }
        }
        return lines
    }
}
