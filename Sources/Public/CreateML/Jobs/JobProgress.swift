public import Combine
public import Foundation

/// The progress of a job: what it says may be read by any thread while the job changes it.
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

    /// Everything that was reported, in order.
    var reports: [MLProgress] { lock.withLock { history } }

    /// Whenever something was reported.
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
    /// A value of the progress now, and again whenever it was reported anew: what Apple's Foundation does by key-value
    /// observation, which there is not on Linux.
    ///
    /// The progress of an `MLJob` says when it changes; any other is looked at ten times a second until it is finished
    /// or cancelled.  Values come on the thread that trains, or on a timer's.
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

/// Ticks of a dispatch timer, for as long as somebody listens.
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
        nonisolated(unsafe) let target = subject
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { target.send(()) }
        subject.handleEvents(receiveCancel: { timer.cancel() }).receive(subscriber: subscriber)
        timer.resume()
    }
}
