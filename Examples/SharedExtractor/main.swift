// Shared extractor: two pipelines link to one network instead of holding a copy each.
//
// Sizes and memory do not depend on what a network knows, so the extractor has random weights: about 11 MB, as in a
// small network of photographs.

import CoreML
import CoreMLExtras
import ExampleSupport

/// Grey pictures of 28 × 28 to 64 numbers; with a first layer of 2048 units, by 2.7 million weights.
func makeExtractor(units: Int) throws -> ModelSpecification {
    var state: UInt64 = 7
    func weights(_ count: Int, scale: Float) -> LayerWeights {
        LayerWeights(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return (Float(state >> 40) / Float(1 << 23) - 1) * scale
            }
        )
    }
    var builder = NeuralNetworkBuilder(arrays: .rank5)
    var x = builder.input("image", .image(width: 28, height: 28, color: .grayscale), .scaled(by: 1 / 255))
    x = builder.flatten("pixels", x)
    x = builder.innerProduct("first", x, outputChannels: units, weights: weights(units * 784, scale: 0.06))
    x = builder.activation("first_relu", .relu, x)
    x = builder.innerProduct("second", x, outputChannels: 512, weights: weights(512 * units, scale: 0.04))
    x = builder.activation("second_relu", .relu, x)
    x = builder.innerProduct("features", x, outputChannels: 64, weights: weights(64 * 512, scale: 0.08))
    builder.output(x, .array([64]))
    return try builder.finished()
}

/// Pictures to the features, by link or copy, and on to a classifier of its own.
func pipeline(_ extractor: ModelSpecification, label: String, links: Bool) throws -> ModelSpecification {
    var builder = PipelineBuilder()
    if links {
        try builder.appendLink(to: "Extractor.mlmodelc", like: extractor, named: "extractor")
    } else {
        try builder.append(extractor, named: "extractor")
    }
    let neighbors = NearestNeighborsBuilder(input: "features", dimensions: 64, label: label, default: "unknown")
    try builder.append(try neighbors.finished(), named: "classifier")
    return try builder.finished()
}

/// The bytes of all files in a folder.
func size(of folder: URL) -> Int {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.fileSizeKey])
    return (files?.allObjects as? [URL] ?? []).reduce(0) { sum, url in
        let values = try? url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
        return sum + (values?.fileSize ?? 0)
    }
}

/// Memory that this process occupies, in kB.
func residentMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
}

/// Loads both pipelines of a folder, asks each once and prints what memory that took.
func measure(_ folder: URL) throws {
    let drawing = try Drawing(pixels: [UInt8](repeating: 90, count: 784)).featureValue()
    let start = residentMemory()
    var models: [MLModel] = []
    for name in ["Stickers", "Letters"] {
        let model = try MLModel(contentsOf: folder.appendingPathComponent("\(name).mlmodelc"))
        _ = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": drawing]))
        models.append(model)
    }
    withExtendedLifetime(models) { print(residentMemory() - start) }
}

/// Runs this program on a folder: memory is measured in a process of its own.
func measured(_ folder: URL) throws -> Int {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--measure", folder.path]
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Int(String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
}

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--measure" {
    try measure(URL(fileURLWithPath: CommandLine.arguments[2]))
    exit(0)
}

let units = try CommandLine.arguments.dropFirst().first.map { text in
    guard let units = Int(text), (256...65_536).contains(units) else {
        throw Unexpected("'\(text)' is no number of units: pass 256 to 65536")
    }
    return units
}
let extractor = try makeExtractor(units: units ?? 2048)
let scratch = try scratchFolder()
defer { try? FileManager.default.removeItem(at: scratch) }
var sizes: [Int] = []
var memory: [Int] = []
for links in [false, true] {
    let folder = scratch.appendingPathComponent(links ? "linked" : "self-contained")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var models = [
        ("Stickers", try pipeline(extractor, label: "sticker", links: links)),
        ("Letters", try pipeline(extractor, label: "letter", links: links)),
    ]
    if links { models.append(("Extractor", extractor)) }
    for (name, model) in models {
        let file = scratch.appendingPathComponent("\(name).mlmodel")
        try model.write(to: file)
        let compiled = try MLModel.compileModel(at: file)
        try FileManager.default.moveItem(at: compiled, to: folder.appendingPathComponent("\(name).mlmodelc"))
        try FileManager.default.removeItem(at: file)
    }
    sizes.append(size(of: folder))
    memory.append(try measured(folder))
}
print("two pipelines      on disk      in memory after one prediction")
for (index, name) in ["self-contained", "linked        "].enumerated() {
    print(
        String(format: "%@     %5.1f MB      %5.1f MB", name, Double(sizes[index]) / 1e6, Double(memory[index]) / 1e3)
    )
}
printOwnInput("make demo-extractor ARGS=8192", "shares an extractor whose first layer has 8192 units")
guard sizes[1] * 10 < sizes[0] * 6, memory[1] * 10 < memory[0] * 7 else {
    throw Unexpected("the link saves too little")
}
