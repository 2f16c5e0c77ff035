import CoreML

@main struct Classify {
    static func main() async throws {
        let url = try await MLModel.compileModel(at: URL(fileURLWithPath: "Digits.mlpackage"))
        let model = try MLModel(contentsOf: url)
        let constraint = model.modelDescription.inputDescriptionsByName["image"]!.imageConstraint!
        let image = try MLFeatureValue(imageAt: URL(fileURLWithPath: "three.png"), constraint: constraint)
        let answer = try await model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": image]))
        print(answer.featureValue(for: "digit")!.stringValue)
    }
}
