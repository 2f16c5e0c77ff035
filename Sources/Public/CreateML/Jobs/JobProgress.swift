public import Combine
public import Foundation

/// The progress of a job, which any thread may read while the job changes it.
///
/// `@unchecked Sendable`: the lock guards what this class overrides. `fractionCompleted`, which cannot be overridden, computes
/// with numbers alone: read during a report it may be that of counts half changed.
final class JobProgress: Progress, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    private let subject = PassthroughSubject<Void, Never>()
    private var wasCancelled = false
    private var history: [MLProgress] = []

    init(total: Int) {
        super.init(parent: nil, userInfo: nil)
        isCancellable = true
        totalUnitCount = Int64(total)
    }

    override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set { lock.withLock { super.totalUnitCount = newValue } }
    }

    override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = newValue } }
    }

    override var userInfo: [ProgressUserInfoKey: Any] { lock.withLock { super.userInfo } }

    override func setUserInfoObject(_ objectOrNil: Any?, forKey key: ProgressUserInfoKey) {
        lock.withLock { super.setUserInfoObject(objectOrNil, forKey: key) }
    }

    override var isCancelled: Bool {
        get { lock.withLock { wasCancelled } }
        set { lock.withLock { wasCancelled = newValue } }
    }

    override var isFinished: Bool { lock.withLock { super.isFinished } }
    override var isIndeterminate: Bool { lock.withLock { super.isIndeterminate } }

    /// All reports in their order.
    var reports: [MLProgress] { lock.withLock { history } }

    /// Publishes after every report.
    var changes: AnyPublisher<Void, Never> { subject.eraseToAnyPublisher() }

    func report(_ progress: MLProgress, completed: Int, total: Int) {
        lock.withLock {
            history.append(progress)
            setUserInfoObject(progress.phase, forKey: MLProgress.phaseKey)
            setUserInfoObject(progress.elapsedTime, forKey: MLProgress.elapsedTimeKey)
            setUserInfoObject(progress.itemCount, forKey: MLProgress.itemCountKey)
            setUserInfoObject(progress.totalItemCount, forKey: MLProgress.totalItemCountKey)
            for (metric, value) in progress.metrics { setUserInfoObject(value, forKey: metric.progressKey) }
            if totalUnitCount != Int64(total) { totalUnitCount = Int64(total) }
            completedUnitCount = Int64(completed)
        }
        subject.send(())
    }
}

extension Progress {
    /// Publishes a property's current value and its value after every change.
    ///
    /// Apple's Foundation uses key-value observation, which does not exist on Linux. The progress of an `MLJob`
    /// publishes its changes, on the thread that trains; any other is polled ten times a second, on a queue of its own,
    /// until it is finished or cancelled.
    /// - Parameter keyPath: The property of the progress.
    /// - Returns: A publisher that never fails.
    public func publisher<Value>(for keyPath: KeyPath<Progress, Value>) -> AnyPublisher<Value, Never> {
        guard let job = self as? JobProgress else {
            let progress = self
            let queue = DispatchQueue(label: "Progress.publisher")
            return Just(())
                .append(
                    Timers(every: 0.1, on: queue)
                        .prefix { !progress.isFinished && !progress.isCancelled }
                        .append(Just(()))
                )
                .map { progress[keyPath: keyPath] }
                .eraseToAnyPublisher()
        }
        return Deferred { Just(()).append(job.changes) }.map { job[keyPath: keyPath] }.eraseToAnyPublisher()
    }
}

/// The ticks of a dispatch timer, for as long as there is a subscriber.
private struct Timers: Publisher {
    typealias Output = Void
    typealias Failure = Never

    let interval: Double
    let queue: DispatchQueue

    init(every interval: Double, on queue: DispatchQueue) {
        self.interval = interval
        self.queue = queue
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
        let subject = PassthroughSubject<Void, Never>()
        let timer = DispatchSource.makeTimerSource(queue: queue)
        // The subject locks its state, and the timer alone sends.
        nonisolated(unsafe) let target = subject
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { target.send(()) }
        subject.handleEvents(receiveCancel: { timer.cancel() }).receive(subscriber: subscriber)
        timer.resume()
    }
}
