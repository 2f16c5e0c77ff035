import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import Testing

/// The errors of an engine for inputs that do not fit.
struct PredictionTests {
    private func message(_ engine: any ModelEngine, _ inputs: [String: FeatureData]) -> String? {
        let error = #expect(throws: ModelError.self) { try engine.prediction(from: inputs) }
        #expect(error?.code == .invalidInput)
        return error?.description
    }

    @Test func inputsThatDoNotFitAreNamed() throws {
        let engine = try EngineLoader.load(Samples.doubling(3))
        let missing = message(engine, ["other": vector(1, 2, 3)])
        #expect(missing == "the input 'x' is missing; the model takes 'x' tensor<fp32, [3]>")
        let kind = message(engine, ["x": .string("text")])
        #expect(kind?.hasPrefix("input 'x': ") == true, "\(kind ?? "")")
        #expect(kind?.hasSuffix("was given; the model takes 'x' tensor<fp32, [3]>") == true, "\(kind ?? "")")
        let length = message(engine, ["x": vector(1, 2)])
        #expect(length?.contains("input 'x' is fp32 [2], the model takes tensor<fp32, [3]>") == true, "\(length ?? "")")
        #expect(length?.hasPrefix("Unable to compute the prediction using ML Program") == true)
    }

    @Test func flexibleInputsThatDoNotFitAreNamed() throws {
        let engine = try EngineLoader.load(Samples.doubling(-1))
        let rank = message(engine, ["x": .tensor(Tensor([1, 2] as [Float], shape: [1, 2]))])
        #expect(rank?.contains("input 'x' is tensor<fp32, [1, 2]>, the model takes tensor<fp32, [?]>") == true)
        let network = try EngineLoader.load(ModelFile(specification: Samples.network([2])))
        let shape = message(network, ["x": vector(1, 2, 3)])
        #expect(shape?.hasPrefix("Error computing NN outputs") == true, "\(shape ?? "")")
        #expect(shape?.contains("'x'") == true)
    }

    @Test func optionalInputsAreFilled() throws {
        var model = Samples.network([2])
        model.description_p.input[0].type.isOptional = true
        model.description_p.input[0].type.multiArrayType.floatDefaultValue = 4
        #expect(try EngineLoader.load(ModelFile(specification: model)).answer([:]) == [8, 8])
    }

    @Test func scalarsStandForArraysOfOneElement() throws {
        let engine = try EngineLoader.load(Samples.doubling(1))
        #expect(try engine.answer(["x": .double(1.5)]) == [3])
        #expect(try engine.answer(["x": .int64(-2)]) == [-4])
    }

    @Test func outputsAreWrittenWhereTheCallerWants() throws {
        let engine = try EngineLoader.load(Samples.doubling(2))
        let target = Tensor(uninitialized: .float32, shape: [2], zeroed: true)
        let results = try engine.prediction(from: ["x": vector(1, 2)], backings: ["y": .tensor(target)], state: nil)
        #expect(target.values == [2, 4])
        guard case .tensor(let result)? = results["y"] else { throw ModelError(.invalidModel, "no y") }
        #expect(result.address == target.address)
    }

    @Test func statesArePassedFromCallToCall() throws {
        var state = SpecFeatureDescription()
        state.name = "total"
        state.type.stateType.arrayType.dataType = .float16
        state.type.stateType.arrayType.shape = [2]
        let file = try Samples.program(
            """
            func main<ios18>(tensor<fp16, [2]> x, state<tensor<fp16, [2]>> total) {
                tensor<fp16, [2]> before = read_state(input = total);
                tensor<fp16, [2]> y = add(x = before, y = x);
                tensor<fp16, [2]> after = coreml_update_state(state = total, value = y);
            } -> (y);
            """,
            [Samples.array("x", [2])],
            [Samples.array("y", [2])]
        ) {
            $0.description_p.input[0].type.multiArrayType.dataType = .float16
            $0.description_p.output[0].type.multiArrayType.dataType = .float16
            $0.description_p.state = [state]
        }
        let engine = try EngineLoader.load(file)
        let (first, second) = (engine.makeState(), engine.makeState())
        for turn in 1...3 {
            let result = try engine.prediction(from: ["x": vector(1, 2)], backings: [:], state: first)
            #expect(numbers(result["y"]) == [Double(turn), Double(2 * turn)])
        }
        let result = try engine.prediction(from: ["x": vector(1, 2)], backings: [:], state: second)
        #expect(numbers(result["y"]) == [1, 2], "each sequence has a state of its own")
        #expect(message(engine, ["x": vector(1, 2)])?.contains("keeps states ('total')") == true)
    }

    @Test func classifiersGiveTheFirstOfTheMostProbableLabels() throws {
        var model = Samples.network([3], output: "scores")
        let network = model.neuralNetwork
        model.neuralNetworkClassifier.layers = network.layers
        model.neuralNetworkClassifier.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetworkClassifier.stringClassLabels.vector = ["a", "b", "c"]
        model.neuralNetworkClassifier.labelProbabilityLayerName = "scores"
        var (label, all) = (SpecFeatureDescription(), SpecFeatureDescription())
        label.name = "label"
        label.type.stringType = SpecStringFeatureType()
        all.name = "all"
        all.type.dictionaryType.stringKeyType = SpecStringFeatureType()
        model.description_p.output = [label, all]
        model.description_p.predictedFeatureName = "label"
        model.description_p.predictedProbabilitiesName = "all"
        let engine = try EngineLoader.load(ModelFile(specification: model))
        let result = try engine.prediction(from: ["x": vector(0.1, 0.4, 0.4)])
        guard case .string("b")? = result["label"], case .dictionary(.strings(let votes))? = result["all"] else {
            Issue.record("\(result)")
            return
        }
        #expect(votes.keys.sorted() == ["a", "b", "c"])
        model.neuralNetworkClassifier.stringClassLabels.vector.append("d")
        let error = #expect(throws: ModelError.self) {
            try EngineLoader.load(ModelFile(specification: model)).prediction(from: ["x": vector(0, 0, 0)])
        }
        #expect(
            error?.description.contains("4 class labels for 3 probabilities") == true,
            "\(String(describing: error))"
        )
    }
}
