import Synchronization

/// Begins an app's background work when the machine has time for it.
///
/// On Linux the work runs within the process that requested it, so the process has to live until then; `coreml update`
/// and a systemd timer serve processes that do not. `policy` defines when the machine is idle and how long work may
/// take.
///
/// `@unchecked Sendable`: the lock guards everything that changes.
open class BGTaskScheduler: NSObject, @unchecked Sendable {
    /// The process's scheduler.
    public class var shared: BGTaskScheduler { sharedScheduler }
    private static let sharedScheduler = BGTaskScheduler(policy: Policy(), machine: LinuxMachine(), time: SystemTime())
    /// The domain of the scheduler's errors.
    public class var errorDomain: String { "BGTaskSchedulerErrorDomain" }

    /// `@unchecked Sendable`: the handler is called on its queue alone.
    private struct Registration: @unchecked Sendable {
        let queue: DispatchQueue
        let handler: (BGTask) -> Void
    }

    private struct Pending: Sendable {
        let request: BGTaskRequest
        let since: Date
    }

    private struct State: Sendable {
        var policy: Policy
        var registrations: [String: Registration] = [:]
        var pending: [Pending] = []
        var running: [String: BGTask] = [:]
        var isWatching = false
    }

    private let machine: any Machine
    private let time: any SchedulerTime
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "BackgroundTasks.BGTaskScheduler", qos: .utility)

    package init(policy: Policy, machine: any Machine, time: any SchedulerTime) {
        self.machine = machine
        self.time = time
        state = Mutex(State(policy: policy))
    }

    /// The conditions under which work begins, and its time limits; changes apply from the next check of the machine
    /// on.
    public var policy: Policy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// Registers the handler of an identifier, before the first request for it is submitted.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the requests.
    ///   - queue: The queue that the handler is called on; `nil` for a background queue.
    ///   - launchHandler: Called with the task each time that work begins.
    /// - Returns: False when the identifier is empty or has a handler already.
    @discardableResult
    open func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        let queue = queue ?? DispatchQueue(label: "BackgroundTasks.\(identifier)", qos: .utility)
        let registration = Registration(queue: queue, handler: launchHandler)
        return state.withLock { state in
            guard !identifier.isEmpty, state.registrations[identifier] == nil else { return false }
            state.registrations[identifier] = registration
            return true
        }
    }

    /// Requests that work be started; a waiting request with the same identifier is replaced.
    ///
    /// At most 1 refresh request and 10 processing requests can wait.
    ///
    /// - Parameter taskRequest: The request, which is copied.
    /// - Throws: `BGTaskScheduler.Error`: `notPermitted` when the identifier has no handler,
    ///   `tooManyPendingTaskRequests` when too many requests wait.
    open func submit(_ taskRequest: BGTaskRequest) throws {
        let request = taskRequest.duplicate()
        let (failure, mustWatch) = state.withLock { state -> (BGTaskScheduler.Error?, Bool) in
            guard state.registrations[request.identifier] != nil else {
                let text =
                    "No handler is registered for \"\(request.identifier)\"; call register(forTaskWithIdentifier:using:"
                    + "launchHandler:) first."
                return (BGTaskScheduler.Error(.notPermitted, userInfo: [NSLocalizedDescriptionKey: text]), false)
            }
            let others = state.pending.filter { $0.request.identifier != request.identifier }
            let isRefresh = request is BGAppRefreshTaskRequest
            let limit = isRefresh ? 1 : 10
            guard others.count(where: { ($0.request is BGAppRefreshTaskRequest) == isRefresh }) < limit else {
                let kind = isRefresh ? "refresh" : "processing"
                let text = "There are \(limit) pending \(kind) requests already; cancel one, or wait."
                return (
                    BGTaskScheduler.Error(.tooManyPendingTaskRequests, userInfo: [NSLocalizedDescriptionKey: text]),
                    false
                )
            }
            state.pending = others + [Pending(request: request, since: time.now)]
            defer { state.isWatching = true }
            return (nil, !state.isWatching)
        }
        if let failure { throw failure }
        if mustWatch { time.after(0, on: queue) { self.look() } }
    }

    /// Cancels a waiting request; work that has started continues.
    open func cancel(taskRequestWithIdentifier identifier: String) {
        state.withLock { $0.pending.removeAll { $0.request.identifier == identifier } }
    }

    /// Cancels all waiting requests; work that has started continues.
    open func cancelAllTaskRequests() { state.withLock { $0.pending = [] } }

    /// Calls a handler with copies of the waiting requests, on a background queue.
    open func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void) {
        // Called once; Apple's declaration does not mark it as sendable.
        nonisolated(unsafe) let handler = completionHandler
        let requests = waiting
        queue.async { handler(requests) }
    }

    /// Copies of the waiting requests.
    open func pendingTaskRequests() async -> [BGTaskRequest] { waiting }

    private var waiting: [BGTaskRequest] { state.withLock { $0.pending.map { $0.request.duplicate() } } }

    // MARK: - On the queue

    /// Begins the work whose conditions are met, and checks again while any request waits.
    private func look() {
        let now = time.now
        let conditions = machine.conditions
        typealias Launch = (task: BGTask, registration: Registration, budget: TimeInterval, grace: TimeInterval)
        let (launches, interval) = state.withLock { state -> ([Launch], TimeInterval?) in
            var launches: [Launch] = []
            for pending in state.pending {
                let request = pending.request
                guard let registration = state.registrations[request.identifier],
                    state.running[request.identifier] == nil,
                    state.policy.allows(request, since: pending.since, at: now, conditions)
                else { continue }
                // One processing task at a time.
                let isProcessing = request is BGProcessingTaskRequest
                if isProcessing, state.running.values.contains(where: { $0 is BGProcessingTask }) { continue }
                let identifier = request.identifier
                let completion: @Sendable (Bool) -> Void = { [self] _ in hasEnded(identifier) }
                let task =
                    isProcessing
                    ? BGProcessingTask(identifier: identifier, completion: completion)
                    : BGAppRefreshTask(identifier: identifier, completion: completion)
                state.running[identifier] = task
                state.pending.removeAll { $0.request === request }
                let budget = isProcessing ? state.policy.timeBudget : min(state.policy.timeBudget, 30)
                launches.append((task, registration, budget, state.policy.gracePeriod))
            }
            state.isWatching = !state.pending.isEmpty
            return (launches, state.isWatching ? state.policy.interval : nil)
        }
        for launch in launches { begin(launch.task, launch.registration, launch.budget, launch.grace) }
        if let interval { time.after(interval, on: queue) { self.look() } }
    }

    private func begin(
        _ task: BGTask,
        _ registration: Registration,
        _ budget: TimeInterval,
        _ grace: TimeInterval
    ) {
        let (queue, time) = (queue, time)
        time.after(budget, on: queue) { [weak task] in
            guard let task, task.isRunning else { return }
            task.expire()
            // A task that ignores the handler no longer counts as running.
            time.after(grace, on: queue) { [weak task] in task?.setTaskCompleted(success: false) }
        }
        registration.queue.async { registration.handler(task) }
    }

    private func hasEnded(_ identifier: String) {
        state.withLock { _ = $0.running.removeValue(forKey: identifier) }
    }
}

