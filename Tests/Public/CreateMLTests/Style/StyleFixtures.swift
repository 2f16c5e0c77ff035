import CreateML
import Foundation
import ImageIO
import MLFiles
import MLImages
import MLNumerics
import MLSpecification

/// Pictures, and a small network that measures their style.
enum StyleFixtures {
    /// A style of stripes, content pictures with a disc each, and a network, in a folder.
    struct Files {
        let folder: TemporaryFolder
        let style: URL
        let contents: URL
        let network: URL

        init() throws {
            folder = try TemporaryFolder()
            style = folder.file("style.png")
            contents = folder.file("contents")
            network = folder.file("network.mlmodel")
            try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
            try write(StyleFixtures.stripes(96, 80), to: style)
            for index in 0..<3 {
                try write(StyleFixtures.disc(90 + 10 * index, 80), to: contents.appendingPathComponent("\(index).png"))
            }
            try ModelFile.writeModel(StyleFixtures.network(), to: network.path)
        }

        func write(_ bitmap: Bitmap, to url: URL) throws { try ImageEncoder.png(bitmap, isOpaque: true).write(to: url) }

        var data: MLStyleTransfer.DataSource { .images(styleImage: style, contentDirectory: contents) }

        func parameters(
            iterations: Int,
            _ algorithm: MLStyleTransfer.ModelParameters.ModelAlgorithmType = .cnnLite
        ) -> MLStyleTransfer.ModelParameters {
            var parameters = MLStyleTransfer.ModelParameters(
                algorithm: algorithm,
                maxIterations: iterations,
                textelDensity: 64
            )
            parameters.featureExtractor = .custom(network)
            return parameters
        }

        func session(_ name: String, iterations: Int = 1000, interval: Int = 2) -> MLTrainingSessionParameters {
            MLTrainingSessionParameters(
                sessionDirectory: folder.file(name),
                reportInterval: 1,
                checkpointInterval: interval,
                iterations: iterations
            )
        }
    }

    static func bitmap(_ width: Int, _ height: Int, _ colour: (Int, Int) -> (UInt8, UInt8, UInt8)) -> Bitmap {
        var bitmap = Bitmap(width: width, height: height, layout: .rgba)
        for y in 0..<height {
            for x in 0..<width {
                let (red, green, blue) = colour(x, y)
                bitmap.pixels.replaceSubrange(
                    4 * (y * width + x)..<4 * (y * width + x) + 4,
                    with: [red, green, blue, 255]
                )
            }
        }
        return bitmap
    }

    static func stripes(_ width: Int, _ height: Int) -> Bitmap {
        bitmap(width, height) { x, y in (x + y) / 4 % 2 == 0 ? (230, 60, 20) : (20, 40, 160) }
    }

    static func disc(_ width: Int, _ height: Int) -> Bitmap {
        bitmap(width, height) { x, y in
            let (dx, dy) = (x - width / 2, y - height / 2)
            return dx * dx + dy * dy < 600 ? (200, 200, UInt8(2 * y)) : (UInt8(x), 90, 60)
        }
    }

    /// Four convolutions with ReLU at three sizes, with weights drawn from a seed.
    static func network(rectified: Bool = true, kernelScale: Float = 1) throws -> SpecModel {
        var source = SplitMix64(seed: 3)
        var model = SpecModel()
        model.specificationVersion = 4
        var input = SpecFeatureDescription()
        input.name = "picture"
        input.type.imageType.colorSpace = .rgb
        (input.type.imageType.width, input.type.imageType.height) = (64, 64)
        model.description_p.input = [input]
        var output = SpecFeatureDescription()
        output.name = "features"
        output.type.multiArrayType.dataType = .float32
        model.description_p.output = [output]
        var scaler = SpecNeuralNetworkImageScaler()
        scaler.channelScale = 1 / 255
        var preprocessing = SpecNeuralNetworkPreprocessing()
        preprocessing.featureName = "picture"
        preprocessing.scaler = scaler
        model.neuralNetwork.preprocessing = [preprocessing]
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        var name = "picture"
        for (index, (inputs, outputs, stride)) in [(3, 8, 1), (8, 12, 2), (12, 12, 1), (12, 16, 2)].enumerated() {
            var convolution = SpecConvolutionLayerParams()
            (convolution.outputChannels, convolution.kernelChannels) = (UInt64(outputs), UInt64(inputs))
            convolution.nGroups = 1
            convolution.kernelSize = [3, 3]
            convolution.stride = [UInt64(stride), UInt64(stride)]
            convolution.same = SpecSamePadding()
            convolution.weights.floatValue = (0..<outputs * inputs * 9).map { _ in
                kernelScale * (Float(source.next() >> 40) * 0x1p-23 - 1) * (2 / Float(inputs * 9)).squareRoot() * 1.7
            }
            var layer = SpecNeuralNetworkLayer()
            (layer.name, layer.input, layer.output) = ("convolution\(index)", [name], ["convolution\(index)"])
            layer.convolution = convolution
            model.neuralNetwork.layers.append(layer)
            name = index == 3 && !rectified ? "features" : layer.name
            guard rectified else {
                model.neuralNetwork.layers[index].output = [index == 3 ? "features" : layer.name]
                continue
            }
            var activation = SpecActivationParams()
            activation.reLu = SpecActivationReLU()
            let result = index == 3 ? "features" : "rectified\(index)"
            (layer.name, layer.input, layer.output) = (result, [name], [result])
            layer.activation = activation
            model.neuralNetwork.layers.append(layer)
            name = result
        }
        return model
    }
}
