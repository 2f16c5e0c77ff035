package import MLNumerics
package import MLSpecification

/// An opened model: the decoded specification and the weight files that its programs refer to.
///
/// Opening decodes the specification once and maps weight files when they are first used; both are immutable, so a
/// model file can be shared and copied freely.
package struct ModelFile: Sendable {
    /// The kind of file or data that the model was opened from.
    package enum Form: Sendable {
        /// A `.mlmodel` file: a specification that holds its weights.
        case model
        /// A `.mlpackage` folder: manifest, specification, weight files.
        case package
        /// A compiled folder, as `ModelCompiler` writes it.
        case compiled
        /// Data in memory.
        case memory
    }

    /// The path of the model, as the caller wrote it; a name for models in memory.
    package let path: String
    package let form: Form
    package let specification: SpecModel
    package let weights: WeightFiles
    /// The files of a compiled model; `nil` for all other forms, and for models derived from a compiled one.
    package let contents: (any FolderContents)?
    /// The file that the specification was read from.
    ///
    /// It is `nil` for stages, and for models in memory, in archives and encrypted ones.
    package let specificationPath: String?
    /// Files in a package that its manifest does not list; they are ignored.
    package let unlistedItems: [String]
    /// The graphs of a compiled model that was opened for predictions; `specification` then lacks layers and programs.
    package let compiled: CompiledModel?
    /// The file with the large weights of a model opened for predictions (`PlacedWeights`).
    let source: MappedFile?
    /// The position of a stage of a pipeline: the indices in the pipelines around it, outermost first, separated by
    /// dots.
    ///
    /// It is empty for a whole model.
    package let stagePath: String

    init(
        path: String,
        form: Form,
        specification: SpecModel,
        weights: WeightFiles,
        contents: (any FolderContents)? = nil,
        specificationPath: String? = nil,
        unlistedItems: [String] = [],
        compiled: CompiledModel? = nil,
        stagePath: String = "",
        source: MappedFile? = nil
    ) {
        self.path = path
        self.form = form
        self.specification = specification
        self.weights = weights
        self.contents = contents
        self.specificationPath = specificationPath
        self.unlistedItems = unlistedItems
        self.compiled = compiled
        self.stagePath = stagePath
        self.source = source
    }

    /// Makes a model in memory.
    ///
    /// `blobs` are its weight files by name, such as `@model_path/weights/weight.bin`.
    package init(
        specification bytes: [UInt8],
        blobs: [String: [UInt8]] = [:],
        path: String = "model in memory"
    ) throws(ModelError) {
        let specification = try withErrorContext(path) { () throws(ModelError) in
            let model = try SpecificationReader.decode(bytes)
            try SpecificationReader.validate(model)
            return model
        }
        self.init(path: path, form: .memory, specification: specification, weights: WeightFiles(blobs: blobs))
    }

    /// Makes a model from a specification that was just built.
    package init(
        specification: SpecModel,
        blobs: [String: [UInt8]] = [:],
        path: String = "model in memory"
    ) {
        self.init(path: path, form: .memory, specification: specification, weights: WeightFiles(blobs: blobs))
    }

    /// Makes a model in memory with weight files that exist.
    package init(specification: SpecModel, weights: WeightFiles, path: String = "model in memory") {
        self.init(path: path, form: .memory, specification: specification, weights: weights)
    }

    /// Models that become the stages of one: their specifications, in which weight files have names that differ, and
    /// the weight files by these names.
    ///
    /// The files of the model at index 1 are `weights/1-…`, as in pipelines that coremltools makes.
    ///
    /// - Throws: An error for a weight file outside the folder `weights`.
    package static func stages(
        of models: [ModelFile]
    ) throws(ModelError) -> (specifications: [SpecModel], weights: WeightFiles) {
        var specifications: [SpecModel] = []
        var references: [String: WeightFiles.Reference] = [:]
        for (index, model) in models.enumerated() {
            var names: [String: String] = [:]
            for name in model.specification.weightFileNames {
                let inner = try model.nameInWeights(name)
                names[name] = "@model_path/weights/\(index)-\(inner)"
                references["@model_path/weights/\(index)-\(inner)"] = .init(files: model.weights, name: name)
            }
            specifications.append(names.isEmpty ? model.specification : model.specification.renamingWeightFiles(names))
        }
        return (specifications, WeightFiles(references: references))
    }

    /// The name within the folder `weights` of the file that a program refers to as `fileName`.
    func nameInWeights(_ fileName: String) throws(ModelError) -> String {
        let relative = try weights.relativeName(fileName)
        guard relative.hasPrefix("weights/") else {
            throw ModelError(
                .unsupported,
                "The weight file \"\(fileName)\" cannot be taken over: only files of a package's folder \"weights\" can.",
                at: path
            )
        }
        return String(relative.dropFirst("weights/".count))
    }

    /// A model inside this one, such as a stage of a pipeline: its own specification, the same weight files.
    ///
    /// `index` is its index in the pipeline.
    package func stage(_ specification: SpecModel, named name: String, index: Int = 0) -> ModelFile {
        ModelFile(
            path: path + " › " + name,
            form: form,
            specification: specification,
            weights: weights,
            contents: contents,
            compiled: compiled,
            stagePath: stagePath.isEmpty ? "\(index)" : stagePath + ".\(index)",
            source: source
        )
    }

    /// Whether `specification` lacks parts that predictions do not need; see `Purpose`.
    package var isForPrediction: Bool { compiled != nil || source != nil }

    /// The same model or stage with its complete specification, when it was opened for predictions.
    package func whole() throws(ModelError) -> ModelFile {
        var file: ModelFile
        if compiled != nil, let contents {
            file = try Self.openCompiled(contents, in: weights.folders.first ?? ".", named: path)
        } else if let source {
            file = try Self.open(path: source.path)
        } else {
            return self
        }
        for location in stagePath.split(separator: ".").compactMap({ Int($0) }) {
            let stages = file.specification.stages
            guard stages.indices.contains(location) else {
                throw ModelError(
                    .malformed,
                    "The specification has no stage \(location); compile the model again.",
                    at: path
                )
            }
            file = file.stage(stages[location], named: "stage \(location)", index: location)
        }
        return file
    }

    /// The same model in memory with another specification, the same weight files and the same folder.
    package func replacing(_ specification: SpecModel) -> ModelFile {
        ModelFile(path: path, form: form, specification: specification, weights: weights, source: source)
    }

    /// The same model with the shapes of its array inputs fixed, in the interface and in the functions.
    package func fixed(to shapes: [String: [Int]]) -> ModelFile {
        ModelFile(
            path: path,
            form: form,
            specification: specification.fixed(to: shapes),
            weights: weights,
            specificationPath: specificationPath,
            source: source
        )
    }

    /// The folder in which linked models are searched; `nil` for models in memory.
    package var folder: String? {
        switch form {
        case .model: FileAccess.folder(of: path)
        case .package, .compiled: weights.folders.first
        case .memory: nil
        }
    }

    /// Whether the model is secret because it was encrypted, so that no part of it may be written in the clear.
    package var isProtected: Bool { weights.isProtected }

    /// Throws for a secret model; `purpose` names the operation that would write it in the clear, such as "saving".
    package func requireUnprotected(_ purpose: String) throws(ModelError) {
        guard isProtected else { return }
        throw ModelError(
            .unsupported,
            "The model is encrypted, and \(purpose) would write it in the clear; use the model that it was made from.",
            at: path
        )
    }

    /// The weight blob that a MIL constant refers to.
    package func blob(fileName: String, offset: UInt64) throws(ModelError) -> WeightBlob {
        try withErrorContext(path) { () throws(ModelError) in try weights.file(fileName).blob(at: offset) }
    }
}
