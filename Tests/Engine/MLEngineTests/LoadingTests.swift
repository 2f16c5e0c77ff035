import MLEngine
import MLFeatures
import MLFiles
import MLModels
import MLNumerics
import MLSpecification
import Testing

/// The engine of a file, and the errors of files without one.
struct LoadingTests {
    /// Adds one to every element; the class of an app.
    private struct AddOne: ModelEngine {
        let interface: SpecModelDescription
        func prediction(
            from inputs: [String: FeatureData],
            backings: [String: FeatureData],
            state: ModelState?
        ) throws(ModelError) -> [String: FeatureData] {
            guard case .tensor(let x)? = inputs["x"] else { throw ModelError(.invalidInput, "no x") }
            return ["y": .tensor(Tensor(values: x.values.map { $0 + 1 }, scalarType: .float32, shape: x.shape))]
        }
    }

    private struct CustomModels: CustomModelSource {
        func engine(for model: SpecModel) throws(ModelError) -> any ModelEngine {
            AddOne(interface: model.description_p)
        }
    }

    private func load(_ model: SpecModel, _ loadingOptions: LoadingOptions = LoadingOptions()) throws(ModelError)
        -> any ModelEngine
    {
        try EngineLoader.load(ModelFile(specification: model), loadingOptions: loadingOptions)
    }

    private func message(_ body: () throws(ModelError) -> any ModelEngine) -> String? {
        #expect(throws: ModelError.self) { try body() }?.description
    }

    @Test func programsAndNetworksAreGraphs() throws {
        let program = try EngineLoader.load(Samples.doubling(2))
        #expect(program is GraphEngine)
        #expect(try program.answer(["x": vector(1, 2)]) == [2, 4])
        let network = try load(Samples.network([2]))
        #expect(network is GraphEngine)
        #expect(try network.answer(["x": vector(1, 2)]) == [2, 4])
    }

    @Test func programsWhoseRanksAreOpenAreReadForEachShape() throws {
        let engine = try EngineLoader.load(Samples.filling())
        #expect(engine is PerShapeEngine)
        #expect(try engine.answer(["shape": vector(2, 3)]) == [6])
    }

    @Test func classicModelsAreNoGraphs() throws {
        let engine = try load(Samples.regressor())
        #expect(!(engine is GraphEngine))
        #expect(try engine.answer(["x": vector(2, 1)]) == [7.5])
    }

    @Test func pipelinesHoldTheirStages() throws {
        let engine = try #require(try load(Samples.pipeline(names: ["first", "second"])) as? Pipeline)
        #expect(engine.stages.map(\.name) == ["first", "second"])
        #expect(engine.stages.allSatisfy { $0.engine is GraphEngine })
        #expect(try engine.answer(["x": vector(1, -1)]) == [4, -4])
        let unnamed = try #require(try load(Samples.pipeline(names: [])) as? Pipeline)
        #expect(unnamed.stages.map(\.name) == ["model 0", "model 1"])
    }

    @Test func customModelsComeFromTheApp() throws {
        var model = Samples.network([2])
        model.customModel.className = "AddOne"
        let engine = try load(model, LoadingOptions(customModels: CustomModels()))
        #expect(try engine.answer(["x": vector(1, 2)]) == [2, 3])
        #expect(message { () throws(ModelError) in try load(model) }?.contains("the class 'AddOne' of an app") == true)
    }

    @Test func linkedModelsAreLoadedOnce() throws {
        let folder = try FileAccess.makeTemporaryFolder("linked")
        defer { try? FileAccess.remove(folder) }
        try FileAccess.write(SpecificationReader.encode(Samples.network([2])), to: folder + "/Part.mlmodel")
        try FileAccess.write(SpecificationReader.encode(Samples.link(to: "Part.mlmodel")), to: folder + "/A.mlmodel")
        try FileAccess.write(SpecificationReader.encode(Samples.link(to: "Part.mlmodel")), to: folder + "/B.mlmodel")
        let engines = try ["A", "B"].map { try EngineLoader.load(ModelFile.open(path: folder + "/\($0).mlmodel")) }
        #expect(try engines[0].answer(["x": vector(1, 2)]) == [2, 4])
        #expect(!engines[0].sharedModels.isEmpty)
        #expect(engines[0].sharedModels == engines[1].sharedModels)
    }

