import BackgroundTasks
import CoreML
import CoreMLExtras
import MLFiles
import Synchronization
import TestSupport
import Testing

/// A machine that is always idle.
private struct IdleMachine: Machine {
    var conditions: MachineConditions { MachineConditions(load: 0) }
}

struct BackgroundUpdateTests {
    private static func compiled(in folder: URL) throws -> URL {
        let source = folder.appendingPathComponent("Model.mlmodel")
        try Data(SpecificationReader.encode(UpdatableModels.network(epochs: 40, shuffles: true))).write(to: source)
        let target = folder.appendingPathComponent("Model.mlmodelc")
        try FileManager.default.moveItem(at: MLModel.compileModel(at: source), to: target)
        return target
    }

    /// Examples that tell when they are read.
    private final class Batch: MLBatchProvider {
        private let examples: [any MLFeatureProvider]
        private let willRead: (Int) -> Void

        init(willRead: @escaping (Int) -> Void = { _ in }) throws {
            self.willRead = willRead
            examples = try (0..<30).map { index in
                let x = MLShapedArray<Float>(scalars: [Float(index % 3), Float(index % 5)], shape: [2])
                return try MLDictionaryFeatureProvider(dictionary: [
                    "x": MLMultiArray(x), "label": ["a", "b", "c"][index % 3],
                ])
            }
        }

        var count: Int { examples.count }

        func features(at index: Int) -> any MLFeatureProvider {
            willRead(index)
            return examples[index]
        }
    }

    private static func weights(_ url: URL) throws -> [Float] {
        let key = MLParameterKey.weights.scoped(to: "head")
        let array = try #require(try MLModel(contentsOf: url).parameterValue(for: key) as? MLMultiArray)
        return (0..<array.count).map { array[$0].floatValue }
    }

    /// An update that is cancelled and taken up by another task ends as one that runs through.
    @Test(.timeLimit(.minutes(20))) func tasksGoOnFromTheirCheckpoint() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("background-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try Self.compiled(in: folder)
        let whole = folder.appendingPathComponent("Whole.mlmodelc")
        let pieces = folder.appendingPathComponent("Pieces.mlmodelc")
        let checkpoint = folder.appendingPathComponent("state")

        func run(stopAfter: Int?, _ output: URL, _ checkpoint: URL?) async throws -> MLTaskState {
            try await withCheckedThrowingContinuation { continuation in
                let steps = Mutex(0)
                let handlers = MLUpdateProgressHandlers(forEvents: [.miniBatchEnd]) { context in
                    let count = steps.withLock { count in
                        count += 1
                        return count
                    }
                    if count == stopAfter { context.task.cancel() }
                } completionHandler: { context in
                    let state = context.task.state
                    continuation.resume(
                        with: Result {
                            if state == .completed { try context.model.write(to: output) }
                            return state
                        }
                    )
                }
                do {
                    let task = try MLUpdateTask(
                        forModelAt: model,
                        trainingData: try Batch(),
                        progressHandlers: handlers
                    )
                    task.checkpointURL = checkpoint
                    task.resume()
                } catch { continuation.resume(throwing: error) }
            }
        }
        #expect(try await run(stopAfter: nil, whole, nil) == .completed)
        #expect(try await run(stopAfter: 17, pieces, checkpoint) == .failed)
        #expect(FileManager.default.fileExists(atPath: checkpoint.path))
        #expect(try await run(stopAfter: 50, pieces, checkpoint) == .failed)
        #expect(try await run(stopAfter: nil, pieces, checkpoint) == .completed)
        // The task removes the file when its completion handler has returned, and tells nobody.
        while FileManager.default.fileExists(atPath: checkpoint.path) { await Task.yield() }
        #expect(try Self.weights(pieces) == Self.weights(whole))
    }

    @Test func theSchedulerRunsAnUpdateInPieces() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("background-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try Self.compiled(in: folder)
        let before = try Self.weights(model)
        let time = VirtualTime(startsAtOnce: true)
        let policy = BGTaskScheduler.Policy(environment: [:])
        let scheduler = BGTaskScheduler(policy: policy, machine: IdleMachine(), time: time)
        let turns = Mutex(0)
        let result: Result<URL, any Error> = try await withCheckedThrowingContinuation { continuation in
            let update = BackgroundUpdate(identifier: "learn", modelAt: model, writingTo: model) {
                let turn = turns.withLock { turns in
                    turns += 1
                    return turns
                }
                // In the first turns the time is up before the examples are read.
                return try Batch { if turn < 3, $0 == 5 { time.pass(policy.timeBudget) } }
            } completion: {
                continuation.resume(returning: $0)
            }
            #expect(update.register(with: scheduler))
            #expect(!update.register(with: scheduler))
            do { try update.submit(to: scheduler) } catch { continuation.resume(throwing: error) }
        }
        #expect(try result.get() == model)
        #expect(turns.withLock { $0 } == 3)
        #expect(try Self.weights(model) != before)
    }
}
