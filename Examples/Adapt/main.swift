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

/// A drawing of a digit.
struct Example {
    let digit: String
    let drawing: Drawing
}

/// The digits that the model reads.
func read(_ model: MLModel, _ examples: [Example]) throws -> [String] {
    try examples.map {
        let input = try MLDictionaryFeatureProvider(dictionary: ["image": try $0.drawing.featureValue()])
        return try model.prediction(from: input).featureValue(for: "digit")?.stringValue ?? ""
    }
}

/// The number of correct answers.
func right(_ answers: [String], _ examples: [Example]) -> Int {
    zip(answers, examples).filter { $0 == $1.digit }.count
}

/// The losses so far, written by the update's queue and read when it has ended.
final class Losses: @unchecked Sendable { var plot = LossPlot() }

let folder = try scratchFolder()
defer { try? FileManager.default.removeItem(at: folder) }
let source = folder.appendingPathComponent("Digits.mlmodel")
try adaptable(try ModelSpecification(contentsOf: digits.appendingPathComponent("Digits.mlmodel"))).write(to: source)
let url = try MLModel.compileModel(at: source)
defer { try? FileManager.default.removeItem(at: url) }

// Drawings that the network was not trained on; the writer turns them by 50 degrees, or as much as the argument says.
let angle = try CommandLine.arguments.dropFirst().first.map { text in
    guard let angle = Double(text) else { throw Unexpected("'\(text)' is no angle: pass degrees, such as 35") }
    return angle
}
let degrees = angle ?? 50
let rows = try Drawing.sheet(at: data.appendingPathComponent("digits.png"))
let upright = rows.enumerated().flatMap { digit, row in row.map { Example(digit: "\(digit)", drawing: $0) } }
let turned = rows.enumerated().map { digit, row in
    row.map { Example(digit: "\(digit)", drawing: $0.rotated(by: degrees)) }
}
let practice = turned.flatMap { $0.prefix($0.count / 2) }
let test = turned.flatMap { $0.dropFirst($0.count / 2) }

let before = try MLModel(contentsOf: url)
let title = String(format: "turned by %g°", degrees)
print("upright digits, before: \(percent(right(try read(before, upright), upright), of: upright.count)) right")
let first = try read(before, test)
print("\(title), before:  \(percent(right(first, test), of: test.count)) right")
let losses = Losses()
let clock = ContinuousClock()
let start = clock.now
let after = try await update(
    url,
    with: try practice.map {
        ["image": try $0.drawing.featureValue(), "digit": MLFeatureValue(string: $0.digit)]
    },
    epochEnd: { _, loss in losses.plot.append(loss) }
)
let seconds = Double((clock.now - start).components.attoseconds) / 1e18 + Double((clock.now - start).components.seconds)
print(String(format: "\nloss of each epoch (Adam, %d drawings, %.1f s)", practice.count, seconds))
print(losses.plot.text())
let second = try read(after, test)
print("\n\(title), after:   \(percent(right(second, test), of: test.count)) right\n")

// The first test drawing of each digit, and all of them as a picture.
for half in [0..<5, 5..<10] {
    show(
        half.map { digit in
            let place = digit * test.count / 10
            return (test[place].drawing, "a \(digit): \(first[place]) → \(second[place])")
        }
    )
}
let file = pictures.appendingPathComponent("adapt.png")
try write(
    [first, second].map { answers in zip(test, answers).map { ($0.drawing, $0.digit == $1) } },
    columns: test.count / 10,
    to: file
)
print("\nall \(test.count), right ones framed green, before (left) and after: \(file.path)")
printOwnInput("make demo-adapt ARGS=35", "adapts to a writer who turns the paper by 35 degrees")
guard angle != nil || right(second, test) > right(first, test) else { throw Unexpected("nothing was learnt") }
