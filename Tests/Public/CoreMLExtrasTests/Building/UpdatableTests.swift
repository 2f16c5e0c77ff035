import CoreML
import CoreMLExtras
import Foundation
import MLFiles
import MLSpecification
import Testing

@Suite struct UpdatableTests {
    @Test func anUpdatableNetworkSaysWhatItLearns() throws {
        var builder = pictureClassifier()
        builder.makeUpdatable(
            layers: ["conv", "fc"],
            loss: .categoricalCrossEntropy(input: "softmax"),
            optimizer: .adam(
                learningRate: NumberParameter(0.001, in: 0...0.1),
                miniBatchSize: IntegerParameter(8, of: [8, 16])
            ),
            epochs: IntegerParameter(5, in: 1...50),
            seed: 3
        )
        let model = try builder.finished()
        let editor = ModelEditor(model)
        #expect(editor.updatableLayers == ["conv", "fc"])
        #expect(editor.trainingInputs == ["image", "label"])
        #expect(editor.layersOfThisSystem.isEmpty)
        #expect(editor.epochs == IntegerParameter(5, in: 1...50))
        let description = try model.model().modelDescription
        #expect(description.isUpdatable)
        #expect(description.trainingInputDescriptionsByName.keys.sorted() == ["image", "label"])
        let rate = description.parameterDescriptionsByKey[.learningRate]
        #expect(rate?.defaultValue as? Double == 0.001)
    }

    @Test(
        arguments: [
            (["relu"], UpdateLoss.categoricalCrossEntropy(input: "softmax"), "'relu' cannot be updatable"),
            (
                ["fc2"], .categoricalCrossEntropy(input: "softmax"),
                "there is no layer 'fc2'; these can be updatable: conv, fc"
            ),
            ([], .categoricalCrossEntropy(input: "softmax"), "conv, fc"),
            (["fc"], .categoricalCrossEntropy(input: "fc"), "needs the output of a softmax layer"),
            (["fc"], .categoricalCrossEntropy(input: "nothing"), "no layer gives its input 'nothing'"),
            (["fc"], .meanSquaredError(input: "relu", shape: [2, 4, 4]), "'fc' does not lead to its input 'relu'"),
            (["fc"], .categoricalCrossEntropy(input: "softmax", name: "conv"), "a layer has the same name"),
        ] as [([String], UpdateLoss, String)]
    )
    func whatCannotBeUpdatedIsSaid(layers: [String], loss: UpdateLoss, text: String) {
        var builder = pictureClassifier()
        builder.makeUpdatable(layers: layers, loss: loss)
        let found = message { _ = try builder.finished() }
        #expect(found.contains(text), "\(found)")
    }

    @Test func parametersLieWithinWhatIsAllowed() {
        func problem(_ optimizer: UpdateOptimizer, _ epochs: IntegerParameter = 1) -> String {
            var builder = pictureClassifier()
            builder.makeUpdatable(
                layers: ["fc"],
                loss: .categoricalCrossEntropy(input: "softmax"),
                optimizer: optimizer,
                epochs: epochs
            )
            return message { _ = try builder.finished() }
        }
        #expect(problem(.sgd()) == "")
        #expect(problem(.sgd(learningRate: NumberParameter(2, in: 0...1))).contains("learning rate is 2.0, outside"))
        #expect(problem(.sgd(miniBatchSize: IntegerParameter(3, of: [4, 8]))).contains("mini-batch size is 3"))
        #expect(problem(.adam(beta2: NumberParameter(.nan))).contains("beta2"))
        #expect(problem(.adam(), IntegerParameter(0, in: 0...9)).contains("begins at 0, below 1"))
    }

    @Test func halfPrecisionCannotBeUpdated() {
        var builder = NeuralNetworkBuilder()
        let x = builder.input("x", .array([1, 4]))
        builder.output(builder.innerProduct("y", x, outputChannels: 2, weights: .float16(numbers(8))), .array([1, 2]))
        builder.makeUpdatable(layers: ["y"], loss: .meanSquaredError(input: "y", shape: [1, 2]))
        #expect(message { _ = try builder.finished() }.contains("half precision"))
    }

