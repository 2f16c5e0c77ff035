package import MLFiles
import MLNumerics
package import MLSpecification

extension SpecModel {
    /// The kind of the model: the name of its field, such as `mlProgram` or `pipelineClassifier`.
    package var kindName: String {
        type.flatMap { Mirror(reflecting: $0).children.first?.label } ?? "empty"
    }

    /// Counts the model's own operations; the stages of a pipeline are separate models.
    func countOperations(_ counts: inout [String: Int]) {
        func add(_ layers: [SpecNeuralNetworkLayer]) {
            for layer in layers {
                counts[layer.layer == nil ? "empty layer" : layer.kindName, default: 0] += 1
                add(layer.nestedLayers)
            }
        }
        if let networkLayers { add(networkLayers) }
        switch type {
        case .mlProgram(let program)?:
            for function in program.functions.values {
                function.blockSpecializations[function.opset]?.forEachOperation {
                    if $0.type != "const" { counts[$0.type, default: 0] += 1 }
                }
            }
        case .supportVectorClassifier(let vectors)?:
            counts["support vector", default: 0] +=
                vectors.denseSupportVectors.vectors.count + vectors.sparseSupportVectors.vectors.count
        case .supportVectorRegressor(let vectors)?:
            counts["support vector", default: 0] +=
                vectors.denseSupportVectors.vectors.count + vectors.sparseSupportVectors.vectors.count
        case .kNearestNeighborsClassifier(let classifier)?:
            counts["example", default: 0] += classifier.nearestNeighborsIndex.floatSamples.count
        case .treeEnsembleClassifier(let trees)?: counts["tree node", default: 0] += trees.treeEnsemble.nodes.count
        case .treeEnsembleRegressor(let trees)?: counts["tree node", default: 0] += trees.treeEnsemble.nodes.count
        default: break
        }
        counts = counts.filter { $0.value > 0 }
    }

    /// The classes of custom layers, including those inside branches and loops, and of a custom model; each once, in
    /// order.
    package var customClasses: [String] {
        var names: [String] = []
        func add(_ layers: [SpecNeuralNetworkLayer]) {
            for layer in layers {
                if case .custom(let custom)? = layer.layer, !names.contains(custom.className) {
                    names.append(custom.className)
                }
                add(layer.nestedLayers)
            }
        }
        if let networkLayers { add(networkLayers) }
        if case .customModel(let custom)? = type { names.append(custom.className) }
        return names
    }

    /// The file that a linked model refers to; `nil` for other models.
    var linkedFile: String? {
        guard case .linkedModel(let link)? = type, case .linkedModelFile(let file)? = link.linkType else { return nil }
        let folder = file.linkedModelSearchPath.defaultValue
        let name = file.linkedModelFileName.defaultValue
        return folder.isEmpty ? name : "\(name) in \(folder)"
    }

    /// Calls `body` with the weight file and the offset of every reference to a blob.
    func forEachBlob(_ body: (String, UInt64) -> Void) {
        func look(_ value: MILValue) {
            if case .blobFileValue(let reference)? = value.value { body(reference.fileName, reference.offset) }
        }
        if case .mlProgram(let program)? = type {
            for function in program.functions.values {
                function.blockSpecializations[function.opset]?.forEachOperation { operation in
                    operation.attributes.values.forEach(look)
                    for argument in operation.inputs.values {
                        for case .value(let value)? in argument.arguments.map(\.binding) { look(value) }
                    }
                }
            }
        }
        for stage in stages { stage.forEachBlob(body) }
    }
}

extension ModelFile {
    /// The names of a pipeline's stages.
    var stageNames: [String] {
        let stated = specification.statedStageNames
        return specification.stages.indices.map { stated.indices.contains($0) ? stated[$0] : "model \($0)" }
    }

