package import MLSpecification

/// Updatable models, small enough to follow by hand.
package enum UpdatableModels {
    package static func array(_ name: String, _ shape: [Int64], _ type: SpecArrayFeatureType.ArrayDataType = .float32)
        -> SpecFeatureDescription
    {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.multiArrayType.shape = shape
        feature.type.multiArrayType.dataType = type
        return feature
    }

    package static func text(_ name: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.stringType = SpecStringFeatureType()
        return feature
    }

    package static func integer(_ name: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.int64Type = SpecInt64FeatureType()
        return feature
    }

    package static func votes(_ name: String, isString: Bool = true) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        if isString {
            feature.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        } else {
            feature.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        }
        return feature
    }

    package static func product(
        _ name: String,
        _ input: String,
        _ output: String,
        _ weights: [Float],
        _ bias: [Float],
        isUpdatable: Bool
    ) -> SpecNeuralNetworkLayer {
        var layer = SpecNeuralNetworkLayer()
        layer.name = name
        layer.input = [input]
        layer.output = [output]
        layer.isUpdatable = isUpdatable
        layer.innerProduct.inputChannels = UInt64(weights.count / bias.count)
        layer.innerProduct.outputChannels = UInt64(bias.count)
        layer.innerProduct.hasBias_p = true
        layer.innerProduct.weights.floatValue = weights
        layer.innerProduct.weights.isUpdatable = isUpdatable
        layer.innerProduct.bias.floatValue = bias
        layer.innerProduct.bias.isUpdatable = isUpdatable
        return layer
    }

    /// Softmax regression of x [2] on the labels "a", "b", "c": layer "head", SGD.
    package static func network(
        epochs: Int64 = 3,
        miniBatch: Int64 = 4,
        rate: Double = 0.5,
        shuffles: Bool = false
    ) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        model.isUpdatable = true
        model.description_p.input = [array("x", [2])]
        model.description_p.output = [votes("probabilities"), text("label")]
        model.description_p.predictedFeatureName = "label"
        model.description_p.predictedProbabilitiesName = "probabilities"
        model.description_p.trainingInput = [array("x", [2]), text("label")]
        var softmax = SpecNeuralNetworkLayer()
        softmax.name = "softmax"
        softmax.input = ["logits"]
        softmax.output = ["probabilities"]
        softmax.softmax = SpecSoftmaxLayerParams()
        var network = SpecNeuralNetworkClassifier()
        network.arrayInputShapeMapping = .exactArrayMapping
        network.stringClassLabels.vector = ["a", "b", "c"]
        network.layers = [
            product("head", "x", "logits", [0.1, -0.2, 0.3, 0.4, -0.5, 0.6], [0, 0.1, -0.1], isUpdatable: true),
            softmax,
        ]
        var loss = SpecLossLayer()
        loss.name = "loss"
        loss.categoricalCrossEntropyLossLayer.input = "probabilities"
        loss.categoricalCrossEntropyLossLayer.target = "probabilities_true"
        network.updateParams.lossLayers = [loss]
        network.updateParams.epochs.defaultValue = epochs
        network.updateParams.epochs.range.minValue = 1
        network.updateParams.epochs.range.maxValue = 1000
        network.updateParams.shuffle.defaultValue = shuffles
        network.updateParams.seed.defaultValue = 7
        network.updateParams.seed.range.minValue = 0
        network.updateParams.seed.range.maxValue = 1000
        network.updateParams.optimizer.sgdOptimizer.learningRate.defaultValue = rate
        network.updateParams.optimizer.sgdOptimizer.learningRate.range.minValue = 0
        network.updateParams.optimizer.sgdOptimizer.learningRate.range.maxValue = 1e30
        network.updateParams.optimizer.sgdOptimizer.miniBatchSize.defaultValue = miniBatch
        network.updateParams.optimizer.sgdOptimizer.miniBatchSize.set.values = [1, 2, 3, 4, 5, 8, 1000]
        network.updateParams.optimizer.sgdOptimizer.momentum.defaultValue = 0.25
        network.updateParams.optimizer.sgdOptimizer.momentum.range.minValue = 0
        network.updateParams.optimizer.sgdOptimizer.momentum.range.maxValue = 1
        model.neuralNetworkClassifier = network
        return model
    }

    /// A classifier of points [2] that begins empty and says "unknown", or -1.
    package static func neighbors(
        k: Int64 = 3,
        isTree: Bool = false,
        isString: Bool = true,
        input: String = "x"
    ) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        model.isUpdatable = true
        let label = isString ? text("label") : integer("label")
        model.description_p.input = [array(input, [2])]
        model.description_p.output = [label, votes("labelProbs", isString: isString)]
        model.description_p.predictedFeatureName = "label"
        model.description_p.predictedProbabilitiesName = "labelProbs"
        model.description_p.trainingInput = [array(input, [2]), label]
        var parameters = SpecKNearestNeighborsClassifier()
        parameters.nearestNeighborsIndex.numberOfDimensions = 2
        if isTree {
            parameters.nearestNeighborsIndex.singleKdTreeIndex.leafSize = 3
        } else {
            parameters.nearestNeighborsIndex.linearIndex = SpecLinearIndex()
        }
        parameters.nearestNeighborsIndex.squaredEuclideanDistance = SpecSquaredEuclideanDistance()
        parameters.numberOfNeighbors.defaultValue = k
        parameters.numberOfNeighbors.range.minValue = 1
        parameters.numberOfNeighbors.range.maxValue = 50
        if isString {
            parameters.stringClassLabels = SpecStringVector()
            parameters.defaultStringLabel = "unknown"
        } else {
            parameters.int64ClassLabels = SpecInt64Vector()
            parameters.defaultInt64Label = -1
        }
        parameters.uniformWeighting = SpecUniformWeighting()
        model.kNearestNeighborsClassifier = parameters
        return model
    }

    /// A network that turns x [2] into features (x₁ + x₂, x₁ − x₂).
    package static func extractor(_ input: String = "x", _ output: String = "features") -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [array(input, [2])]
        model.description_p.output = [array(output, [2])]
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.layers = [product("mix", input, output, [1, 1, 1, -1], [0, 0], isUpdatable: false)]
        return model
    }

    /// A pipeline of a static model and one that learns from its output.
    package static func pipeline(_ extractor: SpecModel, _ last: SpecModel, named name: String = "learner") -> SpecModel
    {
        var model = SpecModel()
        model.specificationVersion = 4
        model.isUpdatable = true
        model.description_p.input = extractor.description_p.input
        model.description_p.output = last.description_p.output
        model.description_p.predictedFeatureName = last.description_p.predictedFeatureName
        model.description_p.predictedProbabilitiesName = last.description_p.predictedProbabilitiesName
        model.description_p.trainingInput = extractor.description_p.input + last.description_p.trainingInput.dropFirst()
        model.pipelineClassifier.pipeline.models = [extractor, last]
        model.pipelineClassifier.pipeline.names = ["extractor", name]
        return model
    }
}
