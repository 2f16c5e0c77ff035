import CoreML
import CoreMLExtras
import Foundation
import MLFiles
import MLSpecification
import Testing

/// A grey picture of 6 × 6 to three labels: convolution, ReLU, pooling, inner product, softmax.
func pictureClassifier(_ labels: ModelLabels = .strings(["a", "b", "c"])) -> NeuralNetworkBuilder {
    var builder = NeuralNetworkBuilder(arrays: .rank5)
    var x = builder.input("image", .image(width: 6, height: 6, color: .grayscale), .scaled(by: 1 / 255))
    x = builder.convolution("conv", x, outputChannels: 2, kernel: (3, 3), weights: weights(18), bias: [0, 0.5])
    x = builder.activation("relu", .relu, x)
    x = builder.pooling("pool", .max, x, kernel: (2, 2), stride: (2, 2))
    x = builder.flatten("flat", x)
    x = builder.innerProduct("fc", x, outputChannels: 3, weights: weights(24), bias: [0, 0, 0])
    x = builder.softmax("softmax", x)
    builder.classifier(labels: labels, probabilities: x, feature: "label", probabilitiesFeature: "probabilities")
    return builder
}

func message(of body: () throws -> Void) -> String {
    do { try body() } catch { return error.localizedDescription }
    return ""
}

@Suite struct BuilderTests {
    @Test func aClassifierAnswers() throws {
        for labels in [ModelLabels.strings(["a", "b", "c"]), .integers([7, 8, 9])] {
            let model = try pictureClassifier(labels).finished().model()
            let picture = try #require(risingPicture(6))
            let answer = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": picture]))
            let sum = answer.featureValue(for: "probabilities")?.dictionaryValue.values.reduce(0) {
                $0 + $1.doubleValue
            }
            #expect(abs((sum ?? 0) - 1) < 1e-5)
            #expect(answer.featureValue(for: "label")?.isUndefined == false)
        }
    }

    @Test func defaultsLieWithinTheirRanges() {
        func problem(_ type: ModelFeatureType) -> String {
            message {
                var builder = NeuralNetworkBuilder()
                let x = builder.input("x", type)
                builder.output(builder.copy("y", x), .array([]))
                _ = try builder.finished()
            }
        }
        func image(_ width: ClosedRange<Int>, _ height: ClosedRange<Int>) -> ModelFeatureType {
            .image(
                ModelImageType(
                    width: 6,
                    height: 8,
                    color: .rgb,
                    flexibility: .ranges(width: width, height: height)
                )
            )
        }
        #expect(problem(image(7...9, 1...Int.max)).contains("the size 6 × 8 lies outside the ranges 7...9 and 1..."))
        #expect(problem(image(1...6, 1...7)).contains("the size 6 × 8 lies outside the ranges 1...6 and 1...7"))
        #expect(!problem(image(6...6, 8...Int.max)).contains("ranges"))
        let array = ModelArrayType(shape: [2, 3], flexibility: .ranges([1...4, 4...5]))
        #expect(problem(.multiArray(array)).contains("the shape [2, 3] lies outside the ranges"))
    }

    @Test func theVersionIsTheLowestThatHoldsTheModel() throws {
        #expect(try pictureClassifier().finished().specificationVersion == 1)
        var exact = NeuralNetworkBuilder()
        exact.output(exact.copy("y", exact.input("x", .array([2]))), .array([2]))
        #expect(try exact.finished().specificationVersion == 4)
        var half = NeuralNetworkBuilder(arrays: .rank5)
        let x = half.input("x", .array([4]))
        half.output(half.innerProduct("y", x, outputChannels: 2, weights: .float16(numbers(8))), .array([2]))
        #expect(try half.finished().specificationVersion == 2)
        var updatable = pictureClassifier()
        updatable.makeUpdatable(layers: ["fc"], loss: .categoricalCrossEntropy(input: "softmax"))
        #expect(try updatable.finished().specificationVersion == 4)
    }

    @Test func errorsNameTheLayer() {
        func expect(_ layer: String, _ text: String, _ add: (inout NeuralNetworkBuilder) -> Void) {
            var builder = NeuralNetworkBuilder()
            builder.input("x", .array([1, 2, 4, 4]))
            add(&builder)
            builder.output(builder.copy("y", "x"), .array([]))
            let found = message { _ = try builder.finished() }
            #expect(found.contains("'\(layer)'") && found.contains(text), "\(found)")
        }
        expect("conv", "36 are needed") {
            $0.convolution("conv", "x", outputChannels: 2, kernelChannels: 2, kernel: (3, 3), weights: weights(35))
        }
        expect("late", "no earlier layer gives") { $0.activation("late", .relu, "nothing") }
        expect("pool", "it must be 1 or more") { $0.pooling("pool", .max, "x", kernel: (0, 2)) }
        expect("fc", "needs 3") {
            $0.innerProduct("fc", "x", outputChannels: 2, inputChannels: 3, weights: weights(6))
        }
        expect("same", "two layers have this name") {
            let z = $0.add("same", ["x"], alpha: 1, output: "z")
            $0.add("same", [z], alpha: 1)
        }
        expect("q", "1 to 8 bits") {
            $0.innerProduct("q", "x", outputChannels: 1, inputChannels: 4, weights: .quantized(numbers(4), bits: 9))
        }
        expect("inner", "must be 1 or more") {
            $0.branch("if", "x", then: { $0.upsample("inner", "x", by: (0, 1)) })
        }
    }

