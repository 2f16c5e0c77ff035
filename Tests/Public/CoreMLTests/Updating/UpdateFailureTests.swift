import CoreML
import Glibc
import MLSpecification
import TestSupport
import Testing

/// The errors of updates, and their early ends.
struct UpdateFailureTests {
    static func message(_ code: MLModelError.Code, _ body: () throws -> Void) -> String {
        do {
            try body()
        } catch let error as MLModelError {
            #expect(error.code == code, "\(error)")
            return error.localizedDescription
        } catch {
            Issue.record("\(error)")
            return ""
        }
        Issue.record("no error")
        return ""
    }

    @Test func modelsAndParametersThatCannotBe() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try UpdatableModels.batch(UpdatableModels.points(4))
        var fixed = UpdatableModels.neighbors()
        fixed.isUpdatable = false
        func make(_ model: SpecModel, _ parameters: [MLParameterKey: Any] = [:]) throws {
            let url = try UpdatableModels.compiled(model, in: folder)
            let configuration = MLModelConfiguration()
            configuration.parameters = parameters
            _ = try MLUpdateTask(forModelAt: url, trainingData: data, configuration: configuration) { _ in }
        }
        #expect(Self.message(.update) { try make(fixed) }.contains("not updatable"))
        var last = UpdatableModels.pipeline(UpdatableModels.extractor(), fixed)
        last.pipelineClassifier.pipeline.models[1] = UpdatableModels.neighbors(input: "features")
        last.pipelineClassifier.pipeline.models[1].isUpdatable = false
        #expect(Self.message(.update) { try make(last) }.contains("'learner'"))
        let network = UpdatableModels.network()
        #expect(Self.message(.parameters) { try make(network, [.learningRate: -1.0]) }.contains("0.0 … 1e+30"))
        #expect(Self.message(.parameters) { try make(network, [.epochs: 1001]) }.contains("1 … 1000"))
        #expect(Self.message(.parameters) { try make(network, [.miniBatchSize: 7]) }.contains("1, 2, 3, 4, 5, 8, 1000"))
        #expect(Self.message(.parameters) { try make(network, [.beta1: 0.5]) }.contains("no parameter 'beta1'"))
        #expect(Self.message(.parameters) { try make(network, [.epochs: "many"]) }.contains("many"))
        #expect(Self.message(.parameters) { try make(network, [.weights: 1]) }.contains("MLMultiArray"))
        let array = try MLMultiArray(shape: [2], dataType: .float32)
        #expect(
            Self.message(.parameters) { try make(network, [MLParameterKey.weights.scoped(to: "tail"): array]) }
                .contains("'tail'")
        )
        #expect(
            Self.message(.parameters) { try make(network, [MLParameterKey.weights.scoped(to: "head"): array]) }
                .contains("[3, 2]")
        )
        #expect(
            Self.message(.parameters) { try make(network, [MLParameterKey.epochs.scoped(to: "other"): 2]) }
                .contains("'other'")
        )
        #expect(
            Self.message(.parameters) { try make(UpdatableModels.neighbors(), [.numberOfNeighbors: 51]) }.contains(
                "1 … 50"
            )
        )
        #expect(
            Self.message(.io) {
                _ = try MLUpdateTask(forModelAt: folder.appendingPathComponent("No.mlmodelc"), trainingData: data) {
                    _ in
                }
            }.contains("No.mlmodelc")
        )
    }

    @Test func trainingDataThatDoesNotFit() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(), in: folder)
        func make(_ examples: [any MLFeatureProvider]) throws {
            _ = try MLUpdateTask(forModelAt: url, trainingData: MLArrayBatchProvider(array: examples)) { _ in }
        }
        #expect(Self.message(.update) { try make([]) }.contains("no training data"))
        let missing = Self.message(.featureType) { try make([try UpdatableModels.example([1, 2], nil)]) }
        #expect(missing.contains("Example 0") && missing.contains("\"label\""))
        let mistyped = Self.message(.featureType) { try make([try UpdatableModels.example([1, 2], 3)]) }
        #expect(mistyped.contains("Example 0") && mistyped.contains("\"label\""))
        let wide = Self.message(.featureType) { try make([try UpdatableModels.example([1, 2, 3], "a")]) }
        #expect(wide.contains("Example 0") && wide.contains("\"x\""))
        // Errors that the first example does not have appear during the run.
        for (bad, name) in [
            (try UpdatableModels.example([1, 2], nil), "\"label\""), (try UpdatableModels.example([1], "a"), "\"x\""),
        ] {
            let data = MLArrayBatchProvider(array: [try UpdatableModels.example([1, 2], "a"), bad])
            let run = try UpdateRun.run(url, data)
            #expect(run.end?.task.state == .failed && run.error?.code == .featureType)
            #expect(run.error?.localizedDescription.contains("Example 1") == true)
            #expect(run.error?.localizedDescription.contains(name) == true)
            #expect(run.steps.isEmpty)
        }
        let unknown = MLArrayBatchProvider(array: [try UpdatableModels.example([1, 2], "z")])
        let run = try UpdateRun.run(url, unknown)
        #expect(run.end?.task.state == .failed)
        #expect(run.error?.localizedDescription.contains("z") == true)
    }

    @Test func aLossThatIsNoNumberFails() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(), in: folder)
        let data = MLArrayBatchProvider(array: [
            try UpdatableModels.example([1, 2], "a"), try UpdatableModels.example([.nan, 2], "a"),
        ])
        let run = try UpdateRun.run(url, data)
        #expect(run.end?.task.state == .failed && run.error?.code == .update)
        #expect(run.error?.localizedDescription.contains("mini-batch 0 of epoch 0") == true)
        let weights = try NetworkUpdateTests.weights(#require(run.model))
        #expect(zip(weights, NetworkUpdateTests.Reference().weights).allSatisfy { abs($0 - $1) < 1e-6 })
    }

    @Test func statesAndCancelling() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(), in: folder)
        let data = try UpdatableModels.batch(UpdatableModels.points(8))
        let before = try Data(contentsOf: url.appendingPathComponent("specification.bin"))
        for event: MLUpdateProgressEvent in [.trainingBegin, .miniBatchEnd, .epochEnd] {
            let run = try UpdateRun.run(
                url,
                data,
                during: { context in
                    guard context.event == event, context.task.state == .running else { return }
                    context.task.cancel()
                    #expect(context.task.state == .cancelling)
                },
                before: { task in
                    #expect(task.state == .suspended && !task.taskIdentifier.isEmpty)
                }
            )
            #expect(run.steps.count(where: { $0.event == event.rawValue }) == 1)
            #expect(run.end?.task.state == .failed && run.error?.code == .update)
            let weights = try NetworkUpdateTests.weights(#require(run.model))
            #expect(zip(weights, NetworkUpdateTests.Reference().weights).allSatisfy { abs($0 - $1) < 1e-6 })
            run.end?.task.cancel()
            run.end?.task.resume()
            #expect(run.end?.task.state == .failed)
        }
        let never = try UpdateRun.run(url, data, before: { $0.cancel() })
        #expect(never.steps.isEmpty && never.end?.task.state == .failed)
        #expect(try Data(contentsOf: url.appendingPathComponent("specification.bin")) == before)
    }

    /// A model that does not fit on the disk leaves the old one whole, and nothing else.
    @Test func aFullDiskLeavesTheOldModel() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.network(), in: folder)
        let run = try UpdateRun.run(url, UpdatableModels.batch(UpdatableModels.points(8)))
        let model = try #require(run.model)
        let target = folder.appendingPathComponent("Target.mlmodelc")
        try FileManager.default.copyItem(at: url, to: target)
        let old = try Data(contentsOf: target.appendingPathComponent("specification.bin"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        // "/dev/full" has no room; a folder of that name cannot be made there either.
        #expect(throws: MLModelError.self) { try model.write(to: URL(fileURLWithPath: "/dev/full/Model.mlmodelc")) }
        #expect(throws: MLModelError.self) { try model.write(to: URL(fileURLWithPath: "/proc/Model.mlmodelc")) }
        #expect(try Data(contentsOf: target.appendingPathComponent("specification.bin")) == old)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        try model.write(to: target)
        #expect(try Data(contentsOf: target.appendingPathComponent("specification.bin")) != old)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        // The other forms.
        let before = try NetworkUpdateTests.weights(model)
        for name in ["Other.mlmodel", "Other.mlpackage", "Other.mlpackage"] {
            let other = folder.appendingPathComponent(name)
            try model.write(to: other)
            #expect(try NetworkUpdateTests.weights(MLModel(contentsOf: other)) == before)
        }
    }
}
