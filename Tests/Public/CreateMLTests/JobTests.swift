import Combine
import CreateML
import Foundation
import Synchronization
import Testing

@Suite struct JobTests {
    func session(_ run: CountingRun, _ parameters: MLTrainingSessionParameters = .init()) throws
        -> MLTrainingSession<Counted>
    {
        try MLTrainingSession(run, parameters)
    }

    static func whole(_ seed: UInt64, _ limit: Int = 20, extraction: Int = 0) throws -> Counted {
        var run = CountingRun(seed: seed, limit: limit, extraction: extraction)
        return try run.run()
    }

    @Test func `A job gives what training on this thread gives`() async throws {
        let value = try await session(CountingRun(seed: 3)).resume().value
        #expect(value == (try Self.whole(3)))
        #expect(value.steps == 20)
    }

    @Test func `Subscribers who come late get the result and every checkpoint`() async throws {
        let folder = try TemporaryFolder()
        let parameters = MLTrainingSessionParameters(sessionDirectory: folder.file("s"), checkpointInterval: 3)
        let job = try session(CountingRun(seed: 3), parameters).resume()
        _ = try await job.value
        var subscriptions = Set<AnyCancellable>()
        let iterations = Mutex<[Int]>([])
        job.checkpoints.compactMap { $0.phase == .training ? $0 : nil }.map(\.iteration)
            .sink { iteration in iterations.withLock { $0.append(iteration) } }
            .store(in: &subscriptions)
        #expect(iterations.withLock { $0 } == [3, 6, 9, 12, 15, 18, 20])
        let received = Mutex<[String]>([])
        job.result.sink(
            receiveCompletion: { completion in received.withLock { $0.append("\(completion)") } },
            receiveValue: { value in received.withLock { $0.append("\(value.steps)") } }
        ).store(in: &subscriptions)
        #expect(received.withLock { $0 } == ["20", "finished"])
    }

    @Test func `Subscribers ask for as many checkpoints as they want`() throws {
        let history = HistorySubjectProbe()
        #expect(try history.run() == [[1, 2], [1, 2, 3], [1, 2, 3, 4]])
    }

    @Test func `Progress tells phase, count, metrics and its fraction`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let run = CountingRun(seed: 3, limit: 10, extraction: 10) { step in if step == 6 { gate.wait() } }
        var parameters = MLTrainingSessionParameters()
        parameters.reportInterval = 2
        let job = try session(run, parameters).resume()
        let fractions = Mutex<[Double]>([])
        let subscription = job.progress.publisher(for: \.fractionCompleted)
            .sink { fraction in fractions.withLock { $0.append(fraction) } }
        gate.signal()
        gate.signal()
        _ = try await job.value
        let progress = try #require(MLProgress(progress: job.progress))
        #expect(progress.phase == .evaluating)
        #expect(progress.metrics[.loss] as? Double == 1.0 / 11)
        #expect(job.progress.fractionCompleted == 1)
        let seen = fractions.withLock { $0 }
        #expect(seen == seen.sorted())
        #expect(Set(seen).isSuperset(of: [0.4, 0.5, 0.6, 0.9, 1]))
        #expect(MLProgress(progress: Progress(totalUnitCount: 1)) == nil)
        subscription.cancel()
        let copy = try JSONDecoder().decode(MLProgress.self, from: JSONEncoder().encode(progress))
        #expect(copy.phase == .evaluating && copy.metrics[.loss] as? Double == 1.0 / 11)
    }

    @Test func `The progress of something else is watched until it is finished`() async throws {
        let progress = Progress(totalUnitCount: 4)
        let seen = Mutex<[Int64]>([])
        let end = DispatchSemaphore(value: 0)
        let subscription = progress.publisher(for: \.completedUnitCount).sink(
            receiveCompletion: { _ in end.signal() },
            receiveValue: { count in seen.withLock { $0.append(count) } }
        )
        progress.completedUnitCount = 4
        await offThread { end.wait() }
        #expect(seen.withLock { $0.first } == 0)
        #expect(seen.withLock { $0.last } == 4)
        subscription.cancel()
    }

    @Test(arguments: [true, false])
    func `A cancelled job fails with its own error, and the session goes on to the same product`(
        inFolder: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let parameters = MLTrainingSessionParameters(sessionDirectory: inFolder ? folder.file("s") : nil)
        let (reached, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let run = CountingRun(seed: 5) { step in
            guard step == 7 else { return }
            reached.signal()
            gate.wait()
        }
        let session = try session(run, parameters)
        let job = try session.resume()
        await offThread { reached.wait() }
        #expect(throws: MLCreateError.self) { try session.resume() }
        // Foundation calls the handler on a queue of its own.
        let handler = job.progress.cancellationHandler
        job.progress.cancellationHandler = {
            handler?()
            gate.signal()
        }
        job.progress.cancel()
        await #expect { try await job.value } throws: { if case MLCreateError.cancelled = $0 { true } else { false } }
        #expect(session.iteration == 8)
        #expect(session.checkpoints.map(\.iteration) == (inFolder ? [8] : []))
        #expect(try await session.resume().value == Self.whole(5))
    }

    /// The job has more iterations than it can do in the time of the test.
    @Test(.timeLimit(.minutes(20))) func `Cancelling the task that waits cancels the job`() async throws {
        let endless = 1_000_000_000_000
        var parameters = MLTrainingSessionParameters()
        (parameters.iterations, parameters.reportInterval, parameters.checkpointInterval) = (endless, endless, endless)
        let job = try session(CountingRun(seed: 5, limit: endless), parameters).resume()
        let waiter = Task { try await job.value }
        waiter.cancel()
        await #expect { try await waiter.value } throws: {
            if case MLCreateError.cancelled = $0 { true } else { false }
        }
    }

    @Test func `An error of a step ends the job with it`() async throws {
        struct Broken: Error {}
        let job = try session(CountingRun(seed: 5) { if $0 == 4 { throw Broken() } }).resume()
        await #expect(throws: Broken.self) { try await job.value }
    }

    private func offThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                body()
                continuation.resume()
            }
        }
    }
}

/// A subscriber that asks for two checkpoints, then for one, then for all.
private struct HistorySubjectProbe {
    final class Probe: Subscriber, @unchecked Sendable {
        typealias Input = MLCheckpoint
        typealias Failure = Never
        var subscription: (any Subscription)?
        var values: [Int] = []

        func receive(subscription: any Subscription) {
            self.subscription = subscription
            subscription.request(.max(2))
        }

        func receive(_ input: MLCheckpoint) -> Subscribers.Demand {
            values.append(input.iteration)
            return .none
        }

        func receive(completion: Subscribers.Completion<Never>) {}
    }

    func run() throws -> [[Int]] {
        let folder = try TemporaryFolder()
        let parameters = MLTrainingSessionParameters(sessionDirectory: folder.file("s"), checkpointInterval: 1)
        let job = try MLTrainingSession(CountingRun(seed: 1, limit: 4), parameters).resume()
        let end = DispatchSemaphore(value: 0)
        let subscription = job.result.sink(receiveCompletion: { _ in end.signal() }, receiveValue: { _ in })
        end.wait()
        subscription.cancel()
        let probe = Probe()
        job.checkpoints.subscribe(probe)
        var seen = [probe.values]
        probe.subscription?.request(.max(1))
        seen.append(probe.values)
        probe.subscription?.request(.unlimited)
        seen.append(probe.values)
        return seen
    }
}
