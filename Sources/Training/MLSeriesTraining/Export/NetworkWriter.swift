import MLSpecification

/// Appends layers to a neural network of the specification.
struct NetworkWriter {
    private(set) var layers: [SpecNeuralNetworkLayer] = []
    /// The prefix of all values' names; names without it get it.
    var prefix = ""

    /// Appends a layer whose results have the given names.
    mutating func add(_ inputs: [String], _ outputs: [String], _ kind: SpecNeuralNetworkLayer.OneOf_Layer) {
        var layer = SpecNeuralNetworkLayer()
        layer.input = inputs.map(prefixed)
        layer.output = outputs.map(prefixed)
        layer.name = layer.output[0]
        layer.layer = kind
        layers.append(layer)
    }

    private func prefixed(_ name: String) -> String { name.hasPrefix(prefix) ? name : prefix + name }

    static func weights(_ values: [Float]) -> SpecWeightParams {
        var params = SpecWeightParams()
        params.floatValue = values
        return params
    }

    /// Appends a fully connected layer.
    ///
    /// - Parameters:
    ///   - input: The name of the layer's input.
    ///   - output: The name of the layer's output.
    ///   - inputs: The number of inputs.
    ///   - outputs: The number of outputs.
    ///   - weights: [outputs, inputs].
    ///   - bias: One number for each output; `nil` for none.
    mutating func innerProduct(
        _ input: String,
        _ output: String,
        inputs: Int,
        outputs: Int,
        weights: [Float],
        bias: [Float]? = nil
    ) {
        var layer = SpecInnerProductLayerParams()
        layer.inputChannels = UInt64(inputs)
        layer.outputChannels = UInt64(outputs)
        layer.weights = Self.weights(weights)
        if let bias {
            layer.hasBias_p = true
            layer.bias = Self.weights(bias)
        }
        add([input], [output], .innerProduct(layer))
    }

    mutating func relu(_ input: String, _ output: String) {
        var layer = SpecActivationParams()
        layer.nonlinearityType = .reLu(SpecActivationReLU())
        add([input], [output], .activation(layer))
    }

    static func function(_ kind: SpecActivationParams.OneOf_NonlinearityType) -> SpecActivationParams {
        var params = SpecActivationParams()
        params.nonlinearityType = kind
        return params
    }

    mutating func slice(
        _ input: String,
        _ output: String,
        begin: [Int64?],
        end: [Int64?],
        dropping axes: Set<Int> = []
    ) {
        var layer = SpecSliceStaticLayerParams()
        layer.beginIds = begin.map { $0 ?? 0 }
        layer.beginMasks = begin.map { $0 == nil }
        layer.endIds = end.map { $0 ?? 0 }
        layer.endMasks = end.map { $0 == nil }
        layer.strides = begin.map { _ in 1 }
        layer.squeezeMasks = begin.indices.map(axes.contains)
        add([input], [output], .sliceStatic(layer))
    }

    mutating func transpose(_ input: String, _ output: String, _ axes: [UInt64]) {
        var layer = SpecTransposeLayerParams()
        layer.axes = axes
        add([input], [output], .transpose(layer))
    }

    mutating func reshape(_ input: String, _ output: String, _ shape: [Int]) {
        var layer = SpecReshapeStaticLayerParams()
        layer.targetShape = shape.map { Int64($0) }
        add([input], [output], .reshapeStatic(layer))
    }

    mutating func constant(_ output: String, _ values: [Float], _ shape: [Int]) {
        var layer = SpecLoadConstantNDLayerParams()
        layer.shape = shape.map { UInt64($0) }
        layer.data = Self.weights(values)
        add([], [output], .loadConstantNd(layer))
    }

    mutating func concat(_ inputs: [String], _ output: String, axis: Int) {
        var layer = SpecConcatNDLayerParams()
        layer.axis = Int64(axis)
        add(inputs, [output], .concatNd(layer))
    }

    /// The mean over the last axis, which is removed.
    mutating func meanOverLast(_ input: String, _ output: String) {
        var layer = SpecReduceMeanLayerParams()
        layer.axes = [-1]
        layer.keepDims = false
        add([input], [output], .reduceMean(layer))
    }

    mutating func softmax(_ input: String, _ output: String, axis: Int = -1) {
        var layer = SpecSoftmaxNDLayerParams()
        layer.axis = Int64(axis)
        add([input], [output], .softmaxNd(layer))
    }
}

extension SpecFeatureDescription {
    /// A multi-array of 32-bit or 64-bit numbers.
    static func array(_ name: String, _ shape: [Int], isDouble: Bool = false, _ about: String = "") -> Self {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = about
        feature.type.multiArrayType.shape = shape.map { Int64($0) }
        feature.type.multiArrayType.dataType = isDouble ? .double : .float32
        return feature
    }

    static func string(_ name: String, _ about: String = "") -> Self {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = about
        feature.type.stringType = SpecStringFeatureType()
        return feature
    }

    /// A dictionary from classes to numbers.
    static func probabilities(_ name: String, _ about: String = "") -> Self {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = about
        feature.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        return feature
    }
}

/// The names of a classifier's outputs, as in Create ML.
package struct ClassifierNames: Sendable, Hashable {
    package var label: String
    package var probabilities: String

    /// Create ML's tasks with a target column derive the probabilities' name from it.
    package init(label: String, probabilities: String? = nil) {
        self.label = label
        self.probabilities = probabilities ?? label + "Probability"
    }
}

extension SpecModel {
    /// A classifier made of these layers, the last of which gives the probabilities, with exact shapes or those of rank
    /// 5.
    static func classifier(
        _ writer: NetworkWriter,
        inputs: [SpecFeatureDescription],
        further outputs: [SpecFeatureDescription] = [],
        probabilityLayer: String,
        labels: [String],
        names: ClassifierNames,
        metadata: [String: String] = [:],
        version: Int32,
        isExact: Bool
    ) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = version
        model.description_p.metadata.userDefined = metadata
        model.description_p.input = inputs
        model.description_p.output =
            [
                .probabilities(names.probabilities, "The probability of each class"),
                .string(names.label, "The most likely class"),
            ] + outputs
        model.description_p.predictedFeatureName = names.label
        model.description_p.predictedProbabilitiesName = names.probabilities
        var network = SpecNeuralNetworkClassifier()
        network.layers = writer.layers
        network.labelProbabilityLayerName = probabilityLayer
        network.stringClassLabels.vector = labels
        if isExact {
            network.arrayInputShapeMapping = .exactArrayMapping
            network.imageInputShapeMapping = .rank4ImageMapping
        }
        model.neuralNetworkClassifier = network
        return model
    }
}
