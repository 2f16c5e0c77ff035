import Synchronization

/// A piece of background work that has started.
///
/// The code that does the work calls `setTaskCompleted` when it is done, or soon after the expiration handler was
/// called.
///
/// `@unchecked Sendable`: the lock guards everything that changes.
open class BGTask: NSObject, @unchecked Sendable {
    /// The identifier that the work's handler was registered under.
    public let identifier: String

    /// `@unchecked Sendable`: the lock ensures that each handler is called at most once.
    private struct State: @unchecked Sendable {
        var expirationHandler: (() -> Void)?
        var hasExpired = false
        var completion: ((Bool) -> Void)?
    }

    private let state: Mutex<State>

    init(identifier: String, completion: @escaping @Sendable (Bool) -> Void) {
        self.identifier = identifier
        state = Mutex(State(completion: completion))
    }

    /// Called when the time for the work has run out.
    ///
    /// Without a handler the task then ends without success.
    public var expirationHandler: (() -> Void)? {
        get { state.withLock { $0 }.expirationHandler }
        set {
            // Apple's declaration does not mark it as sendable; it is called at most once.
            nonisolated(unsafe) let handler = newValue
            state.withLock { $0.expirationHandler = handler }
        }
    }

    /// Ends the task; only the first call has an effect.
    ///
    /// - Parameter success: Whether the work was done.
    open func setTaskCompleted(success: Bool) {
        let before = state.withLock { state in
            defer { state = State(hasExpired: state.hasExpired) }
            return state
        }
        before.completion?(success)
    }

    /// Whether the task has not ended.
    var isRunning: Bool { state.withLock { $0.completion != nil } }

    /// Calls the expiration handler, once; without one the task ends.
    func expire() {
        let before = state.withLock { state in
            defer { state.hasExpired = true }
            return state
        }
        guard before.completion != nil, !before.hasExpired else { return }
        if let handler = before.expirationHandler { handler() } else { setTaskCompleted(success: false) }
    }

    /// The kind of task and its identifier.
    open override var description: String { "\(Swift.type(of: self)) \(identifier)" }
}

/// A task of at most 30 seconds that refreshes an app's content.
///
/// `@unchecked Sendable`: it adds nothing to `BGTask`.
open class BGAppRefreshTask: BGTask, @unchecked Sendable {}

/// A task of several minutes; `BGTaskScheduler.Policy.timeBudget` limits its time.
///
/// `@unchecked Sendable`: it adds nothing to `BGTask`.
open class BGProcessingTask: BGTask, @unchecked Sendable {}
