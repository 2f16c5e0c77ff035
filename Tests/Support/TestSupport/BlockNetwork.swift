package import MLExtractors
import MLNumerics
package import MLSpecification

/// A small network of images in blocks, with random weights: a stem, three blocks, a head and means over the image, as in
/// EfficientNet-Lite0.
package enum BlockNetwork {
    /// The width and height of images, and the number of features.
    package static let (side, width) = (24, 20)

    /// The network as an extractor's model: `image` in, `features` out; its values are `block0.output` to `block2.output`.
    package static func specification(_ precision: NetworkLayers.Precision = .float16) -> SpecModel {
        var network = NetworkLayers(precision)
        var source = SplitMix64(seed: 11)
        func convolve(_ input: String, _ output: String, _ shape: [Int], stride: Int = 1, groups: Int = 1) {
            let bound = (6 / Float(shape[1] * shape[2] * shape[3])).squareRoot()
            network.convolution(
                input,
                output,
                weights: (0..<shape.reduce(1, *)).map { _ in Float.random(in: -bound...bound, using: &source) },
                shape: shape,
                bias: (0..<shape[0]).map { _ in Float.random(in: -0.1...0.3, using: &source) },
                stride: stride,
                groups: groups
            )
        }
        func rectified(_ name: String) -> String {
            network.relu6(name, name + ".relu6")
            return name + ".relu6"
        }
        convolve("image", "stem", [8, 3, 3, 3], stride: 2)
        var value = rectified("stem")
        let blocks: [(inputs: Int, outputs: Int, stride: Int)] = [(8, 8, 1), (8, 12, 2), (12, 12, 1)]
        for (index, block) in blocks.enumerated() {
            let name = "block\(index)"
            let isResidual = block.inputs == block.outputs
            convolve(value, name + ".expand", [16, block.inputs, 1, 1])
            let expanded = rectified(name + ".expand")
            convolve(expanded, name + ".depthwise", [16, 1, 3, 3], stride: block.stride, groups: 16)
            let filtered = rectified(name + ".depthwise")
            convolve(filtered, isResidual ? name + ".project" : name + ".output", [block.outputs, 16, 1, 1])
            if isResidual { network.sum([name + ".project", value], name + ".output") }
            value = name + ".output"
        }
        convolve(value, "head", [width, 12, 1, 1])
        network.globalMean(rectified("head"), "pool")
        network.reshape("pool", "features", [width])

        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [.image("image", width: side, height: side, "A picture.")]
        model.description_p.output = [.floats("features", [width], "Features.")]
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        var scaler = SpecNeuralNetworkImageScaler()
        scaler.channelScale = 1 / 128
        (scaler.redBias, scaler.greenBias, scaler.blueBias) = (-1, -1, -1)
        var preprocessing = SpecNeuralNetworkPreprocessing()
        preprocessing.featureName = "image"
        preprocessing.scaler = scaler
        model.neuralNetwork.preprocessing = [preprocessing]
        return model
    }
}
