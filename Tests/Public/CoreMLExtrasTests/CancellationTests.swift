import CoreML
import CoreMLExtras
import MLFiles
import MLSpecification
import Synchronization
import Testing

/// A layer that copies, and cancels a task the third time that any of its kind computes.
private final class Interrupter: MLCustomLayer {
    private static let state = Mutex<(task: Task<Void, any Error>?, calls: Int)>((nil, 0))

    /// Starts counting anew; `task` is what the third call cancels.
    static func watch(_ task: Task<Void, any Error>?) { state.withLock { $0 = (task, 0) } }
    static var calls: Int { state.withLock { $0.calls } }

    init(parameters: [String: Any]) throws {}
    func setWeightData(_ weights: [Data]) throws {}
    func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] { inputShapes }

    func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
        for index in 0..<inputs[0].count { outputs[0][index] = inputs[0][index] }
        Self.state.withLock { state in
            state.calls += 1
            if state.calls == 3 { state.task?.cancel() }
        }
    }
}

/// A prediction ends where its task is cancelled, not when the model is done.
@Suite(.serialized) struct CancellationTests {
    /// A network of custom layers in a row.
    static func network(layers: Int, input: String = "x", output: String = "y") -> SpecModel {
        var specification = SpecModel()
        specification.specificationVersion = 4
        for name in [input, output] {
            var feature = SpecFeatureDescription()
            feature.name = name
            feature.type.multiArrayType.dataType = .float32
            feature.type.multiArrayType.shape = [3]
            if name == input {
                specification.description_p.input = [feature]
            } else {
                specification.description_p.output = [feature]
            }
        }
        specification.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        for place in 0..<layers {
            var layer = SpecNeuralNetworkLayer()
            layer.name = "layer \(place)"
            layer.input = [place == 0 ? input : "\(input) \(place)"]
            layer.output = [place == layers - 1 ? output : "\(input) \(place + 1)"]
            layer.custom.className = "Interrupter"
            specification.neuralNetwork.layers.append(layer)
        }
        return specification
    }

    /// A network that goes on with one layer for ever.
    static func endless() -> SpecModel {
        var specification = network(layers: 1)
        let layer = specification.neuralNetwork.layers[0]
        func copy(_ input: String, _ output: String) -> SpecNeuralNetworkLayer {
            var copy = SpecNeuralNetworkLayer()
            (copy.name, copy.input, copy.output, copy.copy) = ("to \(output)", [input], [output], .init())
            return copy
        }
        var loop = SpecNeuralNetworkLayer()
        loop.name = "loop"
        loop.loop.maxLoopIterations = .max
        loop.loop.bodyNetwork.layers = [layer, copy("y", "x")]
        specification.neuralNetwork.layers = [copy("x", "y"), loop]
        return specification
    }

    @Test func endlessLoopsAreCancelled() async throws {
        let model = try Self.model(Self.endless())
        let (calls, error) = await Self.run { _ = try await model.prediction(from: Self.example(model)) }
        #expect(calls == 3)
        #expect((error as? MLModelError)?.code == .predictionCancelled, "\(String(describing: error))")
    }

    /// Models of one layer each.
    static func pipeline(models: Int) -> SpecModel {
        var specification = SpecModel()
        specification.specificationVersion = 4
        specification.pipeline.models = (0..<models).map {
            network(layers: 1, input: "x\($0)", output: "x\($0 + 1)")
        }
        specification.pipeline.names = (0..<models).map { "model \($0)" }
        specification.description_p.input = specification.pipeline.models[0].description_p.input
        specification.description_p.output = specification.pipeline.models[models - 1].description_p.output
        return specification
    }

    static func model(_ specification: SpecModel) throws -> MLModel {
        CustomLayers.register(Interrupter.self)
        return try MLModel(ModelFile(specification: specification), configuration: MLModelConfiguration())
    }

    static func example(_ model: MLModel) throws -> MLDictionaryFeatureProvider {
        let name = try #require(model.modelDescription.inputDescriptionsByName.keys.first)
        return try MLDictionaryFeatureProvider(dictionary: [name: MLMultiArray([1, 2, 3])])
    }

    /// How often the layers computed until the task ended, and how it ended.
    static func run(_ work: @escaping @Sendable () async throws -> Void) async -> (calls: Int, error: (any Error)?) {
        let (starts, start) = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in starts { break }
            try await work()
        }
        Interrupter.watch(task)
        start.yield()
        let result = await task.result
        if case .failure(let error) = result { return (Interrupter.calls, error) }
        return (Interrupter.calls, nil)
    }

    @Test(arguments: [network(layers: 10), pipeline(models: 10)])
    func predictionsStopBetweenSteps(specification: SpecModel) async throws {
        let model = try Self.model(specification)
        Interrupter.watch(nil)
        _ = try await model.prediction(from: Self.example(model))
        #expect(Interrupter.calls == 10)
        let (calls, error) = await Self.run { _ = try await model.prediction(from: Self.example(model)) }
        #expect(calls == 3)
        #expect((error as? MLModelError)?.code == .predictionCancelled, "\(String(describing: error))")
    }

    @Test func batchesStopBetweenExamples() async throws {
        let model = try Self.model(Self.network(layers: 1))
        let (calls, error) = await Self.run {
            let batch = MLArrayBatchProvider(array: try (0..<10).map { _ in try Self.example(model) })
            func predict() throws { _ = try model.predictions(fromBatch: batch) }
            try predict()
        }
        #expect(calls == 3)
        #expect((error as? MLModelError)?.code == .predictionCancelled, "\(String(describing: error))")
    }

    /// Work that the caller waits for without being able to leave is finished.
    @Test func synchronousPredictionsAreFinished() async throws {
        let model = try Self.model(Self.network(layers: 10))
        let (calls, error) = await Self.run {
            func predict() throws { _ = try model.prediction(from: Self.example(model)) }
            try predict()
        }
        #expect(calls == 10 && error == nil)
    }
}
