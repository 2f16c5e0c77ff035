import CoreML
import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf

/// The settings that make a neural network updatable: layers to change, loss, optimiser.
struct NetworkUpdate: Hashable, Sendable {
    var layers: [String]
    var loss: UpdateLoss
    var optimizer: UpdateOptimizer
    var epochs: IntegerParameter
    var shuffle: Bool
    var seed: IntegerParameter?

    /// Marks the layers and writes the parameters.
    ///
    /// - Parameters:
    ///   - model: The network to change.
    ///   - trainingInputs: The caller's training inputs; none, the default, stands for the network's inputs and the
    ///     loss's target.
    /// - Throws: `ModelError` when the model is not a neural network or a layer cannot be updatable.
    func apply(to model: inout SpecModel, trainingInputs: [SpecFeatureDescription] = []) throws(ModelError) {
        try UpdateEditing.mark(layers, in: &model)
        model.networkUpdate = .with {
            $0.lossLayers = [loss.specification]
            $0.optimizer = optimizer.specification
            $0.epochs = epochs.specification
            $0.shuffle.defaultValue = shuffle
            if let seed { $0.seed = seed.specification }
        }
        model.description_p.trainingInput =
            trainingInputs.isEmpty ? UpdateEditing.trainingInputs(of: model, for: loss) : trainingInputs
    }
}

/// Changes that make a neural network updatable.
enum UpdateEditing {
    /// Marks the named layers, their weights and biases updatable, and no others.
    static func mark(_ names: [String], in model: inout SpecModel) throws(ModelError) {
        guard var layers = model.networkLayers else {
            throw ModelError(
                .invalidModel,
                "only layers of a neural network can be marked updatable; a pipeline's last model can be edited alone"
            )
        }
        let possible = UpdatableModel.list(layers.filter(UpdatableModel.canUpdate).map(\.name))
        guard !names.isEmpty else {
            throw ModelError(.invalidInput, "no layer is named; these can be updatable: \(possible)")
        }
        for name in names {
            guard let layer = layers.first(where: { $0.name == name }) else {
                throw ModelError(.invalidInput, "there is no layer '\(name)'; these can be updatable: \(possible)")
            }
            guard UpdatableModel.canUpdate(layer) else {
                let why =
                    switch layer.layer {
                    case .convolution?, .innerProduct?: "its weights are half precision, quantised or an input"
                    default: "it is of kind \(layer.kindName)"
                    }
                throw ModelError(
                    .invalidInput,
                    "the layer '\(name)' cannot be updatable: \(why).  These can: \(possible)"
                )
            }
        }
        for index in layers.indices { layers[index].markUpdatable(names.contains(layers[index].name)) }
        model.networkLayers = layers
        model.isUpdatable = true
    }

    /// Removes the mark from a layer.
    static func unmark(_ layer: inout SpecNeuralNetworkLayer) { layer.markUpdatable(false) }

    /// Returns the network's inputs and the loss's target.
    static func trainingInputs(of model: SpecModel, for loss: UpdateLoss) -> [SpecFeatureDescription] {
        let description = model.description_p
        var target = SpecFeatureDescription()
        target.name = loss.target
        switch loss {
        case .categoricalCrossEntropy(let input, let named, _):
            if named == nil, model.classifierProbabilities == input,
                let label = description.output.first(where: { $0.name == description.predictedFeatureName })
            {
                target = SpecFeatureDescription()
                target.name = label.name
                target.type = label.type
            } else {
                target.type = ModelFeatureType.array([1], .int32).specification
            }
        case .meanSquaredError(_, let shape, _, _): target.type = ModelFeatureType.array(shape, .double).specification
        }
        return description.input + [target]
    }
}

extension SpecModel {
    /// The value that holds the probabilities of a network classifier.
    var classifierProbabilities: String? {
        guard case .neuralNetworkClassifier(let network)? = type else { return nil }
        let name = network.labelProbabilityLayerName
        if name.isEmpty { return network.layers.last?.output.first }
        return network.layers.first { $0.name == name && !$0.output.contains(name) }?.output.first ?? name
    }
}

extension SpecNeuralNetworkLayer {
    /// Adds the mark to the layer, or removes it.
    fileprivate mutating func markUpdatable(_ mark: Bool) {
        guard mark || isUpdatable else { return }
        isUpdatable = mark
        switch layer {
        case .convolution(var convolution)?:
            convolution.weights.isUpdatable = mark
            if convolution.hasBias_p { convolution.bias.isUpdatable = mark }
            layer = .convolution(convolution)
        case .innerProduct(var product)?:
            product.weights.isUpdatable = mark
            if product.hasBias_p { product.bias.isUpdatable = mark }
            layer = .innerProduct(product)
        default: break
        }
    }
}
