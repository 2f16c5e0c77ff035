// Makes the model of Examples/Flowers, and pictures to ask it about: flowers that are drawn here, and a small network that
// learns to tell them apart. `FlowerGarden MODEL PICTURES [SEED [VERSION]]`; another seed gives other weights for the same
// interface. `FlowerGarden effect NAME MODEL [VERSION]` makes a model that tints pictures.

import CoreML
import CoreMLExtras
import MLDrawing

let arguments = CommandLine.arguments
if arguments.count >= 4, arguments[1] == "effect" {
    guard let effect = Effect(rawValue: arguments[2]) else {
        print("the effects are \(Effect.allCases.map(\.rawValue).joined(separator: ", "))")
        exit(64)
    }
    try effect.network(version: arguments.dropFirst(4).first ?? "").write(to: URL(fileURLWithPath: arguments[3]))
    exit(0)
}
guard arguments.count >= 3, let seed = arguments.count > 3 ? UInt64(arguments[3]) : 1 else {
    print("usage: FlowerGarden MODEL PICTURES [SEED]")
    exit(64)
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("garden-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

var generator = Generator(state: seed)
let lessons = try (0..<240).map { index in
    let kind = Flower.allCases[index % Flower.allCases.count]
    return (kind, try value(of: kind.drawing(&generator)))
}
let untrained = folder.appendingPathComponent("Untrained.mlmodel")
try network(seed: seed).write(to: untrained)
let learned = try await taught(MLModel.compileModel(at: untrained), lessons)

// Flowers that it has not seen.
var right = 0
for index in 0..<80 {
    let kind = Flower.allCases[index % Flower.allCases.count]
    let input = try MLDictionaryFeatureProvider(dictionary: ["image": value(of: kind.drawing(&generator))])
    right += try learned.prediction(from: input).featureValue(for: "flower")?.stringValue == kind.rawValue ? 1 : 0
}
guard right >= 76 else {
    print("the model names \(right) of 80 flowers; teach it longer")
    exit(1)
}
let compiled = folder.appendingPathComponent("Learned.mlmodelc")
try learned.write(to: compiled)
var editor = try ModelEditor(contentsOf: compiled)
if arguments.count > 4 { editor.metadata.version = arguments[4] }
try editor.finished().write(to: URL(fileURLWithPath: arguments[1]))

let pictures = URL(fileURLWithPath: arguments[2])
try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
for kind in Flower.allCases {
    try Data(kind.drawing(&generator)).write(to: pictures.appendingPathComponent("\(kind.rawValue).png"))
}
print("\(arguments[1]): names \(right) of 80 flowers that it has not seen")
