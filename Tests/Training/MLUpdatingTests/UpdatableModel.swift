import MLFeatures
import MLNumerics
import MLSpecification
import TestSupport

/// Updatable networks and examples for them.
struct UpdatableModel {
    var specification = SpecModel()
    private var random: RandomTensors

    init(_ inputs: [Int], seed: UInt64 = 1, mapping: SpecNeuralNetworkMultiArrayShapeMapping = .rank5ArrayMapping) {
        random = RandomTensors(seed: seed)
        specification.specificationVersion = 4
        specification.isUpdatable = true
        specification.neuralNetwork.arrayInputShapeMapping = mapping
        var feature = SpecFeatureDescription()
        feature.name = "x"
        feature.type.multiArrayType.dataType = .float32
        feature.type.multiArrayType.shape = inputs.map { Int64($0) }
        specification.description_p.input = [feature]
        var update = SpecNetworkUpdateParameters()
        update.optimizer.sgdOptimizer.learningRate.defaultValue = 0.1
        update.optimizer.sgdOptimizer.miniBatchSize.defaultValue = 4
        update.epochs.defaultValue = 1
        specification.neuralNetwork.updateParams = update
    }

    mutating func add(
        _ name: String,
        _ input: String,
        _ output: String,
        _ change: (inout SpecNeuralNetworkLayer) -> Void
    ) {
        var layer = SpecNeuralNetworkLayer()
        layer.name = name
        layer.input = [input]
        layer.output = [output]
        change(&layer)
        specification.neuralNetwork.layers.append(layer)
    }

    private mutating func weights(_ count: Int, updatable: Bool) -> SpecWeightParams {
        var result = SpecWeightParams()
        result.floatValue = random.tensor([count]).values.map { Float($0) }
        result.isUpdatable = updatable
        return result
    }

    mutating func innerProduct(
        _ name: String,
        _ input: String,
        _ output: String,
        _ inputs: Int,
        _ outputs: Int,
        updatable: Bool = true
    ) {
        let weights = self.weights(inputs * outputs, updatable: updatable)
        let bias = self.weights(outputs, updatable: updatable)
        add(name, input, output) { layer in
            layer.isUpdatable = updatable
            layer.innerProduct.inputChannels = UInt64(inputs)
            layer.innerProduct.outputChannels = UInt64(outputs)
            layer.innerProduct.weights = weights
            layer.innerProduct.hasBias_p = true
            layer.innerProduct.bias = bias
        }
    }

    mutating func convolution(
        _ name: String,
        _ input: String,
        _ output: String,
        _ inputs: Int,
        _ outputs: Int,
        updatable: Bool = true
    ) {
        let weights = self.weights(inputs * outputs * 9, updatable: updatable)
        let bias = self.weights(outputs, updatable: updatable)
        add(name, input, output) { layer in
            layer.isUpdatable = updatable
            layer.convolution.kernelChannels = UInt64(inputs)
            layer.convolution.outputChannels = UInt64(outputs)
            layer.convolution.kernelSize = [3, 3]
            layer.convolution.same = SpecSamePadding()
            layer.convolution.weights = weights
            layer.convolution.hasBias_p = true
            layer.convolution.bias = bias
        }
    }

    mutating func relu(_ name: String, _ input: String, _ output: String) {
        add(name, input, output) { $0.activation.reLu = SpecActivationReLU() }
    }

    mutating func crossEntropy(of logits: String) {
        add("softmax", logits, "p") { $0.softmax = SpecSoftmaxLayerParams() }
        var loss = SpecLossLayer()
        loss.name = "loss"
        loss.categoricalCrossEntropyLossLayer.input = "p"
        loss.categoricalCrossEntropyLossLayer.target = "t"
        specification.neuralNetwork.updateParams.lossLayers = [loss]
    }

    mutating func squaredError(of prediction: String) {
        var loss = SpecLossLayer()
        loss.name = "loss"
        loss.meanSquaredErrorLossLayer.input = prediction
        loss.meanSquaredErrorLossLayer.target = "t"
        specification.neuralNetwork.updateParams.lossLayers = [loss]
    }

    /// A perceptron of one hidden layer over 6 inputs, with 3 classes.
    static func perceptron(updatingBoth: Bool = true) -> UpdatableModel {
        var model = UpdatableModel([6])
        model.innerProduct("hidden", "x", "h", 6, 5, updatable: updatingBoth)
        model.relu("relu", "h", "r")
        model.innerProduct("last", "r", "y", 5, 3)
        model.crossEntropy(of: "y")
        return model
    }

    /// Convolution, pool, inner product over pictures of 8 × 8.
    static func pictures(updatingAll: Bool = true) -> UpdatableModel {
        var model = UpdatableModel([2, 8, 8])
        model.convolution("first", "x", "a", 2, 4, updatable: updatingAll)
        model.relu("relu", "a", "b")
        model.add("pool", "b", "c") { layer in
            layer.pooling.type = .max
            layer.pooling.kernelSize = [2, 2]
            layer.pooling.stride = [2, 2]
            layer.pooling.valid = SpecValidPadding()
        }
        model.convolution("second", "c", "d", 4, 6)
        model.add("flatten", "d", "e") { $0.flatten = SpecFlattenLayerParams() }
        model.innerProduct("last", "e", "y", 6 * 16, 3)
        model.crossEntropy(of: "y")
        return model
    }

    static func examples(_ shape: [Int], count: Int, classes: Int = 3, seed: UInt64 = 9) -> [[String: FeatureData]] {
        var random = RandomTensors(seed: seed)
        return (0..<count).map { index in
            ["x": .tensor(random.tensor(shape)), "t": .tensor(Tensor([Int32(index % classes)], shape: [1]))]
        }
    }
}
