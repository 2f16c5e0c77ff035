import CoreML
import MLSpecification
import TestSupport
import Testing

/// The printed descriptions: contents, not memory addresses.
struct DescriptionTests {
    /// The same words from both properties.
    static func text(_ object: NSObject) -> String {
        #expect(object.description == object.debugDescription)
        #expect(!object.description.contains("0x"), "\(object.description)")
        return object.description
    }

    @Test func configurations() {
        let configuration = MLModelConfiguration()
        #expect(
            Self.text(configuration)
                == "MLModelConfiguration (computeUnits: all, allowLowPrecisionAccumulationOnGPU: false, "
                + "reshapeFrequency: frequent, specializationStrategy: default)"
        )
        configuration.computeUnits = .cpuOnly
        configuration.functionName = "decode"
        configuration.modelDisplayName = "Tutor"
        configuration.parameters = [.learningRate: 0.5, MLParameterKey.weights.scoped(to: "head"): 3]
        #expect(
            Self.text(configuration)
                == "MLModelConfiguration (computeUnits: cpuOnly, functionName: decode, modelDisplayName: Tutor, "
                + "allowLowPrecisionAccumulationOnGPU: false, reshapeFrequency: frequent, "
                + "specializationStrategy: default, parameters: head.weights = 3, learningRate = 0.5)"
        )
        let options = MLPredictionOptions()
        #expect(Self.text(options) == "MLPredictionOptions (usesCPUOnly: false, outputBackings: none)")
        options.outputBackings = ["y": MLMultiArray(MLShapedArray<Float>(repeating: 0, shape: [2, 3]))]
        #expect(
            Self.text(options)
                == "MLPredictionOptions (usesCPUOnly: false, outputBackings: y = MultiArray (Float32, 2 × 3))"
        )
    }

    @Test func namesOfTheTalk() {
        let configuration = MLModelConfiguration()
        configuration.updateParameters = [.epochs: 3]
        #expect(configuration.parameters?[.epochs] as? Int == 3)
        configuration.parameters = [.epochs: 4]
        #expect(configuration.updateParameters?[.epochs] as? Int == 4)
        #expect(MLUpdateProgressEvent.trainingBegan == .trainingBegin)
    }

    @Test func constraints() {
        var specification = SpecModel()
        var image = SpecFeatureDescription()
        image.name = "image"
        image.type.imageType.width = 224
        image.type.imageType.height = 224
        image.type.imageType.colorSpace = .grayscale
        var labels = SpecFeatureDescription()
        labels.name = "labels"
        labels.type.sequenceType.stringType = SpecStringFeatureType()
        labels.type.sequenceType.sizeRange.lowerBound = 1
        labels.type.sequenceType.sizeRange.upperBound = 5
        var votes = SpecFeatureDescription()
        votes.name = "votes"
        votes.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
        votes.type.isOptional = true
        specification.description_p.input = [image, feature(("x", .float16, [1, -1])), labels, votes]
        let description = MLModelDescription(specification)
        let inputs = description.inputDescriptionsByName
        func constraint(_ name: String) -> NSObject? {
            let input = inputs[name]
            return input?.imageConstraint ?? input?.multiArrayConstraint ?? input?.sequenceConstraint
                ?? input?.dictionaryConstraint
        }
        #expect(constraint("image").map(Self.text) == "Image (Grayscale, 224 × 224)")
        #expect(inputs["image"]?.imageConstraint.map { Self.text($0.sizeConstraint) } == "224 × 224")
        #expect(constraint("x").map(Self.text) == "MultiArray (Float16, 1 × (0 or more))")
        #expect(inputs["x"]?.multiArrayConstraint.map { Self.text($0.shapeConstraint) } == "1 × (0 or more)")
        #expect(constraint("labels").map(Self.text) == "Sequence (String, (1…5) elements)")
        #expect(constraint("votes").map(Self.text) == "Dictionary (Int64 → Double)")
        #expect(inputs["votes"].map(Self.text) == "votes : Dictionary (Int64 → Double), optional")
        #expect(Self.text(description).contains("labels : Sequence (String, (1…5) elements)"))
    }

    @Test func updates() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(), in: folder)
        let model = try MLModel(contentsOf: url)
        let parameters = model.modelDescription.parameterDescriptionsByKey
        let rate = try #require(parameters[.learningRate])
        let constraint = try #require(rate.numericConstraint)
        #expect(Self.text(constraint) == "\(constraint.minNumber)…\(constraint.maxNumber)")
        #expect(Self.text(rate) == "learningRate : \(rate.defaultValue) (\(constraint.description))")
        #expect(Self.text(model).contains(rate.description) && Self.text(model).contains("training inputs:"))
        let batch = try UpdatableModels.batch(UpdatableModels.points(4))
        #expect(Self.text(batch) == "MLArrayBatchProvider (4 examples of label, x)")
        let run = try UpdateRun.run(url, batch)
        let context = try #require(run.contexts.first { $0.event == .epochEnd })
        let begin = "MLUpdateContext (event: [epochEnd], metrics: epochIndex = 0, lossValue = "
        #expect(Self.text(context).hasPrefix(begin))
        #expect(Self.text(context.task) == "MLUpdateTask \(context.task.taskIdentifier) (completed)")
        let handlers = MLUpdateProgressHandlers(
            forEvents: [.miniBatchEnd, .trainingBegan],
            progressHandler: nil,
            completionHandler: { _ in }
        )
        #expect(Self.text(handlers) == "MLUpdateProgressHandlers (events: [trainingBegin, miniBatchEnd])")
    }

    @Test func states() throws {
        #expect(Self.text(try StateTests.counter().makeState()) == "MLState (sum : Float16, 2)")
        #expect(Self.text(try MLModelAsset(url: ModelTests.folder)) == "MLModelAsset (\(ModelTests.folder.path))")
    }
}
