import MLSpecification

/// The operations or layers of a model, and the types of values and weights, as `metadata.json` counts them.
///
/// The models of a pipeline are counted together.
struct CompiledCensus {
    private var operations: [String: Int] = [:]
    private var layers: [String: Int] = [:]
    private var computed: Set<String> = []
    private var stored: Set<String> = []

    /// Counts a model; `function` is the only function to count, `nil` for all.
    init(_ model: SpecModel, function: String? = nil) { add(model, function) }

    /// The members for everything that was found.
    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if !operations.isEmpty { members.append(.init("mlProgramOperationTypeHistogram", histogram(operations))) }
        if !layers.isEmpty { members.append(.init("neuralNetworkLayerTypeHistogram", histogram(layers))) }
        if let precision = precision(computed) { members.append(.init("computePrecision", precision)) }
        if let precision = precision(stored) { members.append(.init("storagePrecision", precision)) }
        return members
    }

    private func histogram(_ counts: [String: Int]) -> JSONValue {
        .object(counts.sorted { $0.key < $1.key }.map { .init($0.key, .number(Double($0.value))) })
    }

    private func precision(_ types: Set<String>) -> JSONValue? {
        guard let first = types.first else { return nil }
        return .string(types.count == 1 ? first : "Mixed (\(types.sorted().joined(separator: ", ")))")
    }

    private mutating func add(_ model: SpecModel, _ function: String?) {
        if case .mlProgram(let program)? = model.type {
            for (name, body) in program.functions where function == nil || name == function {
                if let block = body.blockSpecializations[body.opset] { add(block) }
            }
        }
        if let network = model.networkLayers {
            computed.insert("Float16")
            for layer in network { add(layer) }
        }
        for stage in model.stages { add(stage, nil) }
    }

    // MARK: Programs

    private mutating func add(_ block: MILBlock) {
        for operation in block.operations {
            if operation.type != "const" {
                operations[operation.type, default: 0] += 1
                for output in operation.outputs { add(output.type.tensorType.dataType) }
            }
            for value in operation.attributes.values { addStored(value) }
            for argument in operation.inputs.values {
                for case .value(let value)? in argument.arguments.map(\.binding) { addStored(value) }
            }
            for block in operation.blocks { add(block) }
        }
    }

    /// Counts a value type; Booleans and strings have no precision.
    private mutating func add(_ type: MILDataType) {
        switch type {
        case .bool, .string, .unusedType, .UNRECOGNIZED: break
        default: computed.insert(Self.name(type))
        }
    }

    private mutating func addStored(_ value: MILValue) {
        if case .blobFileValue? = value.value { stored.insert(Self.name(value.type.tensorType.dataType)) }
    }

    /// The name of the specification's case, such as `Float16`.
    private static func name(_ type: MILDataType) -> String {
        let name = "\(type)"
        guard let first = name.first else { return name }
        return name.hasPrefix("uint") ? "UI" + name.dropFirst(2) : first.uppercased() + name.dropFirst()
    }

    // MARK: Networks

    private mutating func add(_ layer: SpecNeuralNetworkLayer) {
        layers[Self.name(layer), default: 0] += 1
        for weights in Self.weights(of: layer) where !weights.isEmpty {
            if weights.hasQuantization {
                stored.insert("UInt\(weights.quantization.numberOfBits)")
            } else {
                stored.insert(weights.floatValue.isEmpty ? "Float16" : "Float32")
            }
        }
        for inner in layer.nestedLayers { add(inner) }
    }

    /// The weights of the kinds of layers that hold nearly all of a network's weights.
    private static func weights(of layer: SpecNeuralNetworkLayer) -> [SpecWeightParams] {
        switch layer.layer {
        case .convolution(let layer)?: [layer.weights, layer.bias]
        case .innerProduct(let layer)?: [layer.weights, layer.bias]
        case .batchedMatmul(let layer)?: [layer.weights, layer.bias]
        case .embedding(let layer)?: [layer.weights, layer.bias]
        case .embeddingNd(let layer)?: [layer.weights, layer.bias]
        case .batchnorm(let layer)?: [layer.gamma, layer.beta, layer.mean, layer.variance]
        case .scale(let layer)?: [layer.scale, layer.bias]
        case .bias(let layer)?: [layer.bias]
        case .loadConstant(let layer)?: [layer.data]
        case .loadConstantNd(let layer)?: [layer.data]
        case .uniDirectionalLstm(let layer)?: [layer.weightParams.inputGateWeightMatrix]
        case .biDirectionalLstm(let layer)?: layer.weightParams.map(\.inputGateWeightMatrix)
        case .gru(let layer)?: [layer.updateGateWeightMatrix]
        case .simpleRecurrent(let layer)?: [layer.weightMatrix]
        default: []
        }
    }

    /// The kind of a layer as Apple's tools name it: `Convolution`, `ActivationReLU`, `PoolingMax`.
    private static func name(_ layer: SpecNeuralNetworkLayer) -> String {
        func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
        switch layer.layer {
        case .activation(let activation)?:
            let kind = activation.nonlinearityType.flatMap { Mirror(reflecting: $0).children.first?.label } ?? "Unknown"
            return "Activation" + (kind == "reLu" ? "ReLU" : capitalized(kind))
        case .pooling(let pooling)?: return "Pooling" + capitalized("\(pooling.type)")
        default: return capitalized(layer.kindName)
        }
    }
}