extension BGTaskScheduler {
    /// An error of submitting a request.
    public struct Error: _BridgedStoredNSError, Sendable {
        /// The error as an `NSError`.
        public let _nsError: NSError
        /// Makes an error from an `NSError` of the scheduler's domain.
        public init(_nsError error: NSError) { _nsError = error }
        /// The domain of these errors.
        public static var _nsErrorDomain: String { BGTaskScheduler.errorDomain }
        /// The domain of these errors: `BGTaskScheduler.errorDomain`.
        public static var errorDomain: String { BGTaskScheduler.errorDomain }
        /// Hashes the underlying `NSError`.
        public func hash(into hasher: inout Hasher) { hasher.combine(_nsError) }

        /// The kinds of errors.
        public enum Code: Int, _ErrorCodeProtocol, Sendable {
            /// The error type that the codes belong to.
            public typealias _ErrorType = BGTaskScheduler.Error

            /// The app cannot schedule background work; never thrown here.
            case unavailable = 1
            /// Too many requests of the kind are waiting.
            case tooManyPendingTaskRequests = 2
            /// No handler is registered for the identifier.
            case notPermitted = 3
            /// The work cannot run at once; never thrown here.
            case immediateRunIneligible = 4
        }

        /// The code of apps that cannot schedule background work; never thrown here.
        public static var unavailable: Code { .unavailable }
        /// The code of requests when too many of the kind are waiting.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// The code of requests whose identifier has no handler.
        public static var notPermitted: Code { .notPermitted }
        /// The code of work that cannot run at once; never thrown here.
        public static var immediateRunIneligible: Code { .immediateRunIneligible }
    }
}
