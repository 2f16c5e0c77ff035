public import Combine
public import Foundation

/// A training that runs in the background.
///
/// Late subscribers also get the result and all checkpoints. The job continues when nobody holds a reference to it.
///
/// `@unchecked Sendable`: mutable state is guarded by a lock or belongs to the publishers.
public final class MLJob<Result>: Cancellable, @unchecked Sendable {
    /// The job's progress; cancelling it cancels the job, and `MLProgress(progress:)` reads its details.
    public let progress: Progress
    /// The time at which the job was started.
    public let startDate = Date()

    private let reported: JobProgress
    private let lock = NSLock()
    private let cancellation = JobCancellation()
    private let phases = CurrentValueSubject<MLPhase, Never>(.initialized)
    private let saved = HistorySubject<MLCheckpoint>()
    private let future: Future<Result, any Error>
    private let promise: (Swift.Result<Result, any Error>) -> Void
    private var outcome: Swift.Result<Result, any Error>?
    private var waiting: [CheckedContinuation<Outcome, Never>] = []

    /// A result on its way to a waiting task.
    ///
    /// `@unchecked Sendable`: the job does not use it any more.
    private struct Outcome: @unchecked Sendable {
        let result: Swift.Result<Result, any Error>
    }

    /// Publishes the product, or the error that training ended with: `MLCreateError.cancelled` after `cancel()`.
    public var result: AnyPublisher<Result, any Error> { future.eraseToAnyPublisher() }

    /// Publishes every checkpoint that this job saves; none without a session directory.
    public var checkpoints: AnyPublisher<MLCheckpoint, Never> { saved.eraseToAnyPublisher() }

    /// Publishes the current phase and every later one.
    public var phase: AnyPublisher<MLPhase, Never> { phases.eraseToAnyPublisher() }

    /// All reports of the job's progress so far, from its start.
    package var reports: [MLProgress] { reported.reports }

    /// Whether the job was cancelled.
    public var isCanceled: Bool { cancellation.isCancelled }

    /// Cancels the job after its current iteration, which is saved if there is a session directory.
    public func cancel() { cancellation.cancel() }

    /// The product, awaited; an addition to Apple's API.
    ///
    /// Cancelling the awaiting task cancels the job. Throws the error that training ended with.
    public var value: Result {
        get async throws {
            let outcome: Outcome = await withTaskCancellationHandler {
                await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                    let finished: Swift.Result<Result, any Error>? = lock.withLock {
                        if self.outcome == nil { waiting.append(continuation) }
                        return self.outcome
                    }
                    if let finished { continuation.resume(returning: Outcome(result: finished)) }
                }
            } onCancel: {
                cancel()
            }
            return try outcome.result.get()
        }
    }

    /// Takes the run of a session and trains it on a queue of its own.
    init(_ session: MLTrainingSession<Result>) throws {
        let run = try session.take()
        let plan = Plan(run, session.parameters.iterations)
        let progress = JobProgress(total: plan.total)
        self.progress = progress
        reported = progress
        var fulfil: ((Swift.Result<Result, any Error>) -> Void)?
        future = Future { fulfil = $0 }
        promise = fulfil ?? { _ in }
        progress.cancellationHandler = { [cancellation] in cancellation.cancel() }
        // Taken from its session, so that the queue alone uses it.
        nonisolated(unsafe) let first = run
        DispatchQueue(label: "MLJob", qos: .userInitiated).async { [self] in
            var worker = Worker(job: self, session: session, progress: progress, plan: plan)
            let result = Swift.Result { try worker.work(first) }.mapError(MLCreateError.translated)
            finish(result)
        }
    }

    private func finish(_ result: Swift.Result<Result, any Error>) {
        let waiting = lock.withLock {
            outcome = result
            defer { self.waiting = [] }
            return self.waiting
        }
        saved.finish()
        phases.send(completion: .finished)
        promise(result)
        for continuation in waiting { continuation.resume(returning: Outcome(result: result)) }
    }

    /// The units of progress: the steps of all phases.
    private struct Plan {
        private var counts: [(phase: MLPhase, count: Int)] = []

        init(_ run: any TrainingRun<Result>, _ limit: Int) {
            for planned in run.plan { counts.append((planned.phase, run.count(of: planned.phase, limit: limit) ?? 0)) }
        }

        var total: Int { counts.reduce(0) { $0 + $1.count } }

        func count(of phase: MLPhase) -> Int? { counts.first { $0.phase == phase }?.count }

        /// The number of units before a phase.
        func start(of phase: MLPhase) -> Int { counts.prefix { $0.phase != phase }.reduce(0) { $0 + $1.count } }
    }

    /// The work on the job's queue.
    private struct Worker {
        let job: MLJob
        let session: MLTrainingSession<Result>
        let progress: JobProgress
        let plan: Plan
        var metrics: [MLProgress.Metric: Any] = [:]

        mutating func work(_ first: any TrainingRun<Result>) throws -> Result {
            var run = first
            var isSound = false
            defer { session.give(isSound ? run : nil) }
            let limit = session.parameters.iterations
            enter(run.phase, run.iteration)
            while !run.isComplete(limit: limit) {
                do {
                    try job.cancellation.check()
                    let phase = run.phase
                    metrics.merge(try run.iterate(job.cancellation) as [MLProgress.Metric: Any]) { $1 }
                    session.note(run.phase, run.iteration)
                    if run.phase != phase {
                        try save(run, hasNewData: true)
                        enter(run.phase, run.iteration)
                        continue
                    }
                } catch MLCreateError.cancelled {
                    try save(run)
                    isSound = true
                    throw MLCreateError.cancelled
                }
                let isLast = run.isComplete(limit: limit)
                if isLast || run.iteration % session.parameters.checkpointInterval == 0 {
                    try draw(run)
                    try save(run)
                }
                if isLast || run.iteration % session.parameters.reportInterval == 0 {
                    report(run.phase, run.iteration)
                }
            }
            enter(.evaluating, run.iteration)
            let product = try run.finish()
            isSound = true
            let done = max(Int(progress.completedUnitCount), 1)
            progress.report(current(.evaluating, run.iteration, nil), completed: done, total: done)
            return product
        }

        /// Writes the picture of the progress, of tasks that have one.
        private mutating func draw(_ run: any TrainingRun<Result>) throws {
            guard let picture = try run.stylizedPicture() else { return }
            metrics[.stylizedImageURL] = try session.write(picture, of: run.phase, iteration: run.iteration)
        }

        private func save(_ run: any TrainingRun<Result>, hasNewData: Bool = false) throws {
            if let checkpoint = try session.save(run, metrics: metrics, hasNewData: hasNewData) {
                job.saved.send(checkpoint)
            }
        }

        private func current(_ phase: MLPhase, _ iteration: Int, _ total: Int?) -> MLProgress {
            var result = MLProgress(phase: phase)
            result.elapsedTime = Date().timeIntervalSince(job.startDate)
            result.itemCount = iteration
            result.totalItemCount = total
            result.metrics = metrics
            return result
        }

        private func report(_ phase: MLPhase, _ iteration: Int) {
            let total = plan.count(of: phase)
            let completed =
                phase == .evaluating ? Int(progress.completedUnitCount) : plan.start(of: phase) + iteration
            progress.report(current(phase, iteration, total), completed: completed, total: plan.total)
        }

        private func enter(_ phase: MLPhase, _ iteration: Int) {
            if phase != .evaluating { session.note(phase, iteration) }
            report(phase, iteration)
            job.phases.send(phase)
        }
    }
}
