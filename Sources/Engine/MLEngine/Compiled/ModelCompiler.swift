package import MLFiles
package import MLNumerics
import MLSpecification

/// Compiles a model file or package into a folder (`.mlmodelc`), which `ModelFile.open` opens.
///
/// The folder holds
/// - `specification.bin`: the specification as in a `.mlmodel` file;
/// - `metadata.json`: the interface as text, for readers that do not decode the specification;
/// - `model.mil`: the program of an ML program as text; for a pipeline, `model0/model.mil` for its first stage, …;
/// - `weights/…`: the weight files that programs refer to, by the same relative names;
/// - `compiled.bin`: the graphs of neural networks and ML programs after the portable passes, and their weights packed
///   for the kernels of this machine (`CompiledModel`). Predictions load from it.
///
/// Weight files are hard links where the file system allows it. The folder appears complete or not at all.
package enum ModelCompiler {
    /// Compiles the model at `path`.
    ///
    /// - Parameters:
    ///   - path: A model file or a package; a compiled folder is an error.
    ///   - folder: The folder to write to; `nil` for a new temporary folder.
    ///   - notice: Receives the reason why a model with graphs is compiled without them, and so is read from its
    ///     specification when it is loaded.
    /// - Returns: The path of the compiled folder, named after the model.
    /// - Throws: `ModelError` when the model is invalid or a file cannot be read or written.
    package static func compile(
        path: String,
        into folder: String? = nil,
        notice: (String) -> Void = { _ in }
    ) throws(ModelError) -> String {
        try compile(try ModelFile.open(path: path), into: folder, notice: notice)
    }

    /// Compiles an opened model.
    ///
    /// - Parameters:
    ///   - file: The model; a compiled one is an error.
    ///   - name: The name of the compiled folder without `.mlmodelc`; `nil` for that of the model's path.
    ///   - folder: The folder to write to; `nil` for a new temporary folder.
    ///   - notice: Receives the reason why a model with graphs is compiled without them.
    /// - Returns: The path of the compiled folder.
    /// - Throws: `ModelError` when the model is invalid or a file cannot be read or written.
    package static func compile(
        _ file: ModelFile,
        named name: String? = nil,
        into folder: String? = nil,
        notice: (String) -> Void = { _ in }
    ) throws(ModelError) -> String {
        guard file.form != .compiled else {
            throw ModelError(.invalidInput, "The model is compiled already; load it as it is.", at: file.path)
        }
        let parent: String
        if let folder { parent = folder } else { parent = try FileAccess.makeTemporaryFolder("coreml") }
        let name = name ?? baseName(file)
        let target = parent + "/" + name + ".mlmodelc"
        try FileAccess.replaceFolder(target) { (temporary) throws(ModelError) in
            try withErrorContext(file.path) { () throws(ModelError) in
                try build(file, named: name, in: temporary, notice: notice)
            }
        }
        return target
    }

    static func build(
        _ file: ModelFile,
        named name: String,
        in folder: String,
        notice: (String) -> Void = { _ in }
    ) throws(ModelError) {
        let specification = folder + "/" + ModelFile.compiledSpecificationName
        if let source = file.specificationPath {
            try FileAccess.copy(source, to: specification)
        } else {
            try ModelFile.writeModel(file.specification, to: specification)
        }
        try FileAccess.write(CompiledMetadata.json(file.specification, named: name).text, to: folder + "/metadata.json")
        try writePrograms(file.specification, in: folder)
        var origin = [ModelFile.compiledSpecificationName]
        for name in file.specification.weightFileNames.sorted() {
            let relative = try file.weights.relativeName(name)
            origin.append(relative)
            let target = folder + "/" + relative
            try FileAccess.makeFolder(FileAccess.folder(of: target))
            if let source = try file.weights.path(name) {
                try FileAccess.linkOrCopy(source, to: target)
            } else {
                let weights = try file.weights.file(name)
                try weights.storage.withBytes { (bytes) throws(ModelError) in
                    try FileAccess.write(bytes.bytes, to: target)
                }
            }
        }
        if let reason = try CompiledModelWriter.write(to: folder, origin: origin) { notice(reason) }
    }

    private static func writePrograms(_ model: SpecModel, in folder: String) throws(ModelError) {
        if case .mlProgram(let program)? = model.type {
            try FileAccess.makeFolder(folder)
            try FileAccess.write(try MILPrinter.text(program), to: folder + "/model.mil")
        }
        for (index, stage) in model.stages.enumerated() {
            try writePrograms(stage, in: folder + "/model\(index)")
        }
    }

    private static func baseName(_ file: ModelFile) -> String {
        guard file.form != .memory else { return "model" }
        let name = FileAccess.name(of: file.path)
        for suffix in [".mlmodel", ".mlpackage"] where name.hasSuffix(suffix) && name.count > suffix.count {
            return String(name.dropLast(suffix.count))
        }
        return name
    }
}
