import MLFeatures
import MLNumerics
import MLOperators
import MLSpecification
import MLTrainingCore

/// The parts of an updatable neural network that training needs, checked against the rules of the specification.
struct UpdatableNetwork: Sendable {
    /// A layer with updatable weights.
    struct Layer: Sendable {
        let name: String
        /// The index among the network's layers.
        let index: Int
        let hasBias: Bool

        /// The names of the weights' constants in the graph.
        var parameters: [String] { [name + ".weights"] + (hasBias ? [name + ".bias"] : []) }
    }

    let layers: [Layer]
    let loss: Loss
    /// The blob that is the loss's input: probabilities, or the prediction.
    let lossInput: String
    /// The names of the features that may hold the target.
    let targets: [String]
    /// The labels of a classifier.
    let labels: ClassLabels?
    /// The network as a plain one whose output is `lossInput`.
    let specification: SpecModel

    init(_ model: SpecModel) throws(ModelError) {
        let update = try model.updateParameters()
        guard model.specificationVersion >= 4 else {
            throw ModelError(
                .invalidModel,
                "the model is of specification version \(model.specificationVersion); updatable ones need 4 or later"
            )
        }
        let network = model.plainNetwork
        labels = model.classLabels
        layers = try Self.updatableLayers(network.layers)
        let (loss, input, target) = try Self.loss(update, network.layers)
        self.loss = loss
        lossInput = input
        targets =
            labels == nil || model.description_p.predictedFeatureName.isEmpty
            ? [target] : [model.description_p.predictedFeatureName, target]
        try Self.checkPath(network.layers, layers, from: input, loss)
        try Self.checkTarget(model, loss, targets)
        var plain = SpecModel()
        plain.specificationVersion = model.specificationVersion
        plain.neuralNetwork = network
        plain.neuralNetwork.clearUpdateParams()
        plain.description_p.input = model.description_p.input
        var output = SpecFeatureDescription()
        output.name = input
        output.type.multiArrayType.dataType = .float32
        plain.description_p.output = [output]
        specification = plain
    }

    // MARK: The specification's rules

    private static func updatableLayers(_ layers: [SpecNeuralNetworkLayer]) throws(ModelError) -> [Layer] {
        var names: Set<String> = []
        var result: [Layer] = []
        for (index, layer) in layers.enumerated() {
            guard names.insert(layer.name).inserted else {
                throw ModelError(
                    .invalidModel,
                    "two layers are called '\(layer.name)'; the layers of an updatable model need unique names"
                )
            }
            let location = "layer '\(layer.name)'"
            switch layer.layer {
            case .convolution(let convolution) where layer.isUpdatable:
                try check(
                    convolution.weights,
                    convolution.hasBias_p ? convolution.bias : nil,
                    inputs: layer.input.count,
                    at: location
                )
                result.append(Layer(name: layer.name, index: index, hasBias: convolution.hasBias_p))
            case .innerProduct(let product) where layer.isUpdatable:
                try check(
                    product.weights,
                    product.hasBias_p ? product.bias : nil,
                    inputs: layer.input.count,
                    at: location
                )
                guard !product.int8DynamicQuantize else {
                    throw ModelError(
                        .invalidModel,
                        "the layer quantises its input, which has no gradient; turn that off",
                        at: location
                    )
                }
                result.append(Layer(name: layer.name, index: index, hasBias: product.hasBias_p))
            case .uniDirectionalLstm where layer.isUpdatable:
                throw ModelError(
                    .unsupported,
                    "recurrent layers cannot be updated; mark only convolutions and inner products as updatable",
                    at: location
                )
            default:
                guard !layer.isUpdatable else {
                    throw ModelError(
                        .invalidModel,
                        "layers of kind '\(layer.fieldName ?? "unknown")' cannot be updatable; "
                            + "only convolutions and inner products can",
                        at: location
                    )
                }
            }
        }
        guard !result.isEmpty else {
            throw ModelError(.invalidModel, "no layer of the updatable model is updatable; mark at least one")
        }
        return result
    }