    /// The parameter tensors of the model itself, excluding a pipeline's stages.
    package func parameterTensors() -> [ParameterTensor] {
        if let layers = specification.networkLayers { return Self.tensors(layers, inside: "") }
        switch specification.type {
        case .mlProgram(let program)?:
            let functions = program.functions.sorted { $0.key < $1.key }
            return functions.flatMap { ProgramConstants(self, $0.value).parameterTensors() }
        case .glmClassifier(let model)?:
            return model.weights.enumerated().map { Self.tensor("weights[\($0)]", $1.value) }
                + [Self.tensor("offset", model.offset)]
        case .glmRegressor(let model)?:
            return model.weights.enumerated().map { Self.tensor("weights[\($0)]", $1.value) }
                + [Self.tensor("offset", model.offset)]
        case .kNearestNeighborsClassifier(let model)?:
            return model.nearestNeighborsIndex.floatSamples.enumerated().map { index, sample in
                let values = sample.vector
                return ParameterTensor(
                    name: "examples[\(index)]",
                    shape: [values.count],
                    count: values.count,
                    storage: ParameterStorage("float32"),
                    byteCount: values.count * 4
                ) { () throws(ModelError) in Tensor(values, shape: [values.count]) }
            }
        default: return []
        }
    }

    private static func tensors(_ layers: [SpecNeuralNetworkLayer], inside prefix: String) -> [ParameterTensor] {
        layers.enumerated().flatMap { index, layer in
            let name = prefix + (layer.name.isEmpty ? "layers[\(index)]" : layer.name)
            return layer.parameterTensors(name) + tensors(layer.nestedLayers, inside: name + " › ")
        }
    }

    private static func tensor(_ name: String, _ values: [Double]) -> ParameterTensor {
        ParameterTensor(
            name: name,
            shape: [values.count],
            count: values.count,
            storage: ParameterStorage("float64"),
            byteCount: values.count * 8
        ) { () throws(ModelError) in Tensor(values: values, scalarType: .float64, shape: [values.count]) }
    }
}

extension SpecModel {
    /// The names that a pipeline states for its models.
    var statedStageNames: [String] {
        switch type {
        case .pipeline(let pipeline)?: pipeline.names
        case .pipelineClassifier(let pipeline)?: pipeline.pipeline.names
        case .pipelineRegressor(let pipeline)?: pipeline.pipeline.names
        default: []
        }
    }
}

extension ClassLabels {
    /// The distinct labels of a classifier, tagger or detector; for a pipeline those of its last model that has any.
    package init?(inside model: SpecModel) {
        func unique(_ labels: ClassLabels) -> ClassLabels {
            switch labels {
            case .strings(let labels):
                var known: Set<String> = []
                return .strings(labels.filter { known.insert($0).inserted })
            case .integers(let labels):
                var known: Set<Int64> = []
                return .integers(labels.filter { known.insert($0).inserted })
            }
        }
        var found: ClassLabels?
        switch model.type {
        case .wordTagger(let tagger)?: found = .strings(tagger.stringTags.vector)
        case .gazetteer(let gazetteer)?: found = .strings(gazetteer.stringClassLabels.vector)
        case .nonMaximumSuppression(let detector)?:
            found =
                detector.int64ClassLabels.vector.isEmpty
                ? .strings(detector.stringClassLabels.vector) : .integers(detector.int64ClassLabels.vector)
        case .kNearestNeighborsClassifier?: found = ClassLabels(of: model).map(unique)
        default:
            found = ClassLabels(of: model) ?? model.stages.lazy.compactMap { ClassLabels(inside: $0) }.last
        }
        guard let found, found.count > 0 else { return nil }
        self = found
    }

    package var count: Int {
        switch self {
        case .strings(let labels): labels.count
        case .integers(let labels): labels.count
        }
    }

    /// The labels as texts.
    package var texts: [String] {
        switch self {
        case .strings(let labels): labels
        case .integers(let labels): labels.map { "\($0)" }
        }
    }
}
