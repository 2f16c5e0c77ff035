package import Foundation
import Synchronization

/// The limits of a batch and of the queue.
package struct BatchOptions: Sendable {
    /// The most examples of a batch; 1 for none.
    package var maximumBatchSize = 8
    /// The longest time that an example waits for others; those that wait anyway are gathered with 0, too.
    package var delay = Duration.zero
    /// Whether examples are stacked only where that was faster when the model was loaded; otherwise wherever possible.
    package var stacksWhenFaster = true
    /// The most requests that wait for a model; others are refused.
    package var maximumQueueLength = 256

    package init() {}
}

/// The clock by which examples wait for others.
package protocol PredictionClock: Sendable {
    var now: ContinuousClock.Instant { get }

    /// Waits, on a thread of the pool, until a locked condition is signalled or a time has come.
    func wait(for condition: NSCondition, until time: ContinuousClock.Instant)
}

/// The clock of the machine.
package struct MachineClock: PredictionClock {
    package init() {}

    package var now: ContinuousClock.Instant { .now }

    package func wait(for condition: NSCondition, until time: ContinuousClock.Instant) {
        _ = condition.wait(until: Date(timeIntervalSinceNow: max(0, (time - now) / .seconds(1))))
    }
}

/// An example that waits for its prediction.
///
/// `@unchecked Sendable`, unchecked: only `isCancelled` changes, under its own lock.
final class Job: @unchecked Sendable {
    let example: Example
    /// The number of rows along the first axis, for models whose examples are stacked.
    let rows: Int
    let arrived: ContinuousClock.Instant
    fileprivate let cancelled = Atomic(false)
    fileprivate var continuation: CheckedContinuation<Answer, any Error>?

    init(_ example: Example, rows: Int, arrived: ContinuousClock.Instant) {
        self.example = example
        self.rows = rows
        self.arrived = arrived
    }

    func cancel() { cancelled.store(true, ordering: .relaxed) }
}

/// The outputs of an example, and how they came about.
struct Answer: Sendable {
    let outputs: Outputs
    let waited: Duration
    let computed: Duration
    /// The number of examples that were predicted with it, itself included.
    let batch: Int
}

/// The examples that wait for one model.
///
/// `@unchecked Sendable`, unchecked: the pool's lock protects it.
package final class PredictionQueue: @unchecked Sendable {
    package let predictor: Predictor
    let options: BatchOptions
    let maximumRowCount: Int
    fileprivate var jobs: [Job] = []

    init(_ predictor: Predictor, maximumRowCount: Int, options: BatchOptions) {
        self.predictor = predictor
        self.maximumRowCount = min(maximumRowCount, options.maximumBatchSize)
        self.options = options
    }

    private var gathers: Bool { predictor.form != .single && options.maximumBatchSize > 1 }

    /// The time at which the first job is due; it is in the past when a batch is complete.
    fileprivate var due: ContinuousClock.Instant? {
        guard let first = jobs.first else { return nil }
        let isComplete = !gathers || jobs.reduce(0) { $0 + $1.rows } >= maximumRowCount
        return isComplete ? first.arrived : first.arrived + options.delay
    }

    /// Removes the next jobs that are predicted together.
    fileprivate func take() -> [Job] {
        jobs.removeAll { job in
            guard job.cancelled.load(ordering: .relaxed) else { return false }
            job.continuation?.resume(throwing: CancellationError())
            return true
        }
        guard !jobs.isEmpty else { return [] }
        guard gathers else { return [jobs.removeFirst()] }
        var (rows, count) = (0, 0)
        while count < jobs.count, count == 0 || rows + jobs[count].rows <= maximumRowCount {
            rows += jobs[count].rows
            count += 1
        }
        if predictor.form == .stacked, rows == count {
            // Each number of rows is a shape for which the model is prepared anew: few numbers suffice.
            count = 1 << (Int.bitWidth - 1 - count.leadingZeroBitCount)
        }
        let used = Array(jobs[..<count])
        jobs.removeFirst(count)
        return used
    }
}

/// Threads that predict the examples of all models, the oldest first.
///
/// Predictions take long and never run on the threads of connections.
/// `@unchecked Sendable`, unchecked: `condition` protects everything that changes.
package final class PredictionPool: @unchecked Sendable {
    /// The number of threads.
    package let workerCount: Int
    let clock: any PredictionClock
    private let condition = NSCondition()
    private var queues: [PredictionQueue] = []
    private var isStopped = false

    /// Creates a pool of threads.
    ///
    /// - Parameters:
    ///   - workers: the number of predictions that run at the same time.
    ///   - clock: the clock by which examples wait for others.
    package init(workers: Int, clock: any PredictionClock = MachineClock()) {
        (workerCount, self.clock) = (workers, clock)
        for index in 0..<workers {
            let thread = Thread { [self] in work() }
            thread.name = "predict-\(index)"
            thread.start()
        }
    }

    /// Ends the threads once nothing waits.
    package func stop() {
        condition.lock()
        isStopped = true
        condition.broadcast()
        condition.unlock()
    }

    /// The number of examples that wait for a model.
    func waiting(_ queue: PredictionQueue) -> Int {
        condition.lock()
        defer { condition.unlock() }
        return queue.jobs.count
    }

    /// Predicts an example.
    ///
    /// - Throws: `ServingError` when too many wait, or the model's error.
    func predict(_ job: Job, _ queue: PredictionQueue) async throws -> Answer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let refusal = add(job, queue, continuation) { continuation.resume(throwing: refusal) }
            }
        } onCancel: {
            job.cancel()
        }
    }

    private func add(
        _ job: Job,
        _ queue: PredictionQueue,
        _ continuation: CheckedContinuation<Answer, any Error>
    ) -> ServingError? {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopped else { return .busy("The server is shutting down.") }
        guard queue.jobs.count < queue.options.maximumQueueLength else {
            return .busy("\(queue.jobs.count) requests wait for the model: try again later.")
        }
        job.continuation = continuation
        queue.jobs.append(job)
        if queue.jobs.count == 1 { queues.append(queue) }
        condition.signal()
        return nil
    }

    private func work() {
        while let (queue, jobs) = next() {
            let start = clock.now
            let results = queue.predictor.predict(jobs.map(\.example))
            let computed = clock.now - start
            for (job, result) in zip(jobs, results) {
                let answer = result.map { outputs in
                    Answer(outputs: outputs, waited: start - job.arrived, computed: computed, batch: jobs.count)
                }
                job.continuation?.resume(with: answer)
                job.continuation = nil
            }
        }
    }

    /// Waits for the next jobs; `nil` when the pool has stopped.
    private func next() -> (PredictionQueue, [Job])? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            let now = clock.now
            var earliest: ContinuousClock.Instant?
            var oldest: PredictionQueue?
            for queue in queues {
                guard let due = queue.due else { continue }
                if due <= now || isStopped, oldest.map({ queue.jobs[0].arrived < $0.jobs[0].arrived }) ?? true {
                    oldest = queue
                }
                earliest = min(earliest ?? due, due)
            }
            if let oldest {
                let jobs = oldest.take()
                if oldest.jobs.isEmpty { queues.removeAll { $0 === oldest } }
                // The remaining examples may be for another thread.
                if !queues.isEmpty { condition.signal() }
                if !jobs.isEmpty { return (oldest, jobs) }
                continue
            }
            if let earliest {
                clock.wait(for: condition, until: earliest)
            } else if isStopped {
                return nil
            } else {
                condition.wait()
            }
        }
    }
}
