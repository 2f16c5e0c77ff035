import CoreML
import CoreMLExtras
import Foundation

func sine(_ angle: Double) -> Double { sin(angle) }
func cosine(_ angle: Double) -> Double { cos(angle) }

/// The picture of a file's bytes as the model takes it.
func value(of png: [UInt8]) throws -> MLFeatureValue {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("flower-\(UUID().uuidString).png")
    try Data(png).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try MLFeatureValue(imageAt: file, pixelsWide: 32, pixelsHigh: 32, pixelFormatType: kCVPixelFormatType_32BGRA)
}

/// A small network of convolutions that has learned nothing yet.
func network(seed: UInt64) throws -> ModelSpecification {
    var generator = Generator(state: seed)
    func weights(_ count: Int, inputs: Int) -> LayerWeights {
        let bound = (6 / Float(inputs)).squareRoot()
        return LayerWeights((0..<count).map { _ in Float.random(in: -bound...bound, using: &generator) })
    }
    var builder = NeuralNetworkBuilder(arrays: .rank5)
    var x = builder.input("image", .image(width: 32, height: 32, color: .rgb), .scaled(by: 1 / 255))
    for (index, (inputs, outputs)) in [(3, 8), (8, 16)].enumerated() {
        x = builder.convolution(
            "conv\(index)",
            x,
            outputChannels: outputs,
            kernel: (3, 3),
            padding: .amounts(top: 1, bottom: 1, left: 1, right: 1),
            weights: weights(inputs * outputs * 9, inputs: inputs * 9),
            bias: LayerWeights([Float](repeating: 0, count: outputs))
        )
        x = builder.activation("relu\(index)", .relu, x)
        x = builder.pooling("pool\(index)", .max, x, kernel: (4, 4), stride: (4, 4))
    }
    x = builder.flatten("flat", x)
    let kinds = Flower.allCases.map(\.rawValue)
    x = builder.innerProduct(
        "scores",
        x,
        outputChannels: kinds.count,
        weights: weights(64 * kinds.count, inputs: 64),
        bias: LayerWeights([Float](repeating: 0, count: kinds.count))
    )
    x = builder.softmax("softmax", x)
    builder.classifier(
        labels: .strings(kinds),
        probabilities: x,
        feature: "flower",
        probabilitiesFeature: "flowerProbability"
    )
    builder.makeUpdatable(
        layers: ["conv0", "conv1", "scores"],
        loss: .categoricalCrossEntropy(input: "softmax"),
        optimizer: .adam(learningRate: NumberParameter(0.003, in: 0...0.1), miniBatchSize: 16),
        epochs: IntegerParameter(25, in: 1...100),
        seed: 7
    )
    builder.metadata.description = "Names the flower on a picture: cornflower, daisy, poppy or sunflower."
    builder.metadata.author = "swift-coreml"
    builder.metadata.license = "Apache-2.0"
    return try builder.finished()
}

/// The model after an update with pictures of flowers.
func taught(_ url: URL, _ lessons: [(Flower, MLFeatureValue)]) async throws -> any MLModel & MLWritable {
    let examples = try lessons.map { kind, picture in
        try MLDictionaryFeatureProvider(dictionary: ["image": picture, "flower": kind.rawValue])
    }
    defer { try? FileManager.default.removeItem(at: url) }
    return try await withCheckedThrowingContinuation { continuation in
        do {
            let task = try MLUpdateTask(
                forModelAt: url,
                trainingData: MLArrayBatchProvider(array: examples),
                configuration: nil
            ) { context in
                if let error = context.task.error {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: context.model)
                }
            }
            task.resume()
        } catch {
            continuation.resume(throwing: error)
        }
    }
}
