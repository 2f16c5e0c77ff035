// An app that gets a model from a collection: `CollectionApp IDENTIFIER MODEL`. It says what it has got, predicts with
// it, and waits for the end of its input, so that Reliability/deployment-hygiene can look into its memory.

import CoreML
import Foundation

/// The progress of the background downloads.
nonisolated(unsafe) private var downloads = Progress(totalUnitCount: 0)

func collection(_ identifier: String) async throws -> MLModelCollection {
    try await withCheckedThrowingContinuation { continuation in
        downloads = MLModelCollection.beginAccessing(identifier: identifier) { continuation.resume(with: $0) }
    }
}

func predict(with model: MLModel) async throws {
    var inputs: [String: MLFeatureValue] = [:]
    for (name, feature) in model.modelDescription.inputDescriptionsByName {
        guard let constraint = feature.multiArrayConstraint else { continue }
        inputs[name] = MLFeatureValue(multiArray: try MLMultiArray(shape: constraint.shape, dataType: .float32))
    }
    _ = try await model.prediction(from: MLDictionaryFeatureProvider(dictionary: inputs))
}

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

do {
    let collection = try await collection(CommandLine.arguments[1])
    guard let entry = collection.entries[CommandLine.arguments[2]] else {
        // Downloads are available at the next launch. Foundation's `Progress` notifies nobody of its changes on Linux.
        for _ in 0..<600 where !downloads.isFinished && downloads.totalUnitCount != 0 {
            try await Task.sleep(for: .milliseconds(100))
        }
        say("nothing")
        exit(0)
    }
    let model = try await MLModel.load(contentsOf: entry.modelURL)
    try await predict(with: model)
    say("loaded")
    withExtendedLifetime(model) { while readLine() != nil {} }
} catch {
    say("error \(error)")
    exit(1)
}
