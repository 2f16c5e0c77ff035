import CoreML
import MLSpecification
import TestSupport
import Testing

/// Updates of networks through `MLUpdateTask`.
struct NetworkUpdateTests {
    /// Softmax regression with SGD and momentum, written out in Double.
    struct Reference {
        var weights = [0.1, -0.2, 0.3, 0.4, -0.5, 0.6]
        var bias = [0, 0.1, -0.1]
        private var speed = [Double](repeating: 0, count: 9)

        /// The mean loss before the step.
        mutating func step(_ batch: [(x: [Float], label: String)], rate: Double, momentum: Double) -> Double {
            var gradient = [Double](repeating: 0, count: 9)
            var loss = 0.0
            for (x, label) in batch {
                let logits = (0..<3).map { place -> Double in
                    let product = weights[2 * place] * Double(x[0])
                    return bias[place] + product + weights[2 * place + 1] * Double(x[1])
                }
                let sum = logits.map(exp).reduce(0, +)
                for place in 0..<3 {
                    let target = ["a", "b", "c"][place] == label ? 1.0 : 0
                    let p = exp(logits[place]) / sum
                    if target == 1 { loss -= log(p) }
                    gradient[2 * place] += (p - target) * Double(x[0])
                    gradient[2 * place + 1] += (p - target) * Double(x[1])
                    gradient[6 + place] += p - target
                }
            }
            for index in 0..<9 {
                speed[index] = momentum * speed[index] + gradient[index] / Double(batch.count)
                if index < 6 { weights[index] -= rate * speed[index] } else { bias[index - 6] -= rate * speed[index] }
            }
            return loss / Double(batch.count)
        }
    }

    static func weights(_ model: MLModel, _ key: MLParameterKey = .weights) throws -> [Double] {
        let array = try #require(model.parameterValue(for: key.scoped(to: "head")) as? MLMultiArray)
        return (0..<array.count).map { array[$0].doubleValue }
    }

