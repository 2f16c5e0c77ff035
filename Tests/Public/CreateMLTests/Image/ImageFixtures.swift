import Foundation
import ImageIO
import MLExtractors
import MLFiles
import MLImages
import MLNumerics
import MLSpecification

/// Pictures and a feature extractor that are made by code.
enum ImageFixtures {
    /// The side of the extractor's picture, and the number of its features.
    static let (size, width) = (16, 48)

    /// The mean colours of 4 × 4 fields of a picture of 16 × 16 pixels: 48 features.
    static func extractor() -> SpecModel {
        var network = NetworkLayers(.float32)
        var pooling = SpecPoolingLayerParams()
        pooling.type = .average
        pooling.kernelSize = [4, 4]
        pooling.stride = [4, 4]
        pooling.valid = SpecValidPadding()
        network.add(["image"], "pool", .pooling(pooling))
        network.reshape("pool", "features", [width])
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [.image("image", width: size, height: size, "A picture.")]
        model.description_p.output = [.floats("features", [width], "Mean colours.")]
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        return model
    }

    /// Writes the extractor as a model of the caller's, and returns the parameters that name it.
    static func custom(_ folder: TemporaryFolder) throws -> URL {
        let url = folder.file("extractor.mlmodel")
        try ModelFile.writeModel(extractor(), to: url.path)
        return url
    }

    /// Writes an ML program with the same features, whose weights (a unit scale) are in a file of the package.
    static func program(_ folder: TemporaryFolder) throws -> URL {
        let weights = folder.file("weight.bin")
        let writer = try WeightFileWriter(path: weights.path)
        let ones = [Float](repeating: 1, count: width)
        let offset = try writer.append(.float32, elementCount: width, ones.span.bytes)
        try writer.finish()
        let text = """
            program(1.0) {
              func main<ios15>(tensor<fp32, [1, 3, 16, 16]> image) {
                tensor<int32, [2]> four = const()[val = tensor<int32, [2]>([4, 4])];
                tensor<int32, [4]> none = const()[val = tensor<int32, [4]>([0, 0, 0, 0])];
                string padding = const()[val = string("valid")];
                bool no = const()[val = bool(false)];
                tensor<int32, [2]> row = const()[val = tensor<int32, [2]>([1, 48])];
                tensor<fp32, [48]> scale = const()[val = tensor<fp32, [48]>(BLOBFILE(
                  path = string("@model_path/weights/weight.bin"), offset = uint64(\(offset))))];
                tensor<fp32, [1, 3, 4, 4]> pool = avg_pool(x = image, kernel_sizes = four, strides = four,
                  pad_type = padding, pad = none, exclude_padding_from_average = no, ceil_mode = no);
                tensor<fp32, [1, 48]> flat = reshape(x = pool, shape = row);
                tensor<fp32, [1, 48]> features = mul(x = flat, y = scale);
              } -> (features);
            }
            """
        var model = SpecModel()
        model.mlProgram = try MILParser.program(Array(text.utf8))
        model.description_p.input = [.image("image", width: size, height: size, "A picture.")]
        model.description_p.output = [.floats("features", [1, width], "Mean colours.")]
        model.specificationVersion = SpecificationVersion.minimum(model)
        let url = folder.file("Extractor.mlpackage")
        try ModelFile.writePackage(model, weights: ["weight.bin": .path(weights.path)], to: url.path)
        return url
    }

    /// A picture of a class: bars that lean to one side, noise and light that differ from picture to picture.
    static func picture(_ label: String, _ number: Int, width: Int = 40, height: Int = 32) -> Bitmap {
        var source = SplitMix64(seed: UInt64(number) &* 977 &+ UInt64(label.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
        let light = Double.random(in: 0.7...1.2, using: &source)
        var bitmap = Bitmap(width: width, height: height, layout: .rgba)
        for y in 0..<height {
            for x in 0..<width {
                let colour: [Double]
                switch label {
                case "left": colour = x < width / 2 ? [180, 60, 60] : [40, 40, 90]
                case "right": colour = x < width / 2 ? [40, 40, 90] : [180, 60, 60]
                default: colour = y < height / 2 ? [60, 160, 60] : [120, 120, 30]
                }
                for component in 0..<3 {
                    let value = colour[component] * light + Double.random(in: -25...25, using: &source)
                    bitmap.pixels[(y * width + x) * 4 + component] = UInt8(min(max(value, 0), 255))
                }
                bitmap.pixels[(y * width + x) * 4 + 3] = 255
            }
        }
        return bitmap
    }

    /// Writes pictures of each label into a folder of its name.
    static func write(
        _ labels: [String],
        _ numbers: Range<Int>,
        to url: URL
    ) throws {
        for label in labels {
            let folder = url.appendingPathComponent(label)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for number in numbers {
                let data = try ImageEncoder.png(picture(label, number), isOpaque: true)
                try data.write(to: folder.appendingPathComponent("\(number).png"))
            }
        }
    }
}
