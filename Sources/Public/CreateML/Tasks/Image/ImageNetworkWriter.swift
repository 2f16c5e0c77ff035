import MLExtractors
import MLFiles
import MLNumerics
import MLSpecification

/// Writes a classifier of pictures: an extractor and the layers that were trained on its features.
struct ImageNetworkWriter {
    /// The minimum norm that features are divided by.
    static let minimumNorm: Float = 1e-6
    private static let name = "the trained model"
    static let (label, probabilities) = ("classLabel", "classLabelProbs")

    let extractor: ImageExtractor
    let layers: [(weights: [Float], bias: [Float])]
    let labels: [String]
    /// What the model's metadata say about the extractor.
    let metadata: [String: String]

    /// The classifier; with the weight files of the caller's model, if that has some.
    func file() throws(ModelError) -> ModelFile {
        if let network = extractor.network {
            return ModelFile(specification: completed(folded(network)), path: Self.name)
        }
        let (specification, weights) = try pipeline()
        return ModelFile(specification: completed(specification), weights: weights, path: Self.name)
    }

    private func completed(_ network: SpecModel) -> SpecModel {
        var model = network
        model.description_p.predictedFeatureName = Self.label
        model.description_p.predictedProbabilitiesName = Self.probabilities
        model = model.marked
        for (key, value) in metadata { model.description_p.metadata.userDefined[key] = value }
        model.description_p.metadata.userDefined["imageCropAndScale"] = "centerCrop"
        return model
    }

    private var outputs: [SpecFeatureDescription] {
        var probabilities = SpecFeatureDescription()
        probabilities.name = Self.probabilities
        probabilities.shortDescription = "The probability of each class."
        probabilities.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        var label = SpecFeatureDescription()
        label.name = Self.label
        label.shortDescription = "The most likely class."
        label.type.stringType = SpecStringFeatureType()
        return [probabilities, label]
    }

    private func classifier(_ layers: [SpecNeuralNetworkLayer]) -> SpecNeuralNetworkClassifier {
        var network = SpecNeuralNetworkClassifier()
        network.layers = layers
        network.labelProbabilityLayerName = Self.probabilities
        network.stringClassLabels.vector = labels
        network.arrayInputShapeMapping = .exactArrayMapping
        network.imageInputShapeMapping = .rank4ImageMapping
        return network
    }

    /// One network: the extractor's layers, then the trained ones.
    private func folded(_ model: SpecModel) -> SpecModel {
        let original = model.neuralNetwork
        let input = extractor.encoder.inputName
        var network = NetworkLayers(.float32)
        if extractor.isMirrored {
            var mirror = SpecReverseLayerParams()
            mirror.reverseDim = [false, false, false, true]
            network.add([input], "mirrored", .reverse(mirror))
            var joined = SpecConcatNDLayerParams()
            joined.axis = 0
            network.add([input, "mirrored"], "views", .concatNd(joined))
        }
        // The last layer makes a vector of the features of one picture; the network may have two.
        let body = original.layers.dropLast().map { layer in
            var layer = layer
            if extractor.isMirrored { layer.input = layer.input.map { $0 == input ? "views" : $0 } }
            return layer
        }
        let head = headLayers(body.last?.output.first ?? input, views: extractor.isMirrored ? 2 : 1)
        var result = SpecModel()
        result.specificationVersion = 4
        result.description_p.input = model.description_p.input
        result.description_p.output = outputs
        result.neuralNetworkClassifier = classifier(network.layers + body + head)
        result.neuralNetworkClassifier.preprocessing = original.preprocessing
        return result
    }

    /// A pipeline of the caller's model and a network of the trained layers.
    private func pipeline() throws(ModelError) -> (SpecModel, WeightFiles) {
        let stage = extractor.file.specification
        var head = SpecModel()
        head.specificationVersion = 4
        let name = extractor.encoder.outputName
        head.description_p.input = stage.description_p.output.filter { $0.name == name }
        for index in head.description_p.input.indices {
            // Neural networks take no half-precision arrays; the pipeline converts.
            head.description_p.input[index].type.multiArrayType.dataType = .float32
        }
        head.description_p.output = outputs
        head.description_p.predictedFeatureName = Self.label
        head.description_p.predictedProbabilitiesName = Self.probabilities
        head.neuralNetworkClassifier = classifier(headLayers(name, views: 1))
        var result = SpecModel()
        result.specificationVersion = max(stage.specificationVersion, 4)
        result.description_p.input = stage.description_p.input
        result.description_p.output = outputs
        let (stages, weights) = try ModelFile.stages(of: [extractor.file, ModelFile(specification: head)])
        result.pipelineClassifier.pipeline.models = stages
        result.pipelineClassifier.pipeline.names = ["extractor", "classifier"]
        return (result, weights)
    }

    /// From the features of the views, in any shape, to the probabilities.
    private func headLayers(_ input: String, views: Int) -> [SpecNeuralNetworkLayer] {
        let width = extractor.encoder.featureCount
        var network = NetworkLayers(.float32)
        network.reshape(input, "features.rows", [views, width])
        var value = "features.rows"
        if extractor.takesRoots {
            var root = SpecUnaryFunctionLayerParams()
            root.type = .sqrt
            root.scale = 1
            network.add([value], "features.roots", .unary(root))
            value = "features.roots"
        }
        var length = SpecReduceL2LayerParams()
        length.axes = [-1]
        length.keepDims = true
        network.add([value], "features.length", .reduceL2(length))
        var bounded = SpecClipLayerParams()
        bounded.minVal = Self.minimumNorm
        bounded.maxVal = .greatestFiniteMagnitude
        network.add(["features.length"], "features.divisor", .clip(bounded))
        network.add(
            [value, "features.divisor"],
            "features.unit",
            .divideBroadcastable(SpecDivideBroadcastableLayerParams())
        )
        var mean = SpecReduceMeanLayerParams()
        mean.axes = [0]
        mean.keepDims = false
        network.add(["features.unit"], "features.mean", .reduceMean(mean))
        value = "features.mean"
        for (index, layer) in layers.enumerated() {
            var params = SpecInnerProductLayerParams()
            params.outputChannels = UInt64(layer.bias.count)
            params.inputChannels = UInt64(layer.weights.count / layer.bias.count)
            params.weights = network.weights(layer.weights)
            params.hasBias_p = true
            params.bias = network.weights(layer.bias)
            let name = index == layers.count - 1 ? "logits" : "dense\(index + 1)"
            network.add([value], name, .innerProduct(params))
            value = name
            if index < layers.count - 1 {
                var relu = SpecActivationParams()
                relu.nonlinearityType = .reLu(SpecActivationReLU())
                network.add([value], name + ".relu", .activation(relu))
                value = name + ".relu"
            }
        }
        var softmax = SpecSoftmaxNDLayerParams()
        softmax.axis = -1
        network.add([value], Self.probabilities, .softmaxNd(softmax))
        return network.layers
    }
}
