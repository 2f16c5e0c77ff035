import CreateML
import Foundation
import Testing

@Suite struct SessionTests {
    func parameters(_ folder: TemporaryFolder, every interval: Int = 3, iterations: Int = 1000)
        -> MLTrainingSessionParameters
    {
        MLTrainingSessionParameters(
            sessionDirectory: folder.file("session"),
            checkpointInterval: interval,
            iterations: iterations
        )
    }

    @Test(arguments: [0, 4])
    func `A session that is restored goes on to the same product`(extraction: Int) async throws {
        let folder = try TemporaryFolder()
        let run = CountingRun(seed: 9, extraction: extraction)
        _ = try await MLTrainingSession(run, parameters(folder, iterations: 7)).resume().value
        let restored = try MLTrainingSession(restoring: CountingRun.self, parameters(folder))
        #expect(restored.phase == .training && restored.iteration == 7)
        #expect(try await restored.resume().value == JobTests.whole(9, extraction: extraction))
        let again = try MLTrainingSession(restoring: CountingRun.self, parameters(folder))
        #expect(again.iteration == 20)
        #expect(try await again.resume().value == JobTests.whole(9, extraction: extraction))
    }

    @Test func `A session in the folder of another continues it, also to a higher limit`() async throws {
        let folder = try TemporaryFolder()
        _ = try await MLTrainingSession(CountingRun(seed: 9, limit: 5), parameters(folder)).resume().value
        let session = try MLTrainingSession(CountingRun(seed: 9, limit: 12), parameters(folder))
        #expect(session.iteration == 5)
        #expect(try await session.resume().value == JobTests.whole(9, 12))
        let restored = try MLTrainingSession(restoring: CountingRun.self, parameters(folder))
        #expect(try await restored.resume().value == JobTests.whole(9, 12))
    }

