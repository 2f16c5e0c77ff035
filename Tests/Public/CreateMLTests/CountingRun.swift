import CreateML
import Foundation
import MLTrainingCore
import Synchronization

/// The result of `CountingRun`.
struct Counted: Equatable, Sendable {
    var sum: UInt64
    var steps: Int
}

/// A training that adds up numbers that follow from its seed, as a task of jobs and sessions.
struct CountingRun: TrainingRun {
    static let taskName = "Counting"

    var seed: UInt64
    var limit = 20
    /// Steps of feature extraction before training.
    var extraction = 0
    var phase: MLPhase
    var iteration = 0
    var sum: UInt64 = 0
    /// Called in every step, with its number.
    var onStep: @Sendable (Int) throws -> Void = { _ in }

    init(
        seed: UInt64,
        limit: Int = 20,
        extraction: Int = 0,
        onStep: @escaping @Sendable (Int) throws -> Void = { _ in }
    ) {
        self.seed = seed
        self.limit = limit
        self.extraction = extraction
        self.onStep = onStep
        phase = extraction > 0 ? .extractingFeatures : .training
    }

    var parameters: [SessionParameter] { [SessionParameter("extraction", extraction)] }
    var fingerprint: UInt64 { seed }
    var plan: [PlannedPhase] {
        (extraction > 0 ? [PlannedPhase(.extractingFeatures, extraction)] : []) + [PlannedPhase(.training, limit)]
    }

    mutating func iterate(_ cancellation: JobCancellation) throws -> [MLProgress.Metric: Double] {
        try onStep(iteration)
        sum = sum &* 31 &+ seed &+ UInt64(iteration)
        iteration += 1
        if phase == .extractingFeatures, iteration == extraction { (phase, iteration) = (.training, 0) }
        return [.loss: 1 / Double(iteration + 1)]
    }

    mutating func takeLimits(of other: CountingRun) { (limit, onStep) = (other.limit, other.onStep) }

    mutating func finish() throws -> Counted { Counted(sum: sum, steps: iteration) }

    func encodedData() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(seed)
        writer.write(Int64(limit))
        writer.write(Int64(extraction))
        writer.write(phase.rawValue)
        return writer.bytes
    }

    init(data: [UInt8]) throws {
        var reader = CheckpointReader(data, "the data")
        seed = try reader.readInteger()
        limit = try reader.readInt(in: 0...Int.max, "the limit")
        extraction = try reader.readInt(in: 0...Int.max, "the extraction")
        guard let phase = MLPhase(rawValue: try reader.readString()) else { throw reader.damaged("the phase") }
        self.phase = phase
        try reader.finish()
    }

    func encodedState() throws -> [UInt8] {
        var writer = CheckpointWriter()
        writer.write(sum)
        writer.write(Int64(iteration))
        return writer.bytes
    }

    mutating func restore(state: [UInt8]) throws {
        var reader = CheckpointReader(state, "the state")
        sum = try reader.readInteger()
        iteration = try reader.readInt(in: 0...Int.max, "the iteration")
        try reader.finish()
    }
}

/// A folder of a test, which is removed with it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("CreateMLTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { _ = try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
