import CoreML
import MLFiles
import MLNumerics
import MLSpecification

extension NeuralNetworkBuilder {
    /// Creates a builder that continues a finished network, or a part of it.
    ///
    /// Inputs, preprocessing, layers and metadata are adopted. Outputs, the role as a classifier or regressor and the
    /// update parameters are not.
    ///
    /// - Parameters:
    ///   - model: A model that is a neural network.
    ///   - value: The last value to keep; layers that it does not depend on are left out. Nil, the default, keeps
    ///     all.
    /// - Throws: `MLModelError` when the model is not a neural network, or no layer computes the value.
    public init(continuing model: ModelSpecification, upTo value: Value? = nil) throws {
        let specification = model.file.specification
        let mapping: SpecNeuralNetworkMultiArrayShapeMapping
        let steps: [SpecNeuralNetworkPreprocessing]
        switch specification.type {
        case .neuralNetwork(let network)?: (mapping, steps) = (network.arrayInputShapeMapping, network.preprocessing)
        case .neuralNetworkClassifier(let network)?:
            (mapping, steps) = (network.arrayInputShapeMapping, network.preprocessing)
        case .neuralNetworkRegressor(let network)?:
            (mapping, steps) = (network.arrayInputShapeMapping, network.preprocessing)
        default: throw MLModelError(ModelError(.invalidInput, "only a neural network can be continued"))
        }
        self.init(arrays: mapping == .exactArrayMapping ? .exact : .rank5)
        let all = specification.networkLayers ?? []
        layers = all
        if let value {
            guard let end = all.lastIndex(where: { $0.output.contains(value) }) else {
                throw MLModelError(
                    ModelError(
                        .invalidInput,
                        "no layer gives the value '\(value)'; layers give \(all.flatMap(\.output).joined(separator: ", "))"
                    )
                )
            }
            let needed = Array(all[...end]).ancestors(of: value)
            // Layers that contain networks do not list their results: all of them stay.
            layers = all[...end].enumerated().filter { needed.contains($0.offset) || $0.element.output.isEmpty }
                .map(\.element)
        }
        for index in layers.indices where layers[index].isUpdatable { UpdateEditing.unmark(&layers[index]) }
        let used = Set(layers.flatMap(\.input))
        inputs = specification.description_p.input.filter { value == nil || used.contains($0.name) }
        preprocessing = steps.filter { step in
            step.featureName.isEmpty || inputs.contains { $0.name == step.featureName }
        }
        metadata = model.metadata
    }

    /// The weights of a `convolution` or `innerProduct` layer in full precision; nil for other layers.
    public func weights(of layer: String) -> (weights: [Float], bias: [Float]?)? {
        guard let found = layers.first(where: { $0.name == layer }), UpdatableModel.canUpdate(found) else { return nil }
        switch found.layer {
        case .convolution(let parameters)?:
            return (parameters.weights.floatValue, parameters.hasBias_p ? parameters.bias.floatValue : nil)
        case .innerProduct(let parameters)?:
            return (parameters.weights.floatValue, parameters.hasBias_p ? parameters.bias.floatValue : nil)
        default: return nil
        }
    }
}
