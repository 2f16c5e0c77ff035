// An app that loads a model and predicts with it, written as for a model in the clear: it is linked with the product
// CoreMLEncryption, and that is all it does for encrypted models. Prints how long loading took and the most memory that it
// took, in bytes; then waits for the end of its input, so that Reliability/encryption-hygiene can look into its memory.

import CoreML
import Foundation

func predict(with model: MLModel) async throws {
    var inputs: [String: MLFeatureValue] = [:]
    for (name, feature) in model.modelDescription.inputDescriptionsByName {
        guard let constraint = feature.multiArrayConstraint else { continue }
        inputs[name] = MLFeatureValue(multiArray: try MLMultiArray(shape: constraint.shape, dataType: .float32))
    }
    _ = try await model.prediction(from: MLDictionaryFeatureProvider(dictionary: inputs))
}

func memory(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}

do {
    let url = URL(fileURLWithPath: CommandLine.arguments[1])
    let start = ContinuousClock.now
    let model =
        if CommandLine.arguments.contains("--now") {
            try MLModel(contentsOf: url)
        } else {
            try await MLModel.load(contentsOf: url)
        }
    let loaded = ContinuousClock.now
    if CommandLine.arguments.contains("--predict") { try await predict(with: model) }
    let figures = "\((loaded - start) / .milliseconds(1)) \(memory("VmHWM:")) \(memory("VmRSS:"))\n"
    FileHandle.standardOutput.write(Data(figures.utf8))
    withExtendedLifetime(model) { while readLine() != nil {} }
} catch let error as MLModelError {
    print("error \(error.code.rawValue): \(error.localizedDescription)")
    exit(1)
}
