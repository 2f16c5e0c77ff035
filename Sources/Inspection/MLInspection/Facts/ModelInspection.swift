import MLEngine
import MLFeatureFiles
package import MLFiles
import MLLowering
package import MLNumerics
package import MLSpecification

/// Facts about a model, read from its file and computed from its graph.
package struct ModelInspection: Sendable {
    package let path: String
    package let specification: SpecModel
    /// The model; for a pipeline it contains the pipeline's models.
    package let root: ModelPart
    /// The bytes of everything at `path`.
    package let byteCount: Int
    package let weightFiles: [WeightFileFacts]
    /// Files in a package that do not belong to the model.
    package let unlistedItems: [String]

    package init(_ file: ModelFile) {
        path = file.path
        specification = file.specification
        root = ModelPart(file, named: "")
        byteCount = file.form == .memory ? 0 : FileSizes.byteCount(at: file.path)
        weightFiles = WeightFileFacts.all(of: file)
        unlistedItems = file.unlistedItems
    }

    /// The systems that support the version that the file states; `nil` for an unknown version.
    package var statedSystems: SpecificationVersion.Systems? {
        SpecificationVersion.systems(specification.specificationVersion)
    }

    /// The lowest version that supports everything the model uses.
    package var neededVersion: Int32 { SpecificationVersion.minimum(specification) }

    /// The parameters of all parts; shared bytes are counted once.
    package var parameters: ParameterSummary { ParameterSummary(root.all.flatMap(\.tensors)) }

    /// The number of operations and layers of all parts by kind, the most frequent first; a pipeline's models are
    /// counted as well.
    package var histogram: [(kind: String, count: Int)] {
        var counts: [String: Int] = [:]
        for part in root.all {
            counts.merge(part.operations) { $0 + $1 }
            for stage in part.stages { counts[stage.kind, default: 0] += 1 }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    /// The computational cost of one prediction, for every part that is a graph.
    package var costs: [(part: ModelPart, cost: Result<ComputeCost, ModelError>)] {
        root.all.compactMap { part in part.cost.map { (part, $0) } }
    }
}

/// A model, or one of a pipeline.
package struct ModelPart: Sendable {
    /// The name in the enclosing pipeline; empty for the model of a file.
    package let name: String
    package let kind: String
    package let specificationVersion: Int32
    package let description: SpecModelDescription
    package let labels: ClassLabels?
    /// The number of operations or layers of each kind, including those inside branches and loops.
    package let operations: [String: Int]
    package let tensors: [ParameterTensor]
    /// `nil` for models that are not graphs.
    package let cost: Result<ComputeCost, ModelError>?
    package let functions: [FunctionFacts]
    package let stages: [ModelPart]
    /// The classes that an app must implement for custom layers and models.
    package let customClasses: [String]
    /// The file that a linked model refers to.
    package let link: String?

    init(_ file: ModelFile, named name: String) {
        let model = file.specification
        self.name = name
        kind = model.kindName
        specificationVersion = model.specificationVersion
        description = model.description_p
        labels = ClassLabels(inside: model)
        var counts: [String: Int] = [:]
        model.countOperations(&counts)
        operations = counts
        functions = FunctionFacts.all(of: file)
        tensors = model.type.map { _ in file.parameterTensors() } ?? []
        stages = zip(model.stages, file.stageNames).map { ModelPart(file.stage($0, named: $1), named: $1) }
        customClasses = model.customClasses
        link = model.linkedFile
        switch model.type {
        case .mlProgram?, .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?:
            cost = Result { () throws(ModelError) in try ComputeCost(of: file) }
        default: cost = nil
        }
    }

    /// This part and all parts inside it.
    package var all: [ModelPart] { [self] + stages.flatMap(\.all) }
}

/// One function of a program.
package struct FunctionFacts: Sendable {
    package let name: String
    package let isDefault: Bool
    package let opset: String
    package let operationCount: Int
    package let parameterCount: Int
    package let states: [String]

    static func all(of file: ModelFile) -> [FunctionFacts] {
        guard case .mlProgram(let program)? = file.specification.type else { return [] }
        let description = file.specification.description_p
        let defaultName = description.defaultFunctionName.isEmpty ? "main" : description.defaultFunctionName
        return program.functions.sorted { $0.key < $1.key }.map { name, function in
            var count = 0
            function.blockSpecializations[function.opset]?.forEachOperation { if $0.type != "const" { count += 1 } }
            return FunctionFacts(
                name: name,
                isDefault: name == defaultName,
                opset: MILOpset(function.opset)?.textName ?? function.opset,
                operationCount: count,
                parameterCount: ParameterSummary(ProgramConstants(file, function).parameterTensors()).parameters,
                states: function.inputs.filter {
                    $0.type.type.map { if case .stateType = $0 { true } else { false } } ?? false
                }
                .map(\.name)
            )
        }
    }
}

/// A weight file and its use.
package struct WeightFileFacts: Sendable {
    /// The name in the program.
    package let name: String
    package let byteCount: Int
    /// The number of blobs that the file's header states.
    package let blobs: Int
    /// The number of blobs that the program refers to, and the number of references to them.
    package let usedBlobs: Int
    package let references: Int
    /// The reason why the file cannot be read.
    package let failure: ModelError?

    static func all(of file: ModelFile) -> [WeightFileFacts] {
        var references: [String: [UInt64: Int]] = [:]
        file.specification.forEachBlob { name, offset in references[name, default: [:]][offset, default: 0] += 1 }
        return references.sorted { $0.key < $1.key }.map { name, offsets in
            let (used, count) = (offsets.count, offsets.values.reduce(0, +))
            do throws(ModelError) {
                let weights = try file.weights.file(name)
                return WeightFileFacts(
                    name: name,
                    byteCount: weights.storage.byteCount,
                    blobs: weights.blobCount,
                    usedBlobs: used,
                    references: count,
                    failure: nil
                )
            } catch {
                return WeightFileFacts(
                    name: name,
                    byteCount: 0,
                    blobs: 0,
                    usedBlobs: used,
                    references: count,
                    failure: error
                )
            }
        }
    }
}

extension ComputeCost {
    /// The cost of a model that is a graph, with flexible inputs in the first shapes that it states.
    package init(of file: ModelFile, functionName: String? = nil) throws(ModelError) {
        let interface = file.specification.description_p.interface(of: functionName)
        do throws(ModelError) {
            try self.init(EngineLoader.lower(file, functionName: functionName), interface: interface)
        } catch {
            // A rank depends on an extent: read the model again with fixed shapes.
            guard error.code == .unknownRank else { throw error }
            var shapes: [String: [Int]] = [:]
            for input in interface.input {
                guard case .multiArrayType(let array)? = input.type.type else { continue }
                shapes[input.name] = SampleFeatures.defaultShape(array)
                try MemoryLimit.require(shapes[input.name] ?? [], bitWidth: 64)
            }
            let fixed = file.fixed(to: shapes)
            try self.init(EngineLoader.lower(fixed, functionName: functionName), interface: interface)
        }
    }
}

/// The sizes of files.
enum FileSizes {
    /// The size in bytes of a file, or of all files in a folder; unreadable files count as 0.
    static func byteCount(at path: String, depth: Int = 0) -> Int {
        switch FileAccess.kind(of: path) {
        case .file: return (try? MappedFile(path))?.storage.byteCount ?? 0
        case .folder where depth < 16:
            let names = (try? FileAccess.names(in: path)) ?? []
            let folder = FileAccess.withoutTrailingSlash(path)
            return names.reduce(0) { $0 + byteCount(at: "\(folder)/\($1)", depth: depth + 1) }
        case .folder, .other, nil: return 0
        }
    }
}
