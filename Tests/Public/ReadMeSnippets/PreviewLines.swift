import CoreML
import Foundation

/// The Swift lines that `coreml preview` shows for a model with an input of each type; a test of `UsageLines` holds them
/// against what it writes, so that what people copy compiles.
func previewLines() throws {
    let model = try MLModel(contentsOf: URL(fileURLWithPath: "Everything.mlmodel"))
    let picture = try MLFeatureValue(
        imageAt: URL(fileURLWithPath: "picture.jpg"),
        constraint: model.modelDescription.inputDescriptionsByName["image"]!.imageConstraint!
    )
    let array2 = MLMultiArray(MLShapedArray<Float>(repeating: 0, shape: [1, 4]))
    let array3 = MLMultiArray(MLShapedArray<Int32>(repeating: 0, shape: [3]))
    let inputs = try MLDictionaryFeatureProvider(dictionary: [
        "image": picture,
        "x": MLFeatureValue(multiArray: array2),
        "n": MLFeatureValue(multiArray: array3),
        "d": MLFeatureValue(double: 0.5),
        "it's \"odd\"": MLFeatureValue(string: "text"),
        "m": try MLFeatureValue(dictionary: ["key": 1.0]),
    ])
    let outputs = try model.prediction(from: inputs)
    print(outputs.featureValue(for: "y")!.multiArrayValue!)
    print(outputs.featureValue(for: "label")!.stringValue)
    print(outputs.featureValue(for: "p")!.dictionaryValue)
    print(outputs.featureValue(for: "out")!.imageBufferValue!)
}
