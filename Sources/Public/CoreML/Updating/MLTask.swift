import Synchronization

/// The state of a task.
public enum MLTaskState: Int, Hashable, Sendable {
    /// Not started yet.
    case suspended = 1
    /// Started and not ended.
    case running = 2
    /// Cancelled, but still running.
    case cancelling = 3
    /// Ended with success.
    case completed = 4
    /// Ended with an error.
    case failed = 5
}

/// Work on a model that runs in the background.
///
/// A task starts out suspended. `resume` starts it, and it ends completed or failed; `cancel` makes it fail at the next
/// opportunity. A task that has ended cannot be started again.
///
/// `@unchecked Sendable`: the lock guards everything that changes.
open class MLTask: NSObject, @unchecked Sendable {
    /// An identifier that is unique to the task.
    public let taskIdentifier = UUID().uuidString
    private let progress = Mutex<(state: MLTaskState, error: (any Error)?)>((.suspended, nil))

    /// The current state.
    public var state: MLTaskState { progress.withLock { $0.state } }
    /// The error that the task failed with; `nil` otherwise.
    public var error: (any Error)? { progress.withLock { $0.error } }

    override init() {}

    /// Identifier and state, with the error of a task that failed.
    open override var description: String {
        let (state, error) = progress.withLock { $0 }
        let reason = error.map { ": \($0.localizedDescription)" } ?? ""
        return "\(Swift.type(of: self)) \(taskIdentifier) (\(state)\(reason))"
    }

    /// Starts the work; has no effect on a task that was started before.
    open func resume() { _ = start() }

    /// Cancels the work; has no effect on a task that has ended.
    open func cancel() { _ = stop() }

    /// Moves the task from suspended to running; returns false when it was in another state.
    final func start() -> Bool {
        progress.withLock { progress in
            guard progress.state == .suspended else { return false }
            progress.state = .running
            return true
        }
    }

    /// Moves the task to cancelling and returns the previous state.
    final func stop() -> MLTaskState {
        progress.withLock { progress in
            let before = progress.state
            if before == .suspended || before == .running { progress.state = .cancelling }
            return before
        }
    }

    /// Moves the task to completed, or to failed when there is an error.
    final func end(_ error: (any Error)?) {
        progress.withLock { $0 = (error == nil ? .completed : .failed, error) }
    }
}