    @Test func featuresAreChecked() {
        func problem(_ body: (inout NeuralNetworkBuilder) -> Void) -> String {
            var builder = NeuralNetworkBuilder()
            builder.input("x", .array([2]))
            body(&builder)
            builder.output(builder.copy("y", "x"), .array([2]))
            return message { _ = try builder.finished() }
        }
        #expect(problem { $0.input("x", .array([2])) }.contains("input 'x'"))
        #expect(problem { $0.input("s", .string) }.contains("arrays and images only"))
        #expect(problem { $0.input("z", .array([0])) }.contains("extent below 1"))
        #expect(problem { $0.output("q", .dictionary(keys: .string)) }.contains("output 'q'"))
        #expect(problem { $0.classifier(labels: .strings(["a", "a"]), probabilities: "y") }.contains("twice"))
        #expect(problem { _ in } == "")
    }

    @Test func everyFormOfWeightsGivesNearlyTheSame() throws {
        let values = (0..<24).map { Float($0 * 5 % 24) / 12 - 1 }
        var expected: [Float] = []
        for (stored, bound) in [
            (LayerWeights(values), 0), (LayerWeights(MLShapedArray(scalars: values, shape: [3, 8])), 0),
            (LayerWeights(MLMultiArray(MLShapedArray(scalars: values, shape: [3, 8]))), 0), (.float16(values), 5e-3),
            (.quantized(values, bits: 8, channels: 3), 0.05), (.quantized(values, bits: 4), 1.0),
            (.palettized(values, bits: 5), 1e-5), (.palettized(values, bits: 3), 1.2),
        ] as [(LayerWeights, Float)] {
            var builder = NeuralNetworkBuilder()
            let x = builder.input("x", .array([1, 8]))
            builder.output(builder.innerProduct("y", x, outputChannels: 3, weights: stored), .array([1, 3]))
            let model = try builder.finished().model()
            let input = MLMultiArray(MLShapedArray<Float>(repeating: 1, shape: [1, 8]))
            let answer = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["x": input]))
            let found = try #require(answer.featureValue(for: "y")?.shapedArrayValue(of: Float.self)).scalars
            if expected.isEmpty { expected = (0..<3).map { values[$0 * 8..<$0 * 8 + 8].reduce(0, +) } }
            for (a, b) in zip(found, expected) { #expect(abs(a - b) <= bound + 1e-5, "\(stored) \(a) \(b)") }
        }
    }

    @Test func filesAreReplacedWhole() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var builder = pictureClassifier()
        builder.metadata = ModelMetadata(
            description: "letters",
            author: "me",
            license: "MIT",
            version: "2",
            userDefined: ["k": "v"]
        )
        for name in ["Letters.mlmodel", "Letters.mlpackage"] {
            let url = folder.appendingPathComponent(name)
            for _ in 0..<2 { try builder.finished().write(to: url) }
            let read = try ModelSpecification(contentsOf: url)
            #expect(read.metadata == builder.metadata)
            #expect(try MLModel(contentsOf: url).modelDescription.classLabels?.count == 3)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test func aFinishedNetworkCanBeContinued() throws {
        var head = try NeuralNetworkBuilder(continuing: pictureClassifier().finished(), upTo: "flat")
        #expect(head.layerNames == ["conv", "relu", "pool", "flat"])
        #expect(head.weights(of: "conv")?.weights == numbers(18))
        head.output("flat", .array([8]))
        let model = try head.finished().model()
        let answer = try model.prediction(
            from: MLDictionaryFeatureProvider(dictionary: ["image": try #require(risingPicture(6))])
        )
        #expect(answer.featureValue(for: "flat")?.multiArrayValue?.count == 8)
        #expect(
            message { _ = try NeuralNetworkBuilder(continuing: pictureClassifier().finished(), upTo: "x") }
                .contains("flat")
        )
    }
}

/// A picture of `side` × `side` with grey levels that rise.
func risingPicture(_ side: Int) -> MLFeatureValue? {
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(nil, side, side, kCVPixelFormatType_OneComponent8, nil, &buffer)
    guard let buffer, let base = CVPixelBufferGetBaseAddress(buffer) else { return nil }
    let stride = CVPixelBufferGetBytesPerRow(buffer)
    for row in 0..<side {
        for column in 0..<side {
            base.storeBytes(of: UInt8(row * side + column), toByteOffset: row * stride + column, as: UInt8.self)
        }
    }
    return MLFeatureValue(pixelBuffer: buffer)
}
