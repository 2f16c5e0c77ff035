import CoreML

@main struct First {
    static func main() async throws {
        let files = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
        let compiled = try await MLModel.compileModel(at: files[0])
        let model = try MLModel(contentsOf: compiled)
        let constraint = model.modelDescription.inputDescriptionsByName["image"]!.imageConstraint!
        let image = try MLFeatureValue(imageAt: files[1], constraint: constraint)
        let answer = try await model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": image]))
        print(answer.featureValue(for: "digit")!.stringValue)
    }
}
