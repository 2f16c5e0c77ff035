// Stickers: three drawings of a symbol are enough to recognise the fourth.
//
// A network that knows the digits 0 to 6 loses its head and describes drawings; an empty nearest-neighbours classifier
// behind it learns symbols that the network has never seen: 7, 8 and 9, drawn by many people.

import CoreML
import CoreMLExtras
import ExampleSupport

/// A feature extractor (the network up to its last convolution), followed by a classifier without examples.
func stickerModel(_ extractor: ModelSpecification, features: String, count: Int) throws -> ModelSpecification {
    var neighbors = NearestNeighborsBuilder(input: features, dimensions: count, label: "sticker", default: "unknown")
    neighbors.neighbors = IntegerParameter(1, in: 1...10)
    var pipeline = PipelineBuilder()
    pipeline.metadata.description = "Recognises stickers from a few examples of each"
    try pipeline.append(extractor, named: "extractor")
    try pipeline.append(try neighbors.finished(), named: "stickers")
    return try pipeline.finished()
}

/// The name that the model gives a drawing.
func answer(_ model: MLModel, _ input: String, _ drawing: MLFeatureValue) throws -> String {
    let answer = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: [input: drawing]))
    return answer.featureValue(for: "sticker")?.stringValue ?? ""
}

/// How many drawings the model recognises, and how many it calls unknown.
func recognised(_ model: MLModel, _ input: String, _ drawings: [(String, MLFeatureValue)]) throws -> (
    right: Int, unknown: Int
) {
    var (right, unknown) = (0, 0)
    for (label, drawing) in drawings {
        let found = try answer(model, input, drawing)
        right += found == label ? 1 : 0
        unknown += found == "unknown" ? 1 : 0
    }
    return (right, unknown)
}

/// Draws the examples, and others with the model's answers before and after it learnt.
func show(
    _ symbols: [[Drawing]],
    taught: [Int],
    names: [String],
    before: MLModel,
    after: MLModel,
    input: String
) throws {
    for (name, row) in zip(names, symbols) {
        print("\n  three examples of '\(name)'")
        show(taught.map { (row[$0], "") })
    }
    print("\n  other people's, before → after")
    show(
        try symbols.flatMap { [$0[10], $0[45]] }.map {
            let value = try $0.featureValue()
            return ($0, "\(try answer(before, input, value)) → \(try answer(after, input, value))")
        }
    )
    print("")
}

/// Compiles a sticker model, hands its folder to `body` and removes it.
func withCompiled(_ specification: ModelSpecification, _ body: (URL) async throws -> Void) async throws {
    let folder = try scratchFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Stickers.mlmodel")
    try specification.write(to: file)
    let url = try await MLModel.compileModel(at: file)
    defer { try? FileManager.default.removeItem(at: url) }
    try await body(url)
}

/// Teaches a sticker model three drawings of each symbol, many times with other drawings, and prints its accuracy; the
/// first time with drawings, if `draws`.
func run(_ title: String, _ url: URL, input: String, wanted: Double, draws: Bool) async throws {

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
        let untaught = try MLModel(contentsOf: url)
        if round == 0 {
            let before = try recognised(untaught, input, others)
            print("  before: \(before.right) of \(others.count) right, \(before.unknown) unknown")
        }
        let learnt = try await update(url, with: examples)
        let after = try recognised(learnt, input, others)
        shares.append(Double(after.right) / Double(others.count))
        if round == 0 {
            if draws {
                try show(symbols, taught: taught, names: names, before: untaught, after: learnt, input: input)
            }
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

/// Teaches the arguments NAME=PICTURE, and recognises the pictures without a name.
func teach(_ arguments: [String], _ url: URL) async throws {
    let pairs = try arguments.map { argument -> (name: String?, drawing: Drawing) in
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        return (
            parts.count == 2 ? parts[0] : nil, try Drawing(contentsOf: URL(fileURLWithPath: parts.last ?? argument))
        )
    }
    let examples = try pairs.compactMap { name, drawing in
        try name.map { ["image": try drawing.featureValue(), "sticker": MLFeatureValue(string: $0)] }
    }
    guard !examples.isEmpty else { throw Unexpected("no image has a name: pass at least one NAME=IMAGE") }
    let model = try await update(url, with: examples)
    show(pairs.compactMap { name, drawing in name.map { (drawing, $0) } })
    let asked = try pairs.filter { $0.name == nil }.map {
        ($0.drawing, "a \(try answer(model, "image", $0.drawing.featureValue()))?")
    }
    if !asked.isEmpty { show(asked) }
}

// Everything up to the last pooling, brought to length 1: the direction says what is drawn, not how strongly.
let network = try ModelSpecification(contentsOf: data.appendingPathComponent("SevenDigits.mlmodel"))
var head = try NeuralNetworkBuilder(continuing: network, upTo: "input.17")
let features = head.flatten("features", head.l2Normalize("unit", "input.17"))
head.output(features, .array([216]))
let own = CommandLine.arguments.dropFirst()
try await withCompiled(try stickerModel(try head.finished(), features: features, count: 216)) { url in
    if own.isEmpty {
        let title = "Features of a network that knows 0 to 6; symbols 7, 8 and 9"
        try await run(title, url, input: "image", wanted: 0.85, draws: true)
    } else {
        try await teach(Array(own), url)
    }
}

// Apple's own embedding of drawings, where it is at hand: DRAWING_EMBEDDING=TinyDrawingEmbedding.mlmodel.
if own.isEmpty, let path = ProcessInfo.processInfo.environment["DRAWING_EMBEDDING"], !path.isEmpty {
    let embedding = try ModelSpecification(contentsOf: URL(fileURLWithPath: path))
    try await withCompiled(try stickerModel(embedding, features: "embedding", count: 128)) { url in
        try await run("Features of Apple's TinyDrawingEmbedding", url, input: "drawing", wanted: 0.6, draws: false)
    }
}
if own.isEmpty {
    printOwnInput(
        "make demo-stickers ARGS='sun=one.png sun=two.png moon=three.png new.png'",
        "teaches the named images (several of each are better) and recognises the others"
    )
}