    @Test func eventsMetricsAndWeightsAreThoseOfTheReference() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(), in: folder)
        let points = UpdatableModels.points(10)
        let run = try UpdateRun.run(url, UpdatableModels.batch(points))
        var reference = Reference()
        var steps = [UpdateRun.Step(event: 1)]
        var losses: [Double] = []
        for epoch in 0..<3 {
            var sum = 0.0
            for (place, start) in stride(from: 0, to: 10, by: 4).enumerated() {
                let batch = Array(points[start..<min(start + 4, 10)])
                let loss = reference.step(batch, rate: 0.5, momentum: 0.25)
                steps.append(.init(event: 4, epoch: epoch, batch: place))
                losses.append(loss)
                sum += loss * Double(batch.count)
            }
            steps.append(.init(event: 2, epoch: epoch))
            losses.append(sum / 10)
        }
        #expect(run.steps == steps)
        #expect(run.losses.count == losses.count)
        for (ours, theirs) in zip(run.losses, losses) { #expect(abs(ours - theirs) < 1e-5) }
        let model = try #require(run.model)
        #expect(run.end?.task.state == .completed && run.end?.task.error == nil)
        #expect(run.end?.event == [])
        #expect(run.end?.metrics[.epochIndex] as? Int == 2)
        #expect(zip(try Self.weights(model), reference.weights).allSatisfy { abs($0 - $1) < 1e-5 })
        #expect(zip(try Self.weights(model, .biases), reference.bias).allSatisfy { abs($0 - $1) < 1e-5 })
        // The model of each moment can be used and stays what it was.
        let begin = try Self.weights(run.contexts[0].model)
        #expect(zip(begin, Reference().weights).allSatisfy { abs($0 - $1) < 1e-6 })
        let saved = folder.appendingPathComponent("Saved.mlmodelc")
        try model.write(to: saved)
        let loaded = try MLModel(contentsOf: saved)
        let question = try UpdatableModels.example([-1, 1], nil)
        for model in [model, loaded] {
            #expect(try model.prediction(from: question).featureValue(for: "label")?.stringValue == "a")
        }
        #expect(try Self.weights(loaded) == Self.weights(model))
        // And it learns on from there.
        let more = try UpdateRun.run(saved, UpdatableModels.batch(points), events: .epochEnd)
        #expect(more.steps.map(\.epoch) == [0, 1, 2])
        #expect(try #require(more.losses.last) < #require(run.losses.last))
    }

    @Test func parametersOfTheConfiguration() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(), in: folder)
        let points = UpdatableModels.points(6)
        let start = MLMultiArray(MLShapedArray<Float>(scalars: [1, 2, 3, 4, 5, 6], shape: [3, 2]))
        let run = try UpdateRun.run(
            url,
            UpdatableModels.batch(points),
            parameters: [
                .epochs: 2, .miniBatchSize: 3, .learningRate: 0.125, .momentum: 0.0, .shuffle: false, .seed: 5,
                MLParameterKey.weights.scoped(to: "head"): start,
            ]
        )
        #expect(run.steps.filter { $0.event == 4 }.map(\.batch) == [0, 1, 0, 1])
        var reference = Reference()
        reference.weights = [1, 2, 3, 4, 5, 6]
        for _ in 0..<2 {
            _ = reference.step(Array(points[..<3]), rate: 0.125, momentum: 0)
            _ = reference.step(Array(points[3...]), rate: 0.125, momentum: 0)
        }
        let model = try #require(run.model)
        #expect(zip(try Self.weights(model), reference.weights).allSatisfy { abs($0 - $1) < 1e-5 })
        #expect(run.end?.parameters[.learningRate] as? Double == 0.125)
        #expect(run.end?.parameters[.epochs] as? Int == 2)
        #expect(run.end?.parameters[.shuffle] as? Bool == false)
        #expect(try model.parameterValue(for: .miniBatchSize) as? Int == 3)
        // A plain loading takes weights too.
        let configuration = MLModelConfiguration()
        configuration.parameters = [MLParameterKey.weights.scoped(to: "head"): start]
        let loaded = try MLModel(contentsOf: url, configuration: configuration)
        #expect(try Self.weights(loaded) == [1, 2, 3, 4, 5, 6])
        #expect(try loaded.parameterValue(for: .learningRate) as? Double == 0.5)
    }

    @Test func descriptionsAreTheModels() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipeline = UpdatableModels.pipeline(UpdatableModels.extractor("raw", "x"), UpdatableModels.network())
        for (model, input) in [(UpdatableModels.network(), "x"), (pipeline, "raw")] {
            let description = try MLModel(contentsOf: UpdatableModels.compiled(model, in: folder)).modelDescription
            #expect(description.isUpdatable)
            let kinds = description.trainingInputDescriptionsByName.mapValues(\.type)
            #expect(kinds == [input: .multiArray, "label": .string])
            let byKey = description.parameterDescriptionsByKey
            #expect(Set(byKey.keys) == [.epochs, .shuffle, .seed, .learningRate, .miniBatchSize, .momentum])
            #expect(byKey[.epochs]?.numericConstraint?.maxNumber == 1000)
            #expect(byKey[.miniBatchSize]?.numericConstraint?.enumeratedNumbers == [1, 2, 3, 4, 5, 8, 1000])
            #expect(byKey[.learningRate]?.defaultValue as? Double == 0.5)
        }
    }

    /// A shuffled run is the same every time, another than one with another seed, and learns each example once an epoch.
    @Test func theSeedDecidesTheOrder() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(shuffles: true), in: folder)
        let data = try UpdatableModels.batch(UpdatableModels.points(11))
        func weights(_ seed: Int) throws -> [Double] {
            try Self.weights(#require(UpdateRun.run(url, data, parameters: [.seed: seed], events: []).model))
        }
        let first = try weights(1)
        #expect(zip(try weights(1), first).allSatisfy { abs($0 - $1) < 1e-5 })
        #expect(!zip(try weights(2), first).allSatisfy { abs($0 - $1) < 1e-5 })
    }

    @Test func parametersChangeOnTheWay() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(miniBatch: 2), in: folder)
        let points = UpdatableModels.points(4)
        let run = try UpdateRun.run(
            url,
            UpdatableModels.batch(points),
            during: { context in
                if context.event == .epochEnd, context.metrics[.epochIndex] as? Int == 0 {
                    context.task.resume(withParameters: [.learningRate: 0.0625, .momentum: 0, .epochs: 2])
                }
            }
        )
        var reference = Reference()
        for (rate, momentum) in [(0.5, 0.25), (0.0625, 0)] {
            _ = reference.step(Array(points[..<2]), rate: rate, momentum: momentum)
            _ = reference.step(Array(points[2...]), rate: rate, momentum: momentum)
        }
        #expect(zip(try Self.weights(#require(run.model)), reference.weights).allSatisfy { abs($0 - $1) < 1e-5 })
        #expect(run.steps.last?.epoch == 1)
        // A refused value fails the task.
        let refused = try UpdateRun.run(
            url,
            UpdatableModels.batch(points),
            during: { context in
                if context.event == .trainingBegin { context.task.resume(withParameters: [.epochs: 5000]) }
            }
        )
        #expect(refused.end?.task.state == .failed)
        #expect(refused.error?.code == .parameters)
        #expect(refused.error?.localizedDescription.contains("1 … 1000") == true)
        #expect(refused.steps.count == 1)
    }

    /// In a pipeline the static part is run once for each example, however many epochs there are.
    @Test func pipelinesComputeFeaturesOnce() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        CountingModel.calls = 0
        CustomModelClasses.register(CountingModel.self, as: "CountingModel")
        var custom = SpecModel()
        custom.specificationVersion = 4
        custom.description_p = UpdatableModels.extractor("raw", "x").description_p
        custom.customModel.className = "CountingModel"
        let model = UpdatableModels.pipeline(custom, UpdatableModels.network(epochs: 5))
        let url = try UpdatableModels.compiled(model, in: folder)
        let points = UpdatableModels.points(7)
        let data = MLArrayBatchProvider(
            array: try points.map { try UpdatableModels.example($0.x, $0.label, as: "raw") }
        )
        let run = try UpdateRun.run(url, data, parameters: [MLParameterKey.momentum.scoped(to: "learner"): 0.5])
        #expect(CountingModel.calls == 7)
        var reference = Reference()
        for _ in 0..<5 {
            _ = reference.step(Array(points[..<4]), rate: 0.5, momentum: 0.5)
            _ = reference.step(Array(points[4...]), rate: 0.5, momentum: 0.5)
        }
        let updated = try #require(run.model)
        let key = MLParameterKey.weights.scoped(to: "learner.head")
        let array = try #require(updated.parameterValue(for: key) as? MLMultiArray)
        #expect((0..<6).allSatisfy { abs(array[$0].doubleValue - reference.weights[$0]) < 1e-5 })
    }
}

/// Gives its input and counts how often.
final class CountingModel: MLCustomModel {
    nonisolated(unsafe) static var calls = 0
    init(modelDescription: MLModelDescription, parameters: [String: Any]) throws {}

    func prediction(from input: any MLFeatureProvider, options: MLPredictionOptions) throws -> any MLFeatureProvider {
        Self.calls += 1
        return try MLDictionaryFeatureProvider(dictionary: ["x": input.featureValue(for: "raw") as Any])
    }
}
