import ArgumentParser
import Foundation
import MLFiles
import MLNumerics
import MLSpecification

struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Describe a model: interface, metadata, class labels, how it learns, operations, size.",
        discussion: """
            Of an updatable model it says which layers learn, with which loss and optimizer, and each parameter with its
            default and what an app may choose; of a nearest-neighbours classifier how neighbours are found and vote.
            Operations are counted with those inside branches and loops.

            Examples:
              coreml inspect Digits.mlpackage
              coreml inspect Model.mlmodel --json
            """
    )

    @OptionGroup var source: ModelOptions
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let file = try source.open()
        let facts = ModelFacts(file)
        print(try json ? JSONFeature.text(facts.object) : facts.text)
    }
}

/// What is worth knowing about a model at a glance.
struct ModelFacts {
    private let file: ModelFile
    private let operations: [String: Int]
    private let labels: [String]
    private let byteCount: Int
    private let learning: LearningFacts?

    init(_ file: ModelFile) {
        self.file = file
        var census = Census()
        census.count(file.specification)
        operations = census.operations
        labels = census.labels
        learning = LearningFacts(file.specification)
        byteCount = Self.byteCount(of: file.path)
    }

    private var description: SpecModelDescription { file.specification.description_p }
    private var kind: String {
        guard let type = file.specification.type else { return "empty" }
        return Mirror(reflecting: type).children.first?.label ?? "\(type)"
    }

    private var metadata: [(String, String)] {
        let metadata = description.metadata
        let fields = [
            ("description", metadata.shortDescription), ("author", metadata.author), ("licence", metadata.license),
            ("version", metadata.versionString),
        ]
        return fields.filter { !$0.1.isEmpty } + metadata.userDefined.sorted { $0.key < $1.key }
    }

    private var systems: String {
        guard let systems = SpecificationVersion.systems(file.specification.specificationVersion) else {
            return "unknown"
        }
        return "iOS \(systems.iOS), macOS \(systems.macOS)"
    }

    var text: String {
        var lines = [
            "\(file.path): \(kind), specification \(file.specification.specificationVersion), \(byteText(byteCount))"
        ]
        lines.append("runs on \(systems) and later" + (file.specification.isUpdatable ? "; updatable" : ""))
        func section(_ title: String, _ features: [SpecFeatureDescription]) {
            guard !features.isEmpty else { return }
            var table = Table()
            for feature in features.prefix(40) { table.add(feature.name, feature.typeText, feature.shortDescription) }
            lines.append("\n\(title)")
            lines.append(table.text())
            if features.count > 40 { lines.append("  … and \(features.count - 40) more") }
        }
        section("Inputs", description.input)
        section("Outputs", description.output)
        section("Training inputs", description.trainingInput)
        section("States", description.state)
        for function in description.functions {
            section("Function \(function.name), inputs", function.input)
            section("Function \(function.name), outputs", function.output)
            section("Function \(function.name), states", function.state)
        }
        if !description.predictedFeatureName.isEmpty { lines.append("\nPredicts \(description.predictedFeatureName)") }
        if !labels.isEmpty {
            let shown = labels.prefix(20).joined(separator: ", ")
            lines.append("\n\(labels.count) classes: \(shown)" + (labels.count > 20 ? ", …" : ""))
        }
        if let learning { lines.append("\n\(learning.text)") }
        if !operations.isEmpty {
            var table = Table(rightAligned: [0])
            for (name, count) in operations.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                table.add("\(count)", name)
            }
            let total = operations.values.reduce(0, +)
            lines.append("\n\(total) \(total == 1 ? "operation" : "operations")")
            lines.append(table.text())
        }
        if !metadata.isEmpty {
            var table = Table()
            for (key, value) in metadata { table.add(key, value.split(separator: "\n").joined(separator: " ")) }
            lines.append("\nMetadata")
            lines.append(table.text())
        }
        for item in file.foreignItems { lines.append("\nnot part of the model: \(item)") }
        return lines.joined(separator: "\n")
    }

    var object: [String: Any] {
        func list(_ features: [SpecFeatureDescription]) -> [[String: Any]] {
            features.map {
                [
                    "name": $0.name, "type": $0.typeText, "description": $0.shortDescription,
                    "optional": $0.type.isOptional,
                ]
            }
        }
        var object: [String: Any] = [
            "path": file.path, "kind": kind, "specification": Int(file.specification.specificationVersion),
            "bytes": byteCount,
            "runs_on": systems, "updatable": file.specification.isUpdatable, "inputs": list(description.input),
            "outputs": list(description.output), "training_inputs": list(description.trainingInput),
            "states": list(description.state), "functions": description.functions.map(\.name), "classes": labels,
            "operations": operations, "metadata": Dictionary(metadata, uniquingKeysWith: { first, _ in first }),
        ]
        object["learning"] = learning?.object
        return object
    }

    private static func byteCount(of path: String) -> Int {
        let manager = FileManager.default
        var paths = [path]
        if let inside = manager.enumerator(atPath: path) {
            paths += inside.compactMap { ($0 as? String).map { "\(path)/\($0)" } }
        }
        return paths.reduce(0) { sum, path in
            let attributes = try? manager.attributesOfItem(atPath: path)
            let isFile = attributes?[.type] as? FileAttributeType == .typeRegular
            return sum + (isFile ? (attributes?[.size] as? NSNumber)?.intValue ?? 0 : 0)
        }
    }
}

