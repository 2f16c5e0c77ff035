import MLFiles
import MLNumerics
package import MLSpecification

/// The layers or operations of a model, or the models of a pipeline.
public enum MLModelStructure: Sendable {
    /// A network of layers: a neural network, or one that classifies or predicts numbers.
    case neuralNetwork(NeuralNetwork)
    /// An ML program.
    case program(Program)
    /// A pipeline of models.
    case pipeline(Pipeline)
    /// A model without layers or operations, such as a tree ensemble.
    case unsupported

    /// A neural network: a list of layers.
    public struct NeuralNetwork: Sendable {
        /// The layers in the order of the specification.
        public let layers: [Layer]

        /// A layer of a neural network.
        public struct Layer: Sendable {
            /// The layer's name, unique within the network.
            public let name: String
            /// The layer's kind, as the specification names it: `convolution`.
            public let type: String
            /// The names of the values that the layer reads.
            public let inputNames: [String]
            /// The names of the values that the layer writes.
            public let outputNames: [String]
        }
    }

    /// Models that run one after another.
    public struct Pipeline: Sendable {
        /// The names of the models; "model" and the index for one without a name.
        public let subModelNames: [String]
        /// The structures of the models, in order.
        public let subModels: [MLModelStructure]
    }

    /// An ML program.
    public struct Program: Sendable {
        /// The functions by name.
        public let functions: [String: Function]

        /// A function of a program.
        public struct Function: Sendable {
            /// The function's inputs.
            public let inputs: [NamedValueType]
            /// The function's body, for the operator set that the function names.
            public let block: Block
        }

        /// A list of operations with inputs and outputs: the body of a function, or a branch or loop body of an
        /// operation.
        public struct Block: Sendable {
            /// The block's inputs; empty for the body of a function.
            public let inputs: [NamedValueType]
            /// The operations in order, constants included.
            public let operations: [Operation]
            /// The names of the values that the block returns.
            public let outputNames: [String]
        }

        /// The name and type of a value.
        public struct NamedValueType: Sendable {
            /// The value's name, unique within its function.
            public let name: String
            /// The value's type.
            public let type: ValueType
        }

        /// The type of a value; opaque.
        public struct ValueType: Sendable {
            package let type: MILValueType
        }

        /// A constant value; opaque.
        public struct Value: Sendable {
            package let value: MILValue
        }

        /// The binding of an argument: a value of the program or a constant.
        public enum Binding: Sendable {
            /// The value of that name.
            case name(String)
            /// A constant.
            case value(Value)
        }

        /// An argument of an operation.
        public struct Argument: Sendable {
            /// The values bound to the argument; several for an argument that takes a list.
            public let bindings: [Binding]
        }

        /// An operation of a program.
        public struct Operation: Sendable {
            /// The operator's name in MIL: `conv`.
            public let operatorName: String
            /// The arguments by parameter name.
            public let inputs: [String: Argument]
            /// The names and types of the results.
            public let outputs: [NamedValueType]
            /// The nested blocks of conditionals and loops; empty for other operations.
            public let blocks: [Block]
        }
    }

    /// Reads the structure of a compiled folder, a package or a model file.
    ///
    /// - Parameter url: The model.
    /// - Returns: Its structure.
    /// - Throws: `MLModelError` when the model cannot be read or decrypted.
    public static func load(contentsOf url: URL) async throws -> MLModelStructure {
        try await fetchKey(for: url)
        return try await runBlocking {
            try translatingErrors { () throws(ModelError) in try ModelFile.open(path: url.path) }.structure
        }
    }

    /// Reads the structure of an asset.
    ///
    /// - Parameter asset: The model.
    /// - Returns: Its structure.
    /// - Throws: `MLModelError` when the model cannot be read or decrypted.
    public static func load(asset: MLModelAsset) async throws -> MLModelStructure {
        try await asset.fetchKey()
        return try await runBlocking { try asset.file().structure }
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

    /// The kinds that combine values element by element, which share one type name.
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