    @Test func `Other data and other parameters are noticed`() async throws {
        let folder = try TemporaryFolder()
        _ = try await MLTrainingSession(CountingRun(seed: 9), parameters(folder)).resume().value
        #expect {
            try MLTrainingSession(CountingRun(seed: 10), parameters(folder))
        } throws: {
            if case MLCreateError.modifiedTrainingData = $0 { true } else { false }
        }
        #expect {
            try MLTrainingSession(CountingRun(seed: 9, extraction: 3), parameters(folder))
        } throws: {
            guard case MLCreateError.incompatibleParameters("extraction", "0", "3") = $0 else { return false }
            return "\($0)".contains("extraction = 0, not 3")
        }
    }

    @Test func `A session that was begun and left before its first checkpoint is restored`() async throws {
        for extraction in [0, 4] {
            let folder = try TemporaryFolder()
            _ = try MLTrainingSession(CountingRun(seed: 9, extraction: extraction), parameters(folder))
            let restored = try MLTrainingSession(restoring: CountingRun.self, parameters(folder))
            #expect(restored.phase == .initialized && restored.checkpoints.isEmpty)
            #expect(try await restored.resume().value == JobTests.whole(9, extraction: extraction))
            try restored.removeCheckpoints { _ in true }
            #expect(try await restored.resume().value == JobTests.whole(9, extraction: extraction))
        }
    }

    @Test func `Training does not continue from removed checkpoints`() async throws {
        let folder = try TemporaryFolder()
        let session = try MLTrainingSession(CountingRun(seed: 9), parameters(folder, every: 5))
        _ = try await session.resume().value
        #expect(session.checkpoints.map(\.iteration) == [5, 10, 15, 20])
        try session.removeCheckpoints { $0.iteration > 10 }
        #expect(session.iteration == 10)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("session/checkpoints").path).count == 2)
        #expect(try await session.resume().value == JobTests.whole(9))
        try session.removeCheckpoints { _ in true }
        #expect(session.phase == .initialized)
        #expect(try await session.resume().value == JobTests.whole(9))
    }

    @Test func `A checkpoint makes a product, and passes through JSON`() async throws {
        let folder = try TemporaryFolder()
        let session = try MLTrainingSession(CountingRun(seed: 9), parameters(folder, every: 5))
        _ = try await session.resume().value
        let checkpoint = try JSONDecoder().decode(
            MLCheckpoint.self,
            from: JSONEncoder().encode(try #require(session.checkpoints.first))
        )
        #expect(checkpoint.metrics[.loss] as? Double == 1.0 / 6)
        #expect(try MLTrainingSession.product(of: checkpoint, CountingRun.self) == JobTests.whole(9, 5))
    }

    @Test func `Features of another session are reused`() async throws {
        let folder = try TemporaryFolder()
        let first = try MLTrainingSession(CountingRun(seed: 9, extraction: 6), parameters(folder))
        _ = try await first.resume().value
        let steps = Steps()
        let run = CountingRun(seed: 9, extraction: 6) { _ in steps.add() }
        let other = MLTrainingSessionParameters(sessionDirectory: folder.file("other"))
        let second = try MLTrainingSession(run, other)
        try second.reuseExtractedFeatures(from: first)
        #expect(second.phase == .training && second.iteration == 0)
        #expect(try await second.resume().value == JobTests.whole(9, extraction: 6))
        #expect(steps.count == 20, "those of training alone")
    }

    @Test func `Nothing in a folder, or something else, is an error`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: MLCreateError.self) { try MLTrainingSession(restoring: CountingRun.self, parameters(folder)) }
        #expect(throws: MLCreateError.self) { try MLTrainingSession(restoring: CountingRun.self, .init()) }
        #expect(throws: MLCreateError.self) {
            try MLTrainingSession(CountingRun(seed: 1), MLTrainingSessionParameters(iterations: 0))
        }
        try FileManager.default.createDirectory(at: folder.file("session"), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: folder.file("session/session.json"))
        #expect(throws: MLCreateError.self) { try MLTrainingSession(restoring: CountingRun.self, parameters(folder)) }
    }

    /// Every byte of a checkpoint changed, and every length of it: an error or the same product, never a trap.
    @Test func `Damaged checkpoints are refused`() async throws {
        let folder = try TemporaryFolder()
        let session = try MLTrainingSession(CountingRun(seed: 9), parameters(folder, every: 20))
        let product = try await session.resume().value
        let file = try #require(session.checkpoints.last).url
        let bytes = try Data(contentsOf: file)
        var refused = 0
        func tryOut(_ changed: Data) throws {
            try changed.write(to: file)
            do {
                let restored = try MLTrainingSession(restoring: CountingRun.self, parameters(folder))
                let checkpoint = try #require(restored.checkpoints.last)
                #expect(try MLTrainingSession.product(of: checkpoint, CountingRun.self) == product)
            } catch is MLCreateError {
                refused += 1
            }
        }
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0x5A
            try tryOut(changed)
        }
        for count in 0..<bytes.count { try tryOut(bytes.prefix(count)) }
        // The date, the metrics and blanks may be other ones.
        #expect(refused > bytes.count * 3 / 2)
    }

    @Test func `What a dying process left behind is cleared away`() async throws {
        let folder = try TemporaryFolder()
        _ = try await MLTrainingSession(CountingRun(seed: 9, limit: 5), parameters(folder)).resume().value
        let rest = folder.file("session/checkpoints/.unfinished-1-2")
        try Data("half".utf8).write(to: rest)
        let restored = try MLTrainingSession(restoring: CountingRun.self, parameters(folder))
        #expect(restored.iteration == 5)
        #expect(!FileManager.default.fileExists(atPath: rest.path))
    }
}

import Synchronization

private final class Steps: Sendable {
    private let number = Atomic(0)
    var count: Int { number.load(ordering: .relaxed) }
    func add() { number.add(1, ordering: .relaxed) }
}
