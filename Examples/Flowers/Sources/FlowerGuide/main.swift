// Names the flowers on pictures. The class Flowers is made of Flowers.mlmodel, which lies beside this file, by the build.

import CoreML

/// Classifies an image: the name of the flower, and its probability.
func flower(at picture: URL, _ flowers: Flowers) throws -> (name: String, share: Double) {
    let input = try FlowersInput(imageAt: picture)
    let output = try flowers.prediction(image: input.image)
    return (output.flower, output.flowerProbability[output.flower] ?? 0)
}

/// The names of several flowers at once.
func names(of pictures: [URL], _ flowers: Flowers) throws -> [String] {
    try flowers.predictions(inputs: pictures.map { try FlowersInput(imageAt: $0) }).map(\.flower)
}

/// The name of the flower in an image in memory; other work can run meanwhile.
func name(of picture: CGImage, _ flowers: Flowers) async throws -> String {
    try await flowers.prediction(input: FlowersInput(imageWith: picture)).flower
}

let flowers = try Flowers()
for path in CommandLine.arguments.dropFirst() {
    let (name, share) = try flower(at: URL(fileURLWithPath: path), flowers)
    print("\(path): \(name), \(Int((share * 100).rounded())) %")
}

let pictures = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
print("together: \(try names(of: pictures, flowers).joined(separator: ", "))")

// Both ways lead to the compiled model.
let place = Bundle.module.url(forResource: "Flowers", withExtension: "mlmodelc")
print("model: \(Flowers.urlOfModelInThisBundle == place ? "in the resources of this module" : "elsewhere")")
