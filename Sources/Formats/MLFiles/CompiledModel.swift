package import MLNumerics
package import MLSpecification

/// The file `compiled.bin` of a compiled model, which predictions load.
///
/// It holds the interface, the graphs after the portable passes, their constants, and weights packed for kernels
/// (Documentation/Formats/mlmodelc.md).
package final class CompiledModel: Sendable {
    package static let fileName = "compiled.bin"
    /// The version of the file's content.
    ///
    /// It increases with every change of the meaning of an operator's attributes, of the sections, or of the layout of
    /// packed weights.
    package static let version = 4

    /// The names of the sections.
    package enum Section {
        /// The specification without layers and programs.
        package static let interface = "interface"
        /// The names and sizes of the other files that the graphs were made from.
        package static let origin = "origin"
        package static let graphs = "graphs"
        package static let constants = "constants"
        /// The section that locates the packed weights for an instruction set within `packed`.
        package static func packedIndex(_ instructionSet: String) -> String { "index " + instructionSet }
        package static func packed(_ instructionSet: String) -> String { "packed " + instructionSet }
    }

    package let sections: SectionFile
    /// The path of the file; `nil` where nothing may be cached: for encrypted models and archives.
    package let path: String?

    private init(_ sections: SectionFile, path: String?) {
        self.sections = sections
        self.path = path
    }

    /// Opens the compiled form among the files of a compiled model; `nil` when there is none, or only an older version.
    static func open(_ contents: any FolderContents, named name: String) throws(ModelError) -> CompiledModel? {
        guard let storage = try contents.contents(of: fileName) else { return nil }
        return try withErrorContext(name) { () throws(ModelError) in
            let sections = try SectionFile(storage, path: fileName)
            guard sections.version <= version else {
                throw ModelError(
                    .unsupported,
                    "The version of the compiled model is \(sections.version), the newest known here is \(version): "
                        + "compile the model with this version of swift-coreml, or use a newer one.",
                    at: fileName
                )
            }
            guard sections.version == version else { return nil }
            let model = CompiledModel(sections, path: contents.isProtected ? nil : contents.path(of: fileName))
            try model.checkOrigin(contents)
            return model
        }
    }

    /// The specification without layers and programs.
    package func interface() throws(ModelError) -> SpecModel {
        let model = try SpecificationReader.decode(try sections.bytes(Section.interface))
        try SpecificationReader.validate(model)
        return model
    }

    /// Throws when a file beside the compiled form is not the one that it was made from, judged by its size.
    private func checkOrigin(_ contents: any FolderContents) throws(ModelError) {
        var reader = BinaryReader(try sections.bytes(Section.origin))
        for _ in 0..<(try reader.count()) {
            let (name, size) = (try reader.text(), try reader.unsigned())
            guard let path = contents.path(of: name) else { continue }
            guard FileAccess.byteCount(of: path) == size else {
                throw ModelError(
                    .malformed,
                    "'\(name)' is not the file that the model was compiled with; compile the model again.",
                    at: Self.fileName
                )
            }
        }
    }

    /// The content of `Section.origin`.
    package static func origin(of files: [(name: String, byteCount: Int)]) -> [UInt8] {
        var writer = BinaryWriter()
        writer.unsigned(files.count)
        for (name, byteCount) in files {
            writer.text(name)
            writer.unsigned(byteCount)
        }
        return writer.bytes
    }
}

extension SpecModel {
    /// The model without the layers of networks and the bodies of programs, in all stages.
    ///
    /// The operations that name a classifier's labels stay.
    package var withoutGraphs: SpecModel {
        var model = self
        if networkLayers != nil { model.networkLayers = [] }
        if case .mlProgram(var program)? = model.type {
            for (name, function) in program.functions {
                program.functions[name]?.blockSpecializations = function.blockSpecializations.mapValues(
                    \.classification
                )
            }
            model.mlProgram = program
        }
        let stages = stages
        if !stages.isEmpty { model.setStages(stages.map(\.withoutGraphs)) }
        return model
    }
}

extension MILBlock {
    /// The block with nothing but the operation that names a classifier's labels, and the labels.
    fileprivate var classification: MILBlock {
        var kept = self
        var names: Set<String> = []
        for operation in operations where operation.type == "classify" {
            for argument in operation.inputs["classes"]?.arguments ?? [] { names.insert(argument.name) }
        }
        kept.operations = operations.filter { operation in
            operation.type == "classify" || operation.outputs.contains { names.contains($0.name) }
        }
        return kept
    }
}
