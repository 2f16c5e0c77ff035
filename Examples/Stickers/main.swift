// Stickers: three drawings of a symbol are enough to recognise the fourth.
//
// A network that knows the digits 0 to 6 loses its head and describes drawings; an empty nearest-neighbours classifier
// behind it learns symbols that the network has never seen: 7, 8 and 9, drawn by many people.

import CoreML
import CoreMLExtras
import ExampleSupport

/// The network's own description of a drawing, behind its last convolution, and a classifier that knows nothing yet.
func stickerModel(_ extractor: ModelSpecification, features: String, count: Int) throws -> ModelSpecification {
    var neighbors = NearestNeighborsBuilder(input: features, dimensions: count, label: "sticker", default: "unknown")
    neighbors.neighbors = IntegerParameter(1, in: 1...10)
    var pipeline = PipelineBuilder()
    pipeline.metadata.description = "Recognises stickers from a few examples of each"
    try pipeline.append(extractor, named: "extractor")
    try pipeline.append(try neighbors.finished(), named: "stickers")
    return try pipeline.finished()
}

/// How many drawings the model recognises, and how many it calls unknown.
func recognised(_ model: MLModel, _ input: String, _ drawings: [(String, MLFeatureValue)]) throws -> (
    right: Int, unknown: Int
) {
    var (right, unknown) = (0, 0)
    for (label, drawing) in drawings {
        let answer = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: [input: drawing]))
        let found = answer.featureValue(for: "sticker")?.stringValue
        right += found == label ? 1 : 0
        unknown += found == "unknown" ? 1 : 0
    }
    return (right, unknown)
}

/// Teaches a sticker model three drawings of each symbol, many times with other drawings, and says what it recognises.
func run(_ title: String, _ specification: ModelSpecification, input: String, wanted: Double) async throws {
    let folder = try scratchFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Stickers.mlmodel")
    try specification.write(to: file)
    let url = try await MLModel.compileModel(at: file)
    defer { try? FileManager.default.removeItem(at: url) }

    let symbols = try Drawing.sheet(at: data.appendingPathComponent("symbols.png"))
    let values = try symbols.map { try $0.map { try $0.featureValue() } }
    let names = ["seven", "eight", "nine"]
    print("\(title)")
    var shares: [Double] = []
    for round in 0..<20 {
        // The drawings lie in the order of their writers: three of different people.
        let taught = (0..<3).map { (round + $0 * 20) % values[0].count }
        let examples = zip(names, values).flatMap { name, row in
            taught.map { [input: row[$0], "sticker": MLFeatureValue(string: name)] }
        }
        let others = zip(names, values).flatMap { name, row in
            row.indices.filter { !taught.contains($0) }.map { (name, row[$0]) }
        }
        if round == 0 {
            let before = try recognised(try MLModel(contentsOf: url), input, others)
            print("  before: \(before.right) of \(others.count) right, \(before.unknown) unknown")
        }
        let learnt = try await update(url, with: examples)
        let after = try recognised(learnt, input, others)
        shares.append(Double(after.right) / Double(others.count))
        if round == 0 {
            print(
                "  after 3 examples of each: \(after.right) of \(others.count) right "
                    + "(\(percent(after.right, of: others.count)))"
            )
        }
    }
    let mean = shares.reduce(0, +) / Double(shares.count)
    print(String(format: "  mean of 20 choices of the three examples: %.1f %%", 100 * mean))
    guard mean >= wanted else { throw Unexpected("too few were recognised") }
}

// Everything up to the last pooling, brought to length 1: the direction says what is drawn, not how strongly.
let network = try ModelSpecification(contentsOf: data.appendingPathComponent("SevenDigits.mlmodel"))
var head = try NeuralNetworkBuilder(continuing: network, upTo: "input.17")
let features = head.flatten("features", head.l2Normalize("unit", "input.17"))
head.output(features, .array([216]))
try await run(
    "Features of a network that knows 0 to 6; symbols 7, 8 and 9",
    try stickerModel(try head.finished(), features: features, count: 216),
    input: "image",
    wanted: 0.85
)

// Apple's own embedding of drawings, where it is at hand: DRAWING_EMBEDDING=TinyDrawingEmbedding.mlmodel.
if let path = ProcessInfo.processInfo.environment["DRAWING_EMBEDDING"], !path.isEmpty {
    let embedding = try ModelSpecification(contentsOf: URL(fileURLWithPath: path))
    try await run(
        "Features of Apple's TinyDrawingEmbedding",
        try stickerModel(embedding, features: "embedding", count: 128),
        input: "drawing",
        wanted: 0.6
    )
}