    private static func check(
        _ weights: SpecWeightParams,
        _ bias: SpecWeightParams?,
        inputs: Int,
        at location: String
    ) throws(ModelError) {
        guard inputs == 1 else {
            throw ModelError(
                .invalidModel,
                "the layer takes its weights from another layer; only stored weights can be updatable",
                at: location
            )
        }
        for (name, values) in [("weights", weights), ("bias", bias ?? SpecWeightParams())] {
            if name == "bias", bias == nil { continue }
            guard values.isUpdatable else {
                throw ModelError(
                    .invalidModel,
                    "the \(name) are not marked as updatable; mark weights and bias",
                    at: location
                )
            }
            guard !values.floatValue.isEmpty, !values.hasQuantization else {
                throw ModelError(
                    .invalidModel,
                    "the \(name) are not stored as float32; quantised and half-precision ones cannot be updatable",
                    at: location
                )
            }
        }
    }

    private static func loss(
        _ update: SpecNetworkUpdateParameters,
        _ layers: [SpecNeuralNetworkLayer]
    ) throws(ModelError) -> (loss: Loss, input: String, target: String) {
        guard update.lossLayers.count == 1, let layer = update.lossLayers.first else {
            throw ModelError(
                .invalidModel,
                "the update parameters hold \(update.lossLayers.count) losses; exactly one is needed"
            )
        }
        let location = "loss '\(layer.name)'"
        guard !layers.contains(where: { $0.name == layer.name }) else {
            throw ModelError(.invalidModel, "a layer has the same name; names must be unique", at: location)
        }
        let result: (loss: Loss, input: String, target: String)
        switch layer.lossLayerType {
        case .categoricalCrossEntropyLossLayer(let entropy)?:
            result = (.categoricalCrossEntropy, entropy.input, entropy.target)
        case .meanSquaredErrorLossLayer(let error)?: result = (.meanSquaredError, error.input, error.target)
        case nil: throw ModelError(.invalidModel, "the loss does not state its kind", at: location)
        }
        guard let producer = layers.last(where: { $0.output.contains(result.input) }) else {
            throw ModelError(
                .invalidModel,
                "no layer gives the blob '\(result.input)' that the loss is computed from",
                at: location
            )
        }
        if result.loss == .categoricalCrossEntropy {
            guard producer.isSoftmax else {
                throw ModelError(
                    .invalidModel,
                    "a cross-entropy must be computed from the output of a softmax; '\(result.input)' comes from a layer of kind "
                        + "'\(producer.fieldName ?? "unknown")'",
                    at: location
                )
            }
        }
        guard !layers.contains(where: { $0.output.contains(result.target) }) else {
            throw ModelError(
                .invalidModel,
                "the target '\(result.target)' is computed by the network; it must come with the examples",
                at: location
            )
        }
        return result
    }

    /// Throws when a layer between an updatable layer and the loss is of a kind that the specification does not allow
    /// there.
    private static func checkPath(
        _ layers: [SpecNeuralNetworkLayer],
        _ updatable: [Layer],
        from blob: String,
        _ loss: Loss
    ) throws(ModelError) {
        let changing = Set(updatable.map(\.index))
        // The blobs that depend on updatable layers, front to back.
        var reached: Set<String> = []
        var onPath: [Int] = []
        for (index, layer) in layers.enumerated() {
            let follows = layer.input.contains(where: reached.contains)
            for output in layer.output {
                if follows || changing.contains(index) { reached.insert(output) } else { reached.remove(output) }
            }
            if follows { onPath.append(index) }
        }
        guard reached.contains(blob) else {
            throw ModelError(
                .invalidModel,
                "the loss does not depend on any updatable layer; mark one in front of '\(blob)'"
            )
        }
        // Of those, the ones that the loss depends on, back to front.
        var wanted: Set<String> = [blob]
        for (index, layer) in layers.enumerated().reversed() where layer.output.contains(where: wanted.contains) {
            wanted.formUnion(layer.input)
            guard onPath.contains(index) else { continue }
            let isLast = layer.output.contains(blob)
            guard layer.propagatesGradients || (layer.isSoftmax && isLast && loss == .categoricalCrossEntropy) else {
                throw ModelError(
                    .invalidModel,
                    "layers of kind '\(layer.fieldName ?? "unknown")' may not be between an updatable layer and the loss; "
                        + "mark only layers after it as updatable",
                    at: "layer '\(layer.name)'"
                )
            }
        }
        for layer in updatable where !layers[layer.index].output.contains(where: wanted.contains) {
            throw ModelError(
                .invalidModel,
                "the loss does not depend on the updatable layer; mark it as not updatable",
                at: "layer '\(layer.name)'"
            )
        }
    }

