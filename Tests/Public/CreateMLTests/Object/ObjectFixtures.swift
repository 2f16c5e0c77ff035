import CreateML
import Foundation
import ImageIO
import MLDetectionTraining
import MLExtractors
import MLImages
import MLNumerics
import MLSpecification

/// Pictures of coloured squares with their annotations, and a small extractor, in a folder.
struct ObjectFixtures {
    let folder: TemporaryFolder
    /// A folder of pictures, `0.png`, `1.png`, …, with `boxes.json`.
    let pictures: URL
    private let extractors: URL

    static let labels = ["green", "red"]

    init(count: Int = 6) throws {
        folder = try TemporaryFolder()
        pictures = folder.file("pictures")
        extractors = folder.file("extractors")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        try ExtractorStore(folder: extractors.path).install(Self.extractor(), as: .efficientNetLite0)
        var list: [[String: Any]] = []
        for number in 0..<count {
            let (bitmap, objects) = Self.picture(number)
            try ImageEncoder.png(bitmap, isOpaque: true).write(to: pictures.appendingPathComponent("\(number).png"))
            list.append([
                "image": "\(number).png",
                "annotations": objects.map { object in
                    [
                        "label": object.label,
                        "coordinates": ["x": object.x, "y": object.y, "width": object.side, "height": object.side],
                    ] as [String: Any]
                },
            ])
        }
        try JSONSerialization.data(withJSONObject: list, options: [.sortedKeys])
            .write(to: pictures.appendingPathComponent("boxes.json"))
    }

    var source: MLObjectDetector.DataSource { .directoryWithImagesAndJsonAnnotation(at: pictures) }

    func parameters(
        iterations: Int,
        batchSize: Int = 2,
        validation: MLObjectDetector.ModelParameters.ValidationData = .none
    ) -> MLObjectDetector.ModelParameters {
        var parameters = MLObjectDetector.ModelParameters(
            validation: validation,
            batchSize: batchSize,
            maxIterations: iterations
        )
        parameters.extractors = extractors.path
        return parameters
    }

    /// A grey picture of 160 × 120 pixels with a red and a green square; their centres and sides in pixels.
    static func picture(_ number: Int) -> (Bitmap, [(label: String, x: Int, y: Int, side: Int)]) {
        var source = SplitMix64(seed: UInt64(number) &* 31 &+ 5)
        var bitmap = Bitmap(width: 160, height: 120, layout: .rgba)
        for place in bitmap.pixels.indices {
            bitmap.pixels[place] = place % 4 == 3 ? 255 : UInt8.random(in: 100...130, using: &source)
        }
        var objects: [(label: String, x: Int, y: Int, side: Int)] = []
        for (index, label) in labels.enumerated() {
            let side = 2 * Int.random(in: 12...20, using: &source)
            // One in each half, so that they do not overlap.
            let x = index * 80 + Int.random(in: side / 2...80 - side / 2, using: &source)
            let y = Int.random(in: side / 2...120 - side / 2, using: &source)
            for row in y - side / 2..<y + side / 2 {
                for column in x - side / 2..<x + side / 2 {
                    let place = (row * 160 + column) * 4
                    bitmap.pixels.replaceSubrange(
                        place..<place + 3,
                        with: label == "red" ? [220, 30, 30] : [30, 200, 40]
                    )
                }
            }
            objects.append((label, x, y, side))
        }
        return (bitmap, objects)
    }

    /// The mean colours of fields of 8, 16 and 32 pixels, under the names of EfficientNet-Lite0's values.
    private static func extractor() -> SpecModel {
        var network = NetworkLayers(.float32)
        for (name, side) in [("block4.output", 8), ("block10.output", 16), ("block15.output", 32)] as [(String, UInt64)]
        {
            var pooling = SpecPoolingLayerParams()
            pooling.type = .average
            pooling.kernelSize = [side, side]
            pooling.stride = [side, side]
            pooling.valid = SpecValidPadding()
            network.add(["image"], name, .pooling(pooling))
        }
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [.image("image", width: 224, height: 224, "A picture.")]
        model.description_p.output = [.floats("block15.output", [1, 3, 7, 7], "Mean colours.")]
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        return model
    }
}
