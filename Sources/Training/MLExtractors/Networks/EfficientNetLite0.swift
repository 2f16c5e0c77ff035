package import MLNumerics
package import MLSpecification

/// EfficientNet-Lite0 without its classifier, written as a neural network of the specification.
///
/// The network: a stem (3 × 3, stride 2), sixteen inverted bottlenecks without squeeze and excitation, a head (1 × 1)
/// of 1,280 channels, and their means over the image; ReLU6 throughout. Batch normalisation (epsilon 0.001) is folded
/// into the convolutions. Padding is TensorFlow's "same".
///
/// Values of the network, by the names of the layers that compute them; `i` counts blocks from 0:
/// `stem.relu6`, `block<i>.expand.relu6` (blocks 1…15), `block<i>.depthwise.relu6`, `block<i>.output`, `head.relu6`,
/// `features`.
package struct EfficientNetLite0: Sendable {
    /// An inverted bottleneck.
    package struct Block: Sendable, Hashable {
        package var kernel: Int
        package var stride: Int
        /// The expansion factor of the channels; 1 for none.
        package var expansion: Int
        package var inputs: Int
        package var outputs: Int

        /// Whether the block's input is added to its result.
        package var isResidual: Bool { stride == 1 && inputs == outputs }
    }

    /// A convolution into which its normalisation was folded.
    package struct Convolution: Sendable {
        /// [output channels, input channels of a group, height, width].
        package var shape: [Int]
        package var weights: [Float]
        package var bias: [Float]
    }

    package static let inputSize = 224
    package static let featureCount = 1280
    package static let stemCount = 32

    /// The blocks in their order: number, kernel, stride, expansion, input and output channels of each group of them.
    package static let blocks: [Block] = {
        let groups = [
            (1, 3, 1, 1, 32, 16), (2, 3, 2, 6, 16, 24), (2, 5, 2, 6, 24, 40), (3, 3, 2, 6, 40, 80),
            (3, 5, 1, 6, 80, 112),
            (4, 5, 2, 6, 112, 192), (1, 3, 1, 6, 192, 320),
        ]
        return groups.flatMap { count, kernel, stride, expansion, inputs, outputs in
            (0..<count).map { index in
                Block(
                    kernel: kernel,
                    stride: index == 0 ? stride : 1,
                    expansion: expansion,
                    inputs: index == 0 ? inputs : outputs,
                    outputs: outputs
                )
            }
        }
    }()

    /// The convolutions by the names of their layers.
    package let convolutions: [String: Convolution]

    /// Folds the normalisations of the original's tensors into its convolutions.
    ///
    /// - Parameter tensors: The state dictionary of PyTorch's `efficientnet_lite_pytorch`.
    /// - Throws: `.malformed` if a tensor is missing or of another shape or type.
    package init(_ tensors: [String: Tensor]) throws(ModelError) {
        func values(_ name: String, _ shape: [Int]) throws(ModelError) -> [Float] {
            guard let tensor = tensors[name], tensor.scalarType == .float32, tensor.shape == shape else {
                let found = tensors[name].map { "\($0.scalarType.milName) \($0.shape)" } ?? "missing"
                throw ModelError(
                    .malformed,
                    "the weights are not those of EfficientNet-Lite0: the tensor '\(name)' is \(found), not fp32 \(shape)"
                )
            }
            return Array(UnsafeBufferPointer(start: tensor.floats, count: tensor.count))
        }
        var result: [String: Convolution] = [:]
        func fold(
            _ layer: String,
            _ convolution: String,
            _ normalization: String,
            _ shape: [Int]
        ) throws(ModelError) {
            var weights = try values(convolution + ".weight", shape)
            let outputs = shape[0]
            let gain = try values(normalization + ".weight", [outputs])
            let shift = try values(normalization + ".bias", [outputs])
            let mean = try values(normalization + ".running_mean", [outputs])
            let variance = try values(normalization + ".running_var", [outputs])
            var bias = [Float](repeating: 0, count: outputs)
            let size = weights.count / outputs
            for output in 0..<outputs {
                let factor = Double(gain[output]) / (Double(variance[output]) + 1e-3).squareRoot()
                for position in output * size..<(output + 1) * size {
                    weights[position] = Float(Double(weights[position]) * factor)
                }
                bias[output] = Float(Double(shift[output]) - Double(mean[output]) * factor)
            }
            guard weights.allSatisfy(\.isFinite), bias.allSatisfy(\.isFinite) else {
                throw ModelError(.malformed, "the tensor '\(convolution).weight' has values that are not finite")
            }
            result[layer] = Convolution(shape: shape, weights: weights, bias: bias)
        }
        try fold("stem", "_conv_stem", "_bn0", [Self.stemCount, 3, 3, 3])
        for (index, block) in Self.blocks.enumerated() {
            let (own, theirs) = ("block\(index)", "_blocks.\(index).")
            let wide = block.inputs * block.expansion
            if block.expansion != 1 {
                try fold(own + ".expand", theirs + "_expand_conv", theirs + "_bn0", [wide, block.inputs, 1, 1])
            }
            try fold(
                own + ".depthwise",
                theirs + "_depthwise_conv",
                theirs + "_bn1",
                [wide, 1, block.kernel, block.kernel]
            )
            try fold(own + ".project", theirs + "_project_conv", theirs + "_bn2", [block.outputs, wide, 1, 1])
        }
        try fold("head", "_conv_head", "_bn1", [Self.featureCount, Self.blocks[15].outputs, 1, 1])
        convolutions = result
    }

    /// The network as a model: `image` in, 224 × 224 pixels in colour; `features` out, 1,280 numbers.
    package func specification(_ precision: NetworkLayers.Precision) throws(ModelError) -> SpecModel {
        var network = NetworkLayers(precision)
        func convolve(_ input: String, _ name: String, as output: String? = nil, stride: Int = 1, groups: Int = 1) {
            guard let convolution = convolutions[name] else { preconditionFailure("no convolution is named \(name)") }
            network.convolution(
                input,
                output ?? name,
                weights: convolution.weights,
                shape: convolution.shape,
                bias: convolution.bias,
                stride: stride,
                groups: groups
            )
        }
        func activated(_ name: String) -> String {
            network.relu6(name, name + ".relu6")
            return name + ".relu6"
        }
        convolve("image", "stem", stride: 2)
        var value = activated("stem")
        for (index, block) in Self.blocks.enumerated() {
            let (name, input) = ("block\(index)", value)
            if block.expansion != 1 {
                convolve(value, name + ".expand")
                value = activated(name + ".expand")
            }
            convolve(value, name + ".depthwise", stride: block.stride, groups: block.inputs * block.expansion)
            value = activated(name + ".depthwise")
            convolve(value, name + ".project", as: block.isResidual ? nil : name + ".output")
            if block.isResidual { network.sum([name + ".project", input], name + ".output") }
            value = name + ".output"
        }
        convolve(value, "head")
        network.globalMean(activated("head"), "pool")
        network.reshape("pool", "features", [Self.featureCount])

        var model = SpecModel()
        model.specificationVersion = 4
        let size = Self.inputSize
        model.description_p.input = [.image("image", width: size, height: size, "The picture, in colour.")]
        model.description_p.output = [.floats("features", [Self.featureCount], "The features of the picture.")]
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        var scaler = SpecNeuralNetworkImageScaler()
        scaler.channelScale = 1 / 128
        (scaler.redBias, scaler.greenBias, scaler.blueBias) = (-127 / 128, -127 / 128, -127 / 128)
        var preprocessing = SpecNeuralNetworkPreprocessing()
        preprocessing.featureName = "image"
        preprocessing.scaler = scaler
        model.neuralNetwork.preprocessing = [preprocessing]
        return model
    }
}