    private static func checkTarget(_ model: SpecModel, _ loss: Loss, _ targets: [String]) throws(ModelError) {
        let inputs = model.description_p.trainingInput
        guard !inputs.isEmpty else { return }
        guard let feature = inputs.first(where: { targets.contains($0.name) }) else {
            throw ModelError(
                .invalidModel,
                "the training inputs '\(inputs.map(\.name).joined(separator: "', '"))' lack the target "
                    + "'\(targets.joined(separator: "' or '"))'"
            )
        }
        switch (feature.type.type, loss) {
        case (.multiArrayType, _), (.int64Type, .categoricalCrossEntropy), (.stringType, .categoricalCrossEntropy),
            (.doubleType, .meanSquaredError):
            return
        default:
            throw ModelError(
                .invalidModel,
                "the training input '\(feature.name)' is of a type that the loss cannot compare with"
            )
        }
    }
}

extension SpecNeuralNetworkLayer {
    var isSoftmax: Bool {
        switch layer {
        case .softmax?, .softmaxNd?: true
        default: false
        }
    }

    /// Whether the specification lets gradients pass through the layer.
    fileprivate var propagatesGradients: Bool {
        switch layer {
        case .convolution?, .innerProduct?, .uniDirectionalLstm?, .flatten?, .flattenTo2D?, .pooling?, .batchnorm?: true
        case .activation(let activation)?:
            switch activation.nonlinearityType {
            case .reLu?, .sigmoid?, .tanh?: true
            default: false
            }
        default: false
        }
    }
}

extension SpecModel {
    /// The layers of any kind of neural network as a plain one.
    var plainNetwork: SpecNeuralNetwork {
        var result = SpecNeuralNetwork()
        switch type {
        case .neuralNetwork(let network)?: result = network
        case .neuralNetworkClassifier(let network)?:
            result.layers = network.layers
            result.preprocessing = network.preprocessing
            result.arrayInputShapeMapping = network.arrayInputShapeMapping
            result.imageInputShapeMapping = network.imageInputShapeMapping
        case .neuralNetworkRegressor(let network)?:
            result.layers = network.layers
            result.preprocessing = network.preprocessing
            result.arrayInputShapeMapping = network.arrayInputShapeMapping
            result.imageInputShapeMapping = network.imageInputShapeMapping
        default: break
        }
        return result
    }

    var classLabels: ClassLabels? {
        guard case .neuralNetworkClassifier(let network)? = type else { return nil }
        switch network.classLabels {
        case .stringClassLabels(let labels)?: return ClassLabels(.strings(labels.vector))
        case .int64ClassLabels(let labels)?: return ClassLabels(.integers(labels.vector))
        case nil: return nil
        }
    }

    /// Calls `change` on each layer of a neural network.
    mutating func changeLayers(_ change: (Int, inout SpecNeuralNetworkLayer) -> Void) {
        func visit(_ layers: inout [SpecNeuralNetworkLayer]) {
            for index in layers.indices { change(index, &layers[index]) }
        }
        switch type {
        case .neuralNetwork(var network)?:
            visit(&network.layers)
            type = .neuralNetwork(network)
        case .neuralNetworkClassifier(var network)?:
            visit(&network.layers)
            type = .neuralNetworkClassifier(network)
        case .neuralNetworkRegressor(var network)?:
            visit(&network.layers)
            type = .neuralNetworkRegressor(network)
        default: break
        }
    }
}