    @Test func linksThatLeadNowhereAreNamed() throws {
        let folder = try FileAccess.makeTemporaryFolder("linked")
        defer { try? FileAccess.remove(folder) }
        func open(_ model: SpecModel) throws -> ModelFile {
            try FileAccess.write(SpecificationReader.encode(model), to: folder + "/A.mlmodel")
            return try ModelFile.open(path: folder + "/A.mlmodel")
        }
        let missing = try open(Samples.link(to: "Nobody.mlmodel", searchPath: "parts:."))
        let lost = try #require(throws: ModelError.self) { try EngineLoader.load(missing) }
        #expect(lost.code == .io)
        #expect(
            lost.message
                == "the linked model 'Nobody.mlmodel' was not found; looked for \(folder)/parts/Nobody.mlmodel, "
                + "\(folder)/./Nobody.mlmodel"
        )
        let circle = try open(Samples.link(to: "A.mlmodel"))
        let error = try #require(throws: ModelError.self) { try EngineLoader.load(circle) }
        #expect(error.message.contains("'A.mlmodel' leads back to itself"))
        let relative = message { () throws(ModelError) in try load(Samples.link(to: "A.mlmodel")) }
        #expect(relative?.contains("is relative, but the model was loaded from memory") == true)
        #expect(message { () throws(ModelError) in try load(Samples.link(to: "")) }?.contains("no file name") == true)
    }

    @Test func filesWithoutAComputationSayWhatTheyLack() {
        var empty = SpecModel()
        empty.specificationVersion = 1
        #expect(
            message { () throws(ModelError) in try load(empty) }
                == "model in memory: the file states no model type; it is empty or damaged"
        )
        var serialized = SpecModel()
        serialized.serializedModel.identifier = "org.example.block"
        #expect(message { () throws(ModelError) in try load(serialized) }?.contains("'org.example.block'") == true)
        var print = SpecModel()
        print.visionFeaturePrint.scene.version = .sceneVersion1
        #expect(message { () throws(ModelError) in try load(print) }?.contains("FeatureExtractors.register") == true)
    }

    @Test func functionsAreChosenInProgramsAlone() throws {
        let file = try Samples.program(
            """
            func main<ios17>(tensor<fp32, [2]> x) { tensor<fp32, [2]> y = add(x = x, y = x); } -> (y);
            func negative<ios17>(tensor<fp32, [2]> x) { tensor<fp32, [2]> y = sub(x = x, y = x); } -> (y);
            """,
            [Samples.array("x", [2])],
            [Samples.array("y", [2])]
        )
        #expect(try EngineLoader.load(file, functionName: "negative").answer(["x": vector(1, 2)]) == [0, 0])
        let unknown = message { () throws(ModelError) in try EngineLoader.load(file, functionName: "third") }
        #expect(unknown?.contains("no function 'third'") == true)
        let network = ModelFile(specification: Samples.network([2]))
        let wrong = message { () throws(ModelError) in try EngineLoader.load(network, functionName: "main") }
        #expect(wrong?.contains("only ML programs have functions to choose; leave out 'main'") == true)
    }

    @Test func errorsNameStageAndLayer() {
        var model = Samples.pipeline(names: ["first", "second"])
        model.pipeline.models[1].neuralNetwork.layers[0].input = ["nothing"]
        let inner = message { () throws(ModelError) in try load(model) }
        #expect(inner?.hasPrefix("model in memory › second › ") == true, "\(inner ?? "")")
        #expect(inner?.contains("'nothing'") == true)
        let fewer = Samples.pipeline(names: ["first"])
        #expect(message { () throws(ModelError) in try load(fewer) }?.contains("2 models, but 1 names") == true)
        let same = Samples.pipeline(names: ["same", "same"])
        #expect(message { () throws(ModelError) in try load(same) }?.contains("not all different") == true)
    }
}
