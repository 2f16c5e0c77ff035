import CreateML
import Foundation

/// A training in the background, which Python waits for, watches and cancels.
///
/// `@unchecked Sendable`: the condition guards all state.
final class Training: @unchecked Sendable {
    private let condition = NSCondition()
    private var outcome: Result<TrainedModel, any Error>?
    private var isCancelled = false
    private var cancelJob: (() -> Void)?
    private var readProgress: (() -> (reports: [MLProgress], fraction: Double))?

    /// Starts a task.
    /// - Parameter body: Trains, on a thread of its own.
    init(_ body: @escaping @Sendable (Training) throws -> TrainedModel) {
        let thread = Thread { [self] in
            let result = Result { try body(self) }
            condition.lock()
            outcome = result
            cancelJob = nil
            condition.broadcast()
            condition.unlock()
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Waits for a job, which `cancel` ends.
    /// - Parameter job: Makes the job.
    /// - Returns: Its result.
    /// - Throws: The errors of `job` and of training.
    func result<Product>(of job: () throws -> MLJob<Product>) throws -> Product {
        let job = try job()
        let wasCancelled = locked {
            cancelJob = { job.cancel() }
            readProgress = { (job.reports, job.progress.fractionCompleted) }
            return isCancelled
        }
        if wasCancelled { job.cancel() }
        let answer = Answer<Product>()
        let done = DispatchSemaphore(value: 0)
        Task {
            do { answer.result = .success(try await job.value) } catch { answer.result = .failure(error) }
            done.signal()
        }
        done.wait()
        guard let result = answer.result else { preconditionFailure("the job ended without a result") }
        return try result.get()
    }

    /// Runs a task that has no job; it ends at its next step when it is cancelled.
    func finished<Product>(_ body: @escaping @Sendable () throws -> Product) throws -> Product {
        let answer = Answer<Product>()
        let done = DispatchSemaphore(value: 0)
        let task = Task.detached {
            answer.result = Result { try body() }
            done.signal()
        }
        let wasCancelled = locked {
            cancelJob = { task.cancel() }
            return isCancelled
        }
        if wasCancelled { task.cancel() }
        done.wait()
        guard let result = answer.result else { preconditionFailure("the task ended without a result") }
        return try result.get()
    }

    /// `@unchecked Sendable`: written before the semaphore is signalled, read after.
    private final class Answer<Product>: @unchecked Sendable {
        var result: Result<Product, any Error>?
    }

    private func locked<R>(_ body: () -> R) -> R {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    func cancel() {
        let cancelJob = locked {
            isCancelled = true
            return self.cancelJob
        }
        cancelJob?()
    }

    /// Waits until training has ended, for at most `seconds`.
    /// - Returns: Whether it has.
    func wait(_ seconds: Double) -> Bool {
        let limit = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while outcome == nil {
            guard condition.wait(until: limit) else { return outcome != nil }
        }
        return true
    }

    /// The trained model.
    /// - Precondition: Training has ended.
    func model() throws -> TrainedModel {
        guard let outcome = locked({ self.outcome }) else { preconditionFailure("training has not ended") }
        return try outcome.get()
    }

    /// Whether training ended because it was cancelled.
    var wasCancelled: Bool {
        guard case .failure(let error)? = locked({ outcome }) else { return false }
        if case MLCreateError.cancelled = error { return true }
        return error is CancellationError
    }

    struct Progress: Encodable {
        var reports: [MLProgress]
        /// The number of all reports so far.
        var count: Int
        var fraction: Double
    }

    /// The reports of the job from a number on.
    func progress(from first: Int) -> Progress {
        guard let read = locked({ readProgress }) else { return Progress(reports: [], count: 0, fraction: 0) }
        let (reports, fraction) = read()
        return Progress(reports: Array(reports.dropFirst(first)), count: reports.count, fraction: fraction)
    }
}

extension Training {
    /// The model of a session that was started earlier, trained to its end.
    /// - Throws: `TrainingError` for options that no session takes, and the errors of training.
    func resumed<Product: MLSessionTask>(_: Product.Type, _ request: TrainingRequest) throws -> Product {
        try request.options.finish()
        return try result {
            try Product.resume(try Product.restoreTrainingSession(sessionParameters: request.session))
        }
    }
}
