import Synchronization

public enum MLTaskState: Int, Hashable, Sendable {
    case suspended = 1
    case running = 2
    case cancelling = 3
    case completed = 4
    case failed = 5
}

/// Work on a model that goes on while the app does.
///
/// A task is made suspended.  `resume` lets it run, and it ends completed or failed; `cancel` lets it end as failed at
/// the next opportunity, with an error that says so.  What has ended stays so.
open class MLTask: NSObject, @unchecked Sendable {
    public let taskIdentifier = UUID().uuidString
    private let progress = Mutex<(state: MLTaskState, error: (any Error)?)>((.suspended, nil))

    public var state: MLTaskState { progress.withLock { $0.state } }
    /// Why the task failed.
    public var error: (any Error)? { progress.withLock { $0.error } }

    override init() {}

    open override var description: String {
        let (state, error) = progress.withLock { $0 }
        let reason = error.map { ": \($0.localizedDescription)" } ?? ""
        return "\(Swift.type(of: self)) \(taskIdentifier) (\(state)\(reason))"
    }

    /// Starts the work; of no effect when it was started before.
    open func resume() { _ = start() }

    /// Stops the work; of no effect when it has ended.
    open func cancel() { _ = stop() }

    /// From suspended to running; false when the task was in another state.
    final func start() -> Bool {
        progress.withLock { progress in
            guard progress.state == .suspended else { return false }
            progress.state = .running
            return true
        }
    }

    /// To cancelling; gives the state of before.
    final func stop() -> MLTaskState {
        progress.withLock { progress in
            let before = progress.state
            if before == .suspended || before == .running { progress.state = .cancelling }
            return before
        }
    }

    /// To completed, or to failed when there is an error.
    final func end(_ error: (any Error)?) {
        progress.withLock { $0 = (error == nil ? .completed : .failed, error) }
    }
}
