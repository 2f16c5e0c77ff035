// Adapt: a network of handwritten digits learns the hand of one writer, who turns the paper.

import CoreML
import CoreMLExtras
import ExampleSupport

/// The digits network, built anew with its weights so that it can learn: the two layers behind its convolutions.
///
/// The network as converted ends in `softmaxND` and flattens with `reshapeStatic`, through which Apple's systems carry
/// no gradients; `flatten` and `softmax` say the same in the form that they update.
func adaptable(_ digits: ModelSpecification) throws -> ModelSpecification {
    let source = try NeuralNetworkBuilder(continuing: digits)
    var builder = NeuralNetworkBuilder(arrays: .rank5)
    var x = builder.input("image", .image(width: 28, height: 28, color: .grayscale), .scaled(by: 1 / 255))
    for (index, (layer, channels)) in [("input.1", 12), ("input.7", 24), ("input.13", 24)].enumerated() {
        guard let learnt = source.weights(of: layer) else { throw Unexpected("there is no layer \(layer)") }
        x = builder.convolution(
            "conv\(index)",
            x,
            outputChannels: channels,
            kernel: (3, 3),
            padding: .amounts(top: 1, bottom: 1, left: 1, right: 1),
            weights: LayerWeights(learnt.weights),
            bias: learnt.bias.map { LayerWeights($0) }
        )
        x = builder.activation("relu\(index)", .relu, x)
        x = builder.pooling("pool\(index)", .max, x, kernel: (2, 2), stride: (2, 2))
    }
    x = builder.flatten("flat", x)
    for (name, layer, channels) in [("hidden", "linear_0", 48), ("scores", "linear_1", 10)] {
        guard let learnt = source.weights(of: layer) else { throw Unexpected("there is no layer \(layer)") }
        x = builder.innerProduct(
            name,
            x,
            outputChannels: channels,
            weights: LayerWeights(learnt.weights),
            bias: learnt.bias.map { LayerWeights($0) }
        )
        if name == "hidden" { x = builder.activation("hidden_relu", .relu, x) }
    }
    x = builder.softmax("softmax", x)
    builder.classifier(
        labels: .strings((0..<10).map { "\($0)" }),
        probabilities: x,
        feature: "digit",
        probabilitiesFeature: "probabilities"
    )
    builder.makeUpdatable(
        layers: ["conv0", "conv1", "conv2", "hidden", "scores"],
        loss: .categoricalCrossEntropy(input: "softmax"),
        optimizer: .adam(learningRate: NumberParameter(0.002, in: 0...0.1), miniBatchSize: 20),
        epochs: IntegerParameter(20, in: 1...100),
        seed: 7
    )
    return try builder.finished()
}

/// How many drawings the model reads rightly.
func right(_ model: MLModel, _ drawings: [(String, MLFeatureValue)]) throws -> Int {
    try drawings.filter { label, drawing in
        let answer = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": drawing]))
        return answer.featureValue(for: "digit")?.stringValue == label
    }.count
}

/// The losses so far, written by the update's queue and read when it has ended.
final class Losses: @unchecked Sendable { var plot = LossPlot() }

let folder = try scratchFolder()
defer { try? FileManager.default.removeItem(at: folder) }
let file = folder.appendingPathComponent("Digits.mlmodel")
try adaptable(try ModelSpecification(contentsOf: digits.appendingPathComponent("Digits.mlmodel"))).write(to: file)
let url = try MLModel.compileModel(at: file)
defer { try? FileManager.default.removeItem(at: url) }

// Drawings that the network was not trained on; the writer turns them by 50 degrees.
let rows = try Drawing.sheet(at: data.appendingPathComponent("digits.png"))
let turned = try rows.enumerated().map { digit, drawings in
    try drawings.map { ("\(digit)", try $0.rotated(by: 50).featureValue()) }
}
let upright = try rows.enumerated().flatMap { digit, drawings in
    try drawings.map { ("\(digit)", try $0.featureValue()) }
}
let practice = turned.flatMap { $0.prefix($0.count / 2) }
let test = turned.flatMap { $0.dropFirst($0.count / 2) }

let before = try MLModel(contentsOf: url)
print("upright digits, before: \(percent(try right(before, upright), of: upright.count)) right")
print("turned by 50°, before:  \(percent(try right(before, test), of: test.count)) right")
let losses = Losses()
let clock = ContinuousClock()
let start = clock.now
let after = try await update(
    url,
    with: practice.map { ["image": $0.1, "digit": MLFeatureValue(string: $0.0)] },
    epochEnd: { _, loss in losses.plot.append(loss) }
)
let seconds = Double((clock.now - start).components.attoseconds) / 1e18 + Double((clock.now - start).components.seconds)
print(String(format: "\nloss of each epoch (Adam, %d drawings, %.1f s)", practice.count, seconds))
print(losses.plot.text())
print("\nturned by 50°, after:   \(percent(try right(after, test), of: test.count)) right")
guard try right(after, test) > right(before, test) else { throw Unexpected("nothing was learnt") }