/// Counts operations and layers, and finds class labels, in a model and the models inside it.
private struct Census {
    var operations: [String: Int] = [:]
    var labels: [String] = []

    mutating func count(_ model: SpecModel) {
        switch model.type {
        case .mlProgram(let program)?:
            for function in program.functions.values {
                if let block = function.blockSpecializations[function.opset] { count(block) }
            }
        case .neuralNetwork(let network)?: count(network.layers)
        case .neuralNetworkRegressor(let network)?: count(network.layers)
        case .neuralNetworkClassifier(let network)?:
            count(network.layers)
            labels = network.stringClassLabels.vector + network.int64ClassLabels.vector.map(String.init)
        case .pipeline(let pipeline)?: count(pipeline)
        case .pipelineClassifier(let pipeline)?: count(pipeline.pipeline)
        case .pipelineRegressor(let pipeline)?: count(pipeline.pipeline)
        case .supportVectorClassifier(let classifier)?:
            labels = classifier.stringClassLabels.vector + classifier.int64ClassLabels.vector.map(String.init)
            operations["support vector", default: 0] +=
                classifier.denseSupportVectors.vectors.count + classifier.sparseSupportVectors.vectors.count
        case .supportVectorRegressor(let regressor)?:
            operations["support vector", default: 0] +=
                regressor.denseSupportVectors.vectors.count + regressor.sparseSupportVectors.vectors.count
        case .kNearestNeighborsClassifier(let classifier)?:
            var known: Set<String> = []
            labels = (classifier.stringClassLabels.vector + classifier.int64ClassLabels.vector.map(String.init))
                .filter { known.insert($0).inserted }
            operations["example", default: 0] += classifier.nearestNeighborsIndex.floatSamples.count
        case .textClassifier(let classifier)?: labels = classifier.stringClassLabels.vector
        case .wordTagger(let tagger)?: labels = tagger.stringTags.vector
        case .gazetteer(let gazetteer)?: labels = gazetteer.stringClassLabels.vector
        case .glmClassifier(let classifier)?:
            labels = classifier.stringClassLabels.vector + classifier.int64ClassLabels.vector.map(String.init)
        case .treeEnsembleClassifier(let classifier)?:
            labels = classifier.stringClassLabels.vector + classifier.int64ClassLabels.vector.map(String.init)
            operations["tree node", default: 0] += classifier.treeEnsemble.nodes.count
        case .treeEnsembleRegressor(let regressor)?:
            operations["tree node", default: 0] += regressor.treeEnsemble.nodes.count
        default: break
        }
    }

    private mutating func count(_ pipeline: SpecPipeline) {
        for model in pipeline.models {
            let kind = model.type.flatMap { Mirror(reflecting: $0).children.first?.label } ?? "empty model"
            operations[kind, default: 0] += 1
            count(model)
        }
    }

    private mutating func count(_ layers: [SpecNeuralNetworkLayer]) {
        for layer in layers {
            let kind = layer.layer.flatMap { Mirror(reflecting: $0).children.first?.label } ?? "empty layer"
            operations[kind, default: 0] += 1
            count(layer.nestedLayers)
        }
    }

    private mutating func count(_ block: MILBlock) {
        for operation in block.operations {
            if operation.type == "classify",
                case .value(let value)? = operation.inputs["classes"]?.arguments.first?.binding
            {
                labels = Self.labels(value)
            }
            if operation.type != "const" { operations[operation.type, default: 0] += 1 }
            operation.blocks.forEach { count($0) }
        }
        for operation in block.operations where operation.type == "classify" && labels.isEmpty {
            guard case .name(let name)? = operation.inputs["classes"]?.arguments.first?.binding,
                let constant = block.operations.first(where: { $0.outputs.first?.name == name })?.attributes["val"]
            else { continue }
            labels = Self.labels(constant)
        }
    }

    private static func labels(_ value: MILValue) -> [String] {
        let tensors = [value.immediateValue.tensor] + value.immediateValue.list.values.map(\.immediateValue.tensor)
        return tensors.flatMap { tensor in
            tensor.strings.values + tensor.longInts.values.map(String.init) + tensor.ints.values.map(String.init)
        }
    }
}
