package import MLNumerics
package import MLSpecification

extension StyleNetwork {
    /// The name of the image among the inputs of a model file, as in Create ML.
    package static let inputName = "image"
    /// The name of the drawn image among the outputs.
    package static let outputName = "stylizedImage"
    /// The sides that a model file takes: from this on, without a limit.
    package static let minimumSide = 64

    /// The trained network as a model file's neural network: an image of any size from 64 × 64 pixels on, and the
    /// drawn image in the same size.
    ///
    /// - Parameters:
    ///   - parameters: The parameters in the order of `firstParameters`.
    ///   - side: The width and height that apps without a size of their own are told.
    /// - Returns: The model.
    package func specification(parameters: [Tensor], side: Int = 512) -> SpecModel {
        var writer = StyleLayers()
        var remaining = parameters[...]
        var (x, kept) = (Self.inputName, "")
        for layer in layers {
            if layer.role == .first { kept = x }
            if layer.role == .enlarging { x = writer.enlarge(x, layer.name + ".enlarged") }
            x = writer.reflect(x, layer.name + ".margin", layer.margin)
            let weights = remaining.removeFirst()
            guard layer.role != .last else {
                x = writer.convolve(x, layer, weights: weights, bias: remaining.removeFirst())
                x = writer.activate(x, layer.name + ".sigmoid", .sigmoid(SpecActivationSigmoid()))
                x = writer.spread(x, layer.name + ".spread")
                continue
            }
            x = writer.convolve(x, layer, weights: weights, bias: nil)
            x = writer.normalize(x, layer.name + ".normalized", remaining.removeFirst(), remaining.removeFirst())
            x =
                layer.role == .second
                ? writer.sum(kept, x, layer.name + ".sum")
                : writer.activate(x, layer.name + ".relu", .reLu(SpecActivationReLU()))
        }
        x = writer.crop(x, like: Self.inputName, "cropped")
        var scale = SpecActivationLinear()
        scale.alpha = 255
        _ = writer.activate(x, Self.outputName, .linear(scale))
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [.image(Self.inputName, side, "The picture to draw")]
        model.description_p.output = [.image(Self.outputName, side, "The drawn picture")]
        var scaler = SpecNeuralNetworkImageScaler()
        scaler.channelScale = 1 / 255
        (scaler.redBias, scaler.greenBias, scaler.blueBias) = (-0.5, -0.5, -0.5)
        var preprocessing = SpecNeuralNetworkPreprocessing()
        preprocessing.featureName = Self.inputName
        preprocessing.scaler = scaler
        model.neuralNetwork.preprocessing = [preprocessing]
        model.neuralNetwork.layers = writer.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        return model
    }
}

/// The layers of a style network.
private struct StyleLayers {
    private(set) var layers: [SpecNeuralNetworkLayer] = []

    private mutating func add(
        _ inputs: [String],
        _ output: String,
        _ kind: SpecNeuralNetworkLayer.OneOf_Layer
    ) -> String {
        var layer = SpecNeuralNetworkLayer()
        layer.name = output
        layer.input = inputs
        layer.output = [output]
        layer.layer = kind
        layers.append(layer)
        return output
    }

    private static func weights(_ tensor: Tensor) -> SpecWeightParams {
        var params = SpecWeightParams()
        params.floatValue = tensor.withElements(of: Float.self) { Array($0) }
        return params
    }

    mutating func reflect(_ x: String, _ name: String, _ margin: Int) -> String {
        var params = SpecPaddingLayerParams()
        params.reflection = SpecPaddingLayerParams.PaddingReflection()
        var edge = SpecBorderAmounts.EdgeSizes()
        (edge.startEdgeSize, edge.endEdgeSize) = (UInt64(margin), UInt64(margin))
        params.paddingAmounts.borderAmounts = [edge, edge]
        return add([x], name, .padding(params))
    }

    mutating func convolve(_ x: String, _ layer: StyleNetwork.Layer, weights: Tensor, bias: Tensor?) -> String {
        var params = SpecConvolutionLayerParams()
        params.outputChannels = UInt64(layer.outputs)
        params.kernelChannels = UInt64(layer.inputs)
        params.nGroups = 1
        params.kernelSize = [UInt64(layer.kernel), UInt64(layer.kernel)]
        params.stride = [UInt64(layer.stride), UInt64(layer.stride)]
        params.dilationFactor = [1, 1]
        params.valid = SpecValidPadding()
        params.weights = Self.weights(weights)
        if let bias {
            params.hasBias_p = true
            params.bias = Self.weights(bias)
        }
        return add([x], layer.name, .convolution(params))
    }

    mutating func normalize(_ x: String, _ name: String, _ scale: Tensor, _ offset: Tensor) -> String {
        var params = SpecBatchnormLayerParams()
        params.channels = UInt64(scale.count)
        params.computeMeanVar = true
        params.instanceNormalization = true
        params.epsilon = Float(StyleNetwork.epsilon)
        params.gamma = Self.weights(scale)
        params.beta = Self.weights(offset)
        return add([x], name, .batchnorm(params))
    }

    mutating func activate(_ x: String, _ name: String, _ kind: SpecActivationParams.OneOf_NonlinearityType) -> String {
        var params = SpecActivationParams()
        params.nonlinearityType = kind
        return add([x], name, .activation(params))
    }

    mutating func sum(_ a: String, _ b: String, _ name: String) -> String {
        add([a, b], name, .add(SpecAddLayerParams()))
    }

    mutating func enlarge(_ x: String, _ name: String) -> String {
        var params = SpecUpsampleLayerParams()
        params.scalingFactor = [2, 2]
        params.mode = .nn
        return add([x], name, .upsample(params))
    }

    mutating func spread(_ x: String, _ name: String) -> String {
        var params = SpecReorganizeDataLayerParams()
        params.mode = .depthToSpace
        params.blockSize = 2
        return add([x], name, .reorganizeData(params))
    }

    mutating func crop(_ x: String, like image: String, _ name: String) -> String {
        var params = SpecCropLayerParams()
        params.offset = [0, 0]
        return add([x, image], name, .crop(params))
    }
}

extension SpecFeatureDescription {
    /// An image in colours of any size from `StyleNetwork.minimumSide` on.
    fileprivate static func image(_ name: String, _ side: Int, _ about: String) -> Self {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = about
        feature.type.imageType.colorSpace = .rgb
        feature.type.imageType.width = Int64(side)
        feature.type.imageType.height = Int64(side)
        var range = SpecSizeRange()
        range.lowerBound = UInt64(StyleNetwork.minimumSide)
        range.upperBound = -1
        feature.type.imageType.imageSizeRange.widthRange = range
        feature.type.imageType.imageSizeRange.heightRange = range
        return feature
    }
}
