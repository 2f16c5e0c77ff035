import MLFiles
import MLNumerics
package import MLSpecification

/// The layers or operations of a model.
public enum MLModelStructure: Sendable {
    case neuralNetwork(NeuralNetwork)
    case program(Program)
    case pipeline(Pipeline)
    /// A model without layers or operations: a tree ensemble, say.
    case unsupported

    /// A network of layers.
    public struct NeuralNetwork: Sendable {
        public let layers: [Layer]

        public struct Layer: Sendable {
            public let name: String
            /// The name of the layer's kind in the specification, such as `convolution`.
            public let type: String
            public let inputNames: [String]
            public let outputNames: [String]
        }
    }

    /// Models one after another.
    public struct Pipeline: Sendable {
        public let subModelNames: [String]
        public let subModels: [MLModelStructure]
    }

    /// An ML program.
    public struct Program: Sendable {
        public let functions: [String: Function]

        public struct Function: Sendable {
            public let inputs: [NamedValueType]
            public let block: Block
        }

        public struct Block: Sendable {
            public let inputs: [NamedValueType]
            public let operations: [Operation]
            public let outputNames: [String]
        }

        public struct NamedValueType: Sendable {
            public let name: String
            public let type: ValueType
        }

        public struct ValueType: Sendable {
            package let type: MILValueType
        }

        public struct Value: Sendable {
            package let value: MILValue
        }

        public enum Binding: Sendable {
            case name(String)
            case value(Value)
        }

        public struct Argument: Sendable {
            public let bindings: [Binding]
        }

        public struct Operation: Sendable {
            /// The operator's name in MIL, such as `conv`.
            public let operatorName: String
            public let inputs: [String: Argument]
            public let outputs: [NamedValueType]
            public let blocks: [Block]
        }
    }

    /// Reads the structure of a model file or folder.
    public static func load(contentsOf url: URL) async throws -> MLModelStructure {
        try await fetchKey(for: url)
        return try await offPool {
            try translatingErrors { () throws(ModelError) in try ModelFile.open(path: url.path) }
        }
        .structure
    }

    /// Reads the structure of an asset.
    public static func load(asset: MLModelAsset) async throws -> MLModelStructure {
        try await asset.fetchKey()
        return try asset.file().structure
    }
}

extension ModelFile {
    var structure: MLModelStructure { MLModelStructure(specification) }
}

extension MLModelStructure {
    package init(_ model: SpecModel) {
        switch model.type {
        case .neuralNetwork(let network)?: self = .neuralNetwork(NeuralNetwork(network.layers))
        case .neuralNetworkClassifier(let network)?: self = .neuralNetwork(NeuralNetwork(network.layers))
        case .neuralNetworkRegressor(let network)?: self = .neuralNetwork(NeuralNetwork(network.layers))
        case .pipeline(let pipeline)?: self = .pipeline(Pipeline(pipeline))
        case .pipelineClassifier(let pipeline)?: self = .pipeline(Pipeline(pipeline.pipeline))
        case .pipelineRegressor(let pipeline)?: self = .pipeline(Pipeline(pipeline.pipeline))
        case .mlProgram(let program)?:
            self = .program(Program(functions: program.functions.mapValues { Program.Function($0) }))
        default: self = .unsupported
        }
    }
}

extension MLModelStructure.NeuralNetwork {
    init(_ layers: [SpecNeuralNetworkLayer]) {
        self.layers = layers.map { layer in
            // The case of the specification's choice is the name of the layer's field.
            let kind = layer.layer.flatMap { Mirror(reflecting: $0).children.first?.label }
            let type = kind.map { Self.elementwise.contains($0) ? "elementwise" : $0 } ?? "unknown"
            return Layer(name: layer.name, type: type, inputNames: layer.input, outputNames: layer.output)
        }
    }

    /// The kinds that join blobs element by element, which share one type name.
    private static let elementwise: Set<String> = ["add", "average", "max", "min", "multiply"]
}

extension MLModelStructure.Pipeline {
    init(_ pipeline: SpecPipeline) {
        subModelNames = pipeline.models.indices.map {
            $0 < pipeline.names.count ? pipeline.names[$0] : "model\($0)"
        }
        subModels = pipeline.models.map { MLModelStructure($0) }
    }
}

extension MLModelStructure.Program.Function {
    init(_ function: MILFunction) {
        inputs = function.inputs.map { MLModelStructure.Program.NamedValueType($0) }
        block = MLModelStructure.Program.Block(function.blockSpecializations[function.opset] ?? MILBlock())
    }
}

extension MLModelStructure.Program.Block {
    init(_ block: MILBlock) {
        inputs = block.inputs.map { MLModelStructure.Program.NamedValueType($0) }
        operations = block.operations.map { MLModelStructure.Program.Operation($0) }
        outputNames = block.outputs
    }
}

extension MLModelStructure.Program.NamedValueType {
    init(_ value: MILNamedValueType) {
        name = value.name
        type = MLModelStructure.Program.ValueType(type: value.type)
    }
}

extension MLModelStructure.Program.Operation {
    init(_ operation: MILOperation) {
        operatorName = operation.type
        outputs = operation.outputs.map { MLModelStructure.Program.NamedValueType($0) }
        blocks = operation.blocks.map { MLModelStructure.Program.Block($0) }
        inputs = operation.inputs.mapValues { argument in
            MLModelStructure.Program.Argument(
                bindings: argument.arguments.map { binding in
                    switch binding.binding {
                    case .name(let name)?: .name(name)
                    default: .value(MLModelStructure.Program.Value(value: binding.value))
                    }
                }
            )
        }
    }
}
