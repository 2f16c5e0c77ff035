package import MLFeatures
import MLGraphTraining
package import MLNumerics
package import MLOperators
package import MLSpecification
import MLTrainingCore

/// Trains the updatable layers of a neural network, one mini-batch at a time.
///
/// A value type: copies are independent. A step gives bit-identical weights with any number of threads.
package struct NetworkTrainer: ResumableTraining, Sendable {
    /// The hyperparameters of the next step; may change between steps.
    ///
    /// Changing the kind of optimiser resets its state to zero.
    package var settings: TrainingSettings {
        didSet {
            trainer.optimizer = settings.optimizer
            trainer.learningRate = settings.learningRate
        }
    }
    private let specification: SpecModel
    private let network: UpdatableNetwork
    private let programs: NetworkPrograms
    private var trainer: GraphTrainer

    /// Prepares the training of an updatable neural network.
    ///
    /// - Parameters:
    ///   - specification: An updatable neural network, classifier or regressor that follows the specification's rules.
    ///   - settings: Hyperparameters that replace the file's defaults.
    ///   - catalogue: The operators that the network may use.
    ///   - precision: `.float64` computes everything in plain double precision, which is slow and serves as a
    ///     reference.
    /// - Throws: An error that names the layer and the remedy for a network that cannot be trained, and errors for
    ///   settings out of range.
    package init(
        _ specification: SpecModel,
        settings: TrainingSettings? = nil,
        catalogue: Catalogue = .standard,
        precision: ScalarType = .float32
    ) throws(ModelError) {
        let defaults = try Self.settings(of: specification)
        let chosen = settings ?? defaults
        try chosen.check()
        self.settings = chosen
        self.specification = specification
        network = try UpdatableNetwork(specification)
        programs = try NetworkPrograms(network, catalogue: catalogue, precision: precision)
        var parameters: [Tensor] = []
        for tensor in try programs.single.parameters(network.parameters) {
            parameters.append(tensor.converted(to: precision))
        }
        trainer = GraphTrainer(
            parameters: parameters,
            optimizer: chosen.optimizer,
            learningRate: chosen.learningRate
        )
    }

    /// The names of the updatable layers, first to last.
    package var layerNames: [String] { network.layers.map(\.name) }

    /// Prepares examples: checks their features, and computes the frozen layers before the first updatable one.
    ///
    /// Call it once per training run; steps then take examples by index.
    ///
    /// - Parameter examples: Each with the network's inputs and the target.
    /// - Returns: The examples, to be passed to the steps.
    /// - Throws: An error that names the index of the first example that does not fit the network.
    package func examples(_ examples: [[String: FeatureData]]) throws(ModelError) -> TrainingExamples {
        var features: [[Tensor]] = []
        var targets: [Tensor] = []
        features.reserveCapacity(examples.count)
        for (index, example) in examples.enumerated() {
            do {
                let computed = try programs.features(of: example)
                targets.append(try network.target(of: example, prediction: programs.predictionShape(computed)))
                features.append(computed)
            } catch {
                throw error.at("example \(index)")
            }
        }
        return TrainingExamples(features: features, targets: targets)
    }

    /// Updates the weights once, with the gradient of the mean loss of the examples at `indices`.
    ///
    /// - Returns: That loss, computed before the update.
    package mutating func step(_ examples: TrainingExamples, _ indices: [Int]) throws(ModelError) -> Double {
        guard !indices.isEmpty else {
            throw ModelError(.invalidInput, "a mini-batch without examples; give at least one")
        }
        guard let last = indices.max(), last < examples.count, indices.allSatisfy({ $0 >= 0 }) else {
            throw ModelError(.invalidInput, "a mini-batch of examples \(indices) of \(examples.count)")
        }
        let parts = programs.parts(examples, indices)
        guard parts.count > 1 else {
            let (program, inputs) = try programs.program(examples, indices)
            return try trainer.step(program, inputs)[0].values[0]
        }
        // Examples that cannot be batched are run one after the other, in the given order.
        var sums: [[Double]] = []
        var loss = 0.0
        for part in parts {
            let (program, inputs) = try programs.program(examples, part)
            let (outputs, gradients) = try program.run(inputs, trainer.parameters)
            let weight = Double(part.count) / Double(indices.count)
            loss += outputs[0].values[0] * weight
            for (index, gradient) in gradients.enumerated() {
                let values = gradient.values
                if sums.count <= index { sums.append([Double](repeating: 0, count: values.count)) }
                for location in values.indices { sums[index][location] += values[location] * weight }
            }
        }
        let gradients = zip(sums, trainer.parameters).map { sum, parameter in
            Tensor(values: sum, scalarType: parameter.scalarType, shape: parameter.shape)
        }
        trainer.step(by: gradients)
        return loss
    }

    /// Updates the weights once, with the gradient of the mean loss of all of `batch`.
    package mutating func step(_ batch: [[String: FeatureData]]) throws(ModelError) -> Double {
        try step(examples(batch), Array(batch.indices))
    }

    /// The model with the current weights in its layers.
    package func updatedSpecification() throws(ModelError) -> SpecModel {
        var values: [Int: (weights: [Float], bias: [Float]?)] = [:]
        for layer in network.layers {
            let weights = try floats(weights(of: layer.name))
            let bias = try biases(of: layer.name).map(floats)
            values[layer.index] = (weights, bias)
        }
        var result = specification
        result.changeLayers { index, layer in
            guard let (weights, bias) = values[index] else { return }
            switch layer.layer {
            case .convolution(var parameters)?:
                parameters.weights.floatValue = weights
                if let bias { parameters.bias.floatValue = bias }
                layer.layer = .convolution(parameters)
            case .innerProduct(var parameters)?:
                parameters.weights.floatValue = weights
                if let bias { parameters.bias.floatValue = bias }
                layer.layer = .innerProduct(parameters)
            default: return
            }
        }
        return result
    }

    private func floats(_ tensor: Tensor) -> [Float] {
        tensor.converted(to: .float32).withElements(of: Float.self) { Array($0) }
    }

    /// Everything that a later run needs to continue from here.
    package var state: [UInt8] { trainer.state }

    /// Continues from the state of a trainer of the same model with the same kind of optimiser.
    package mutating func restore(_ state: [UInt8]) throws(ModelError) { try trainer.restore(state) }

    /// The weights of an updatable layer: [outputs, inputs] of an inner product, [outputs, inputs / groups, height,
    /// width] of a convolution (with inputs and outputs swapped for a deconvolution).
    package func weights(of layer: String) throws(ModelError) -> Tensor {
        trainer.parameters[try location(of: layer, bias: false)]
    }

    /// The biases of an updatable layer, [outputs]; `nil` when it has none.
    package func biases(of layer: String) throws(ModelError) -> Tensor? {
        _ = try location(of: layer, bias: false)
        guard network.layers.contains(where: { $0.name == layer && $0.hasBias }) else { return nil }
        return trainer.parameters[try location(of: layer, bias: true)]
    }

    /// Replaces a layer's weights, in the shape that `weights(of:)` returns, or flat.
    package mutating func setWeights(_ weights: Tensor, of layer: String) throws(ModelError) {
        try setParameter(location(of: layer, bias: false), to: weights, at: "weights of layer '\(layer)'")
    }

    /// Replaces a layer's biases, [outputs].
    package mutating func setBiases(_ biases: Tensor, of layer: String) throws(ModelError) {
        try setParameter(location(of: layer, bias: true), to: biases, at: "biases of layer '\(layer)'")
    }

    private mutating func setParameter(_ index: Int, to values: Tensor, at location: String) throws(ModelError) {
        let old = trainer.parameters[index]
        guard values.scalarType != .string, values.count == old.count,
            values.shape == old.shape || values.shape.count == 1
        else {
            throw ModelError(
                .invalidInput,
                "an array of shape \(values.shape) was given where the layer has \(old.shape)",
                at: location
            )
        }
        try trainer.setParameter(index, to: values.converted(to: old.scalarType).reshaped(old.shape))
    }

    private func location(of layer: String, bias: Bool) throws(ModelError) -> Int {
        let name = layer + (bias ? ".bias" : ".weights")
        guard network.layers.contains(where: { $0.name == layer }) else {
            throw ModelError(
                .invalidInput,
                "the model has no updatable layer '\(layer)'; it has '\(layerNames.joined(separator: "', '"))'"
            )
        }
        guard let index = network.parameters.firstIndex(of: name) else {
            throw ModelError(.invalidInput, "the layer '\(layer)' has no biases; only its weights can be set")
        }
        return index
    }
}
