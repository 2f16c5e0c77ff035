import CoreML
import Testing

/// The digits network of `Tests/Fixtures/digits`, as ML program and as neural network.
struct ModelTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Fixtures/digits")
    static let names = ["Digits.mlpackage", "Digits.mlmodel"]

    static func model(_ name: String) throws -> MLModel {
        try MLModel(contentsOf: folder.appendingPathComponent(name))
    }

    static func picture(_ name: String, _ model: MLModel) throws -> MLFeatureValue {
        let constraint = try #require(model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint)
        return try MLFeatureValue(
            imageAt: folder.appendingPathComponent("held-out/\(name).png"),
            constraint: constraint
        )
    }

    static func input(_ name: String, _ model: MLModel) throws -> MLDictionaryFeatureProvider {
        try MLDictionaryFeatureProvider(dictionary: ["image": picture(name, model)])
    }

    /// PyTorch's predictions, by picture: the label and its probability.
    static func answers() throws -> [(picture: String, label: String, probability: Double)] {
        try String(contentsOf: folder.appendingPathComponent("held-out/labels.csv"), encoding: .utf8)
            .split(whereSeparator: \.isNewline).dropFirst().map { line in
                let fields = line.split(separator: ",").map(String.init)
                return (String(fields[0].dropLast(4)), fields[2], try #require(Double(fields[3])))
            }
    }

    @Test(arguments: names)
    func describes(name: String) throws {
        let description = try Self.model(name).modelDescription
        #expect(description.classLabels?.count == 10)
        #expect(description.inputDescriptionsByName.keys.sorted() == ["image"])
        let constraint = try #require(description.inputDescriptionsByName["image"]?.imageConstraint)
        #expect(constraint.pixelsWide == 28 && constraint.pixelsHigh == 28)
        #expect(constraint.pixelFormatType == kCVPixelFormatType_OneComponent8)
        #expect(description.outputDescriptionsByName[description.predictedFeatureName ?? ""]?.type != nil)
        #expect(!description.isUpdatable)
    }

    @Test(arguments: names)
    func classifiesHeldOutScans(name: String) throws {
        let model = try Self.model(name)
        let description = model.modelDescription
        let label = try #require(description.predictedFeatureName)
        let probabilities = try #require(description.predictedProbabilitiesName)
        for answer in try Self.answers() {
            let output = try model.prediction(from: Self.input(answer.picture, model))
            let value = try #require(output.featureValue(for: label))
            let text = value.type == .string ? value.stringValue : "\(value.int64Value)"
            #expect(text == answer.label, "\(answer.picture)")
            let votes = try #require(output.featureValue(for: probabilities)).dictionaryValue
            let vote = votes.first { "\($0.key)" == answer.label }?.value.doubleValue
            #expect(abs((vote ?? -1) - answer.probability) < 0.01, "\(answer.picture)")
        }
    }

    /// A picture is the same in every pixel format.
    @Test(arguments: [
        kCVPixelFormatType_32BGRA, kCVPixelFormatType_32ABGR, kCVPixelFormatType_24RGB,
        kCVPixelFormatType_OneComponent16Half, kCVPixelFormatType_OneComponent32Float,
    ])
    func everyPixelFormatIsTaken(format: OSType) throws {
        let model = try Self.model("Digits.mlpackage")
        let value = try MLFeatureValue(
            imageAt: Self.folder.appendingPathComponent("held-out/7-0.png"),
            pixelsWide: 28,
            pixelsHigh: 28,
            pixelFormatType: format
        )
        let expected = try model.prediction(from: Self.input("7-0", model))
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": value]))
        let name = try #require(model.modelDescription.predictedProbabilitiesName)
        #expect(output.featureValue(for: name) == expected.featureValue(for: name))
    }

    @Test func misspeltInputsListTheModels() throws {
        let model = try Self.model("Digits.mlpackage")
        let input = try MLDictionaryFeatureProvider(dictionary: ["img": Self.picture("1-1", model)])
        do {
            _ = try model.prediction(from: input)
            Issue.record("a missing input was accepted")
        } catch let error as MLModelError {
            #expect(error.code == .featureType)
            #expect(error.localizedDescription.contains("\"image\""))
            #expect(error.localizedDescription.contains("\"img\""))
            #expect(error.localizedDescription.contains("image : Image (Grayscale, 28 × 28)"))
        }
    }

    @Test func wrongSizesAndTypesAreErrors() throws {
        let model = try Self.model("Digits.mlpackage")
        var buffer: CVPixelBuffer?
        CVPixelBufferCreate(nil, 30, 28, kCVPixelFormatType_OneComponent8, nil, &buffer)
        let values: [Any] = [try #require(buffer), 3.5, try MLMultiArray(shape: [1, 28, 28], dataType: .float32)]
        for value in values {
            #expect(throws: MLModelError.self) {
                try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": value]))
            }
        }
    }

    @Test func batchesAndTasksAgreeWithSinglePredictions() async throws {
        let model = try await MLModel.load(contentsOf: Self.folder.appendingPathComponent("Digits.mlpackage"))
        let pictures = ["0-0", "3-4"]
        let label = try #require(model.modelDescription.predictedFeatureName)
        let single = try pictures.map { picture in
            let output = try syncPrediction(model, try Self.input(picture, model))
            return try #require(output.featureValue(for: label))
        }
        let batch = MLArrayBatchProvider(array: try pictures.map { try Self.input($0, model) })
        let outputs = try model.predictions(fromBatch: batch)
        #expect((0..<outputs.count).map { outputs.features(at: $0).featureValue(for: label) } == single)
        for (index, picture) in pictures.enumerated() {
            let output = try await model.prediction(from: Self.input(picture, model))
            #expect(output.featureValue(for: label) == single[index])
        }
    }

    private func syncPrediction(_ model: MLModel, _ input: any MLFeatureProvider) throws -> any MLFeatureProvider {
        try model.prediction(from: input)
    }

    @Test func manyThreadsShareAModel() async throws {
        let model = try Self.model("Digits.mlpackage")
        let name = try #require(model.modelDescription.predictedFeatureName)
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var wrong = 0
                    for round in 0..<2 {
                        let digit = (worker + round) % 10
                        let output = try await model.prediction(from: Self.input("\(digit)-1", model))
                        let value = output.featureValue(for: name)
                        let text = value?.type == .string ? value?.stringValue : value.map { "\($0.int64Value)" }
                        if text != "\(digit)" { wrong += 1 }
                    }
                    return wrong
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test(arguments: names)
    func compiledModelsAnswerTheSame(name: String) async throws {
        let compiled = try await MLModel.compileModel(at: Self.folder.appendingPathComponent(name))
        defer { try? FileManager.default.removeItem(at: compiled.deletingLastPathComponent()) }
        #expect(compiled.pathExtension == "mlmodelc")
        let model = try MLModel(contentsOf: compiled)
        let original = try Self.model(name)
        let label = try #require(model.modelDescription.predictedFeatureName)
        let answer = try syncPrediction(model, Self.input("4-4", model)).featureValue(for: label)
        #expect(answer == (try syncPrediction(original, Self.input("4-4", model)).featureValue(for: label)))
    }

    @Test func assetsAndStructureAreRead() async throws {
        let url = Self.folder.appendingPathComponent("Digits.mlmodel")
        let asset = try MLModelAsset(specification: Data(contentsOf: url))
        #expect(try await asset.modelDescription.inputDescriptionsByName["image"] != nil)
        guard case .neuralNetwork(let network) = try await MLModelStructure.load(asset: asset) else {
            Issue.record("the model is no neural network")
            return
        }
        #expect(network.layers.contains { $0.type == "convolution" })
        let package = Self.folder.appendingPathComponent("Digits.mlpackage")
        let plan = try await MLComputePlan.load(contentsOf: package, configuration: MLModelConfiguration())
        guard case .program(let program) = plan.modelStructure, let main = program.functions["main"] else {
            Issue.record("the model is no program")
            return
        }
        let conv = try #require(main.block.operations.first { $0.operatorName == "conv" })
        #expect(plan.deviceUsage(for: conv)?.preferred == .cpu(MLCPUComputeDevice()))
        #expect(conv.inputs["x"] != nil)
        let weights = main.block.operations.compactMap { plan.estimatedCost(of: $0)?.weight }
        #expect(abs(weights.reduce(0, +) - 1) < 1e-9)
        #expect(try #require(plan.estimatedCost(of: conv)).weight > 1 / Double(weights.count))
        let constant = try #require(main.block.operations.first { $0.operatorName == "const" })
        #expect(plan.estimatedCost(of: constant) == nil)
    }

    @Test func missingModelsAreErrors() {
        do {
            _ = try MLModel(contentsOf: URL(fileURLWithPath: "/nowhere/Model.mlmodelc"))
            Issue.record("a model was loaded from nothing")
        } catch MLModelError.io {
        } catch {
            Issue.record("not an input-output error: \(error)")
        }
        #expect(throws: MLModelError.self) { try MLModelAsset(specification: Data("nonsense".utf8)) }
    }
}
