import Synchronization

/// Background work that was begun.  Whoever does it calls `setTaskCompleted` when it is done, or soon after the
/// expiration handler was called.
open class BGTask: NSObject, @unchecked Sendable {
    /// The name under which the work was registered.
    public let identifier: String

    /// `@unchecked Sendable`: the handlers are called once each, by whoever takes them out.
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

    /// Called when the time for the work is used up.  Without one the task ends then, without success.
    public var expirationHandler: (() -> Void)? {
        get { state.withLock { $0 }.expirationHandler }
        set {
            nonisolated(unsafe) let handler = newValue
            state.withLock { $0.expirationHandler = handler }
        }
    }

    /// Ends the task; only the first call counts.
    open func setTaskCompleted(success: Bool) {
        let before = state.withLock { state in
            defer { state = State(hasExpired: state.hasExpired) }
            return state
        }
        before.completion?(success)
    }

    /// Whether the work goes on.
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

    open override var description: String { "\(Swift.type(of: self)) \(identifier)" }
}

/// Short work that keeps an app's contents fresh.
open class BGAppRefreshTask: BGTask, @unchecked Sendable {}

/// Work of minutes.
open class BGProcessingTask: BGTask, @unchecked Sendable {}
