import MLFeatures
import MLNumerics
import MLSpecification
import MLTrainingCore

extension UpdatableNetwork {
    /// The names of all parameters, in the order in which trainers hold them.
    var parameters: [String] { layers.flatMap(\.parameters) }

    var usesExactMapping: Bool { specification.neuralNetwork.arrayInputShapeMapping == .exactArrayMapping }

    /// Whether any layer from the first updatable one on processes sequences, so that the batch must be known when
    /// reading.
    var isRecurrent: Bool {
        guard let first = layers.map(\.index).min() else { return false }
        return specification.neuralNetwork.layers[first...].contains { layer in
            switch layer.layer {
            case .uniDirectionalLstm?: true
            default: false
            }
        }
    }

    /// Whether blobs from the first updatable layer on can hold several examples along their first axis.
    var allowsBatches: Bool {
        guard let first = layers.map(\.index).min() else { return false }
        return specification.neuralNetwork.layers[first...].allSatisfy { layer in
            switch layer.layer {
            case .flattenTo2D?, .softmaxNd?: false
            case .uniDirectionalLstm?: !usesExactMapping
            case .batchnorm(let norm)?: !norm.computeMeanVar || norm.instanceNormalization
            default: true
            }
        }
    }

    /// The target of an example in the loss's form, for a prediction of this shape.
    func target(of example: [String: FeatureData], prediction: [Int]) throws(ModelError) -> Tensor {
        guard let name = targets.first(where: { example[$0] != nil }), let value = example[name] else {
            throw ModelError(
                .invalidInput,
                "the target '\(targets.joined(separator: "' or '"))' is missing; every example needs it"
            )
        }
        return try withErrorContext("target '\(name)'") { () throws(ModelError) in
            switch loss {
            case .categoricalCrossEntropy: try probabilities(value, count: prediction.elementCount)
            case .meanSquaredError: try values(value, shape: prediction)
            }
        }
    }

    /// A class, by label or by index, as a one-hot vector; probabilities are passed through.
    private func probabilities(_ value: FeatureData, count: Int) throws(ModelError) -> Tensor {
        let index: Int
        switch (value, labels?.list) {
        case (.string(let label), .strings?): index = try self.index(labels?.index(of: label), "'\(label)'")
        case (.int64(let label), .integers?): index = try self.index(labels?.index(of: label), "\(label)")
        case (.int64(let label), nil): index = Int(clamping: label)
        case (.tensor(let tensor), _) where tensor.scalarType != .string && tensor.count == 1 && count != 1:
            index = tensor.integers[0]
        case (.tensor(let tensor), _) where tensor.scalarType != .string && tensor.count == count:
            return tensor.converted(to: .float32).reshaped([1, count])
        default:
            throw ModelError(
                .invalidInput,
                "\(value.kind) was given; give the label or index of a class, or \(count) probabilities"
            )
        }
        guard (0..<count).contains(index) else {
            throw ModelError(.invalidInput, "class \(index) of \(count); indices count from 0")
        }
        var values = [Float](repeating: 0, count: count)
        values[index] = 1
        return Tensor(values, shape: [1, count])
    }

    private func index(_ found: Int?, _ label: String) throws(ModelError) -> Int {
        guard let found else {
            throw ModelError(.invalidInput, "the model has no class \(label); use one of its class labels")
        }
        return found
    }

    private func values(_ value: FeatureData, shape: [Int]) throws(ModelError) -> Tensor {
        switch value {
        case .tensor(let tensor) where tensor.scalarType != .string && tensor.count == shape.elementCount:
            return tensor.converted(to: .float32).reshaped(shape)
        case .double(let number) where shape.elementCount == 1: return Tensor([Float(number)], shape: shape)
        case .int64(let number) where shape.elementCount == 1: return Tensor([Float(number)], shape: shape)
        default:
            throw ModelError(
                .invalidInput,
                "\(value.kind) was given; the model predicts \(shape.elementCount) numbers, give the same number"
            )
        }
    }
}
