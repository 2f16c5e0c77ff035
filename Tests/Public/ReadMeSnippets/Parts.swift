// The README's pieces of programs; `Classify.swift` is the whole program that it shows.
import CoreML
import CoreMLExtras
import CreateML
import TabularData

func emptyClassifier(writtenTo url: URL) throws {
    var builder = NearestNeighborsBuilder(input: "features", dimensions: 48, label: "sticker", default: "unknown")
    builder.neighbors = IntegerParameter(3, in: 1...10)
    try builder.finished().write(to: url)
}

func trained(on csv: URL, in folder: URL) async throws -> MLBoostedTreeClassifier {
    let table = try DataFrame(contentsOfCSVFile: csv)
    let classifier = try MLBoostedTreeClassifier(trainingData: table, targetColumn: "kind")
    print(classifier.validationMetrics)  // accuracy, confusion, precision and recall
    try classifier.write(to: folder.appendingPathComponent("Kinds.mlmodel"))

    let session = MLTrainingSessionParameters(sessionDirectory: folder.appendingPathComponent("session"))
    let job = try MLBoostedTreeClassifier.train(trainingData: table, targetColumn: "kind", sessionParameters: session)
    let trained = try await job.value  // or job.result, a Combine publisher
    return trained
}

#if canImport(ObjectiveC)
    @objc(SwishLayer)
#endif
final class SwishLayer: NSObject, MLCustomLayer {
    init(parameters: [String: Any]) throws {}

    func setWeightData(_ weights: [Data]) throws {}

    func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] { inputShapes }

    func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
        for (input, output) in zip(inputs, outputs) {
            for index in 0..<input.count {
                let x = input[index].doubleValue
                output[index] = NSNumber(value: x / (1 + exp(-x)))
            }
        }
    }
}

func installed(_ download: URL, in folder: URL) async throws -> MLModel {
    let compiled = try await MLModel.compileModel(at: download)
    let place = folder.appendingPathComponent(compiled.lastPathComponent)
    try FileManager.default.moveItem(at: compiled, to: place)
    return try await MLModel.load(contentsOf: place)
}

func prepare() { CustomLayers.register(SwishLayer.self) }