    @Test func nearestNeighboursAnswerTheirDefaultUntilTheyHaveExamples() throws {
        for (fallback, index) in [
            (NearestNeighborsBuilder.Label.string("unknown"), NearestNeighborsBuilder.Index.linear),
            (.integer(-1), .kdTree(leafSize: 2)),
        ] {
            var builder = NearestNeighborsBuilder(input: "x", dimensions: 2, label: "label", default: fallback)
            builder.index = index
            builder.weighting = .inverseDistance
            builder.neighbors = IntegerParameter(1, in: 1...10)
            let isString = fallback == .string("unknown")
            func answer() throws -> MLFeatureValue? {
                let x = MLMultiArray(MLShapedArray<Float>(scalars: [1, 0], shape: [2]))
                let model = try builder.finished().model()
                return try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["x": x]))
                    .featureValue(for: "label")
            }
            let first = try answer()
            #expect(isString ? first?.stringValue == "unknown" : first?.int64Value == -1)
            builder.add([1, 0.1], label: isString ? "near" : 1)
            builder.add([9, 9], label: isString ? "far" : 2)
            let second = try answer()
            #expect(isString ? second?.stringValue == "near" : second?.int64Value == 1)
            builder.add([1], label: isString ? "near" : 1)
            #expect(message { _ = try builder.finished() }.contains("example 2 has 1 values"))
        }
        var mixed = NearestNeighborsBuilder(input: "x", dimensions: 1, label: "label", default: 0)
        mixed.add([1], label: "text")
        #expect(message { _ = try mixed.finished() }.contains("another type"))
    }

    @Test func aPipelineIsWhatItsLastModelIs() throws {
        let pipeline = try stickers()
        #expect(pipeline.isUpdatable && pipeline.specificationVersion == 4)
        guard case .pipelineClassifier? = pipeline.file.specification.type else {
            Issue.record("no classifier")
            return
        }
        let model = try pipeline.model()
        #expect(model.modelDescription.trainingInputDescriptionsByName.keys.sorted() == ["image", "sticker"])
        let answer = try model.prediction(
            from: MLDictionaryFeatureProvider(dictionary: ["image": try #require(risingPicture(6))])
        )
        #expect(answer.featureValue(for: "sticker")?.stringValue == "unknown")
    }

    @Test func aPipelineChecksWhatItsModelsGive() throws {
        var builder = PipelineBuilder()
        var head = try NeuralNetworkBuilder(continuing: pictureClassifier().finished(), upTo: "flat")
        head.output("flat", .array([8]))
        try builder.append(try head.finished(), named: "head")
        #expect(message { try builder.append(try head.finished(), named: "head") }.contains("needs a unique name"))
        let neighbors = NearestNeighborsBuilder(input: "flat", dimensions: 9, label: "sticker", default: "unknown")
        try builder.append(try neighbors.finished(), named: "neighbors")
        #expect(message { _ = try builder.finished() }.contains("'flat' is of another type"))
    }

    @Test func anEditedModelKeepsWorking() throws {
        var editor = ModelEditor(try pictureClassifier().finished())
        #expect(editor.updatableCandidates == ["conv", "fc"])
        try editor.makeUpdatable(layers: ["fc"], loss: .categoricalCrossEntropy(input: "softmax"))
        try editor.rename("image", to: "drawing")
        try editor.rename("label", to: "letter")
        try editor.setEpochs(IntegerParameter(7, of: [7, 8]))
        editor.metadata.author = "me"
        let edited = try editor.finished()
        #expect(editor.trainingInputs == ["drawing", "letter"])
        #expect(edited.metadata.author == "me")
        let answer = try edited.model().prediction(
            from: MLDictionaryFeatureProvider(dictionary: ["drawing": try #require(risingPicture(6))])
        )
        #expect(answer.featureValue(for: "letter") != nil)
        #expect(message { try editor.rename("drawing", to: "letter") }.contains("taken"))
        #expect(message { try editor.rename("conv", to: "x") }.contains("there is no input or output 'conv'"))
        #expect(message { try editor.setNeighbors(3) }.contains("not a nearest-neighbours classifier"))
    }

    @Test func aPipelineIsEditedThroughItsLastModel() throws {
        var editor = ModelEditor(try stickers())
        try editor.setNeighbors(IntegerParameter(3, in: 1...9))
        try editor.rename("sticker", to: "symbol")
        #expect(editor.neighbors == IntegerParameter(3, in: 1...9))
        let model = try editor.finished().model()
        let answer = try model.prediction(
            from: MLDictionaryFeatureProvider(dictionary: ["image": try #require(risingPicture(6))])
        )
        #expect(answer.featureValue(for: "symbol")?.stringValue == "unknown")
    }

    /// The network without its head and an empty nearest-neighbours classifier.
    private func stickers() throws -> ModelSpecification {
        var head = try NeuralNetworkBuilder(continuing: pictureClassifier().finished(), upTo: "flat")
        head.output("flat", .array([8]))
        let neighbors = NearestNeighborsBuilder(input: "flat", dimensions: 8, label: "sticker", default: "unknown")
        var builder = PipelineBuilder()
        try builder.append(try head.finished(), named: "head")
        try builder.append(try neighbors.finished(), named: "neighbors")
        return try builder.finished()
    }
}
