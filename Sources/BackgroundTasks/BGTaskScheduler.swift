import Synchronization

/// Begins an app's background work when the machine has time for it.
///
/// On Linux the work runs within the process that asked for it, so the process has to live until then; `coreml update`
/// and a systemd timer serve those that do not.  `policy` says when the machine counts as idle and how long work may
/// take.
open class BGTaskScheduler: NSObject, @unchecked Sendable {
    public class var shared: BGTaskScheduler { sharedScheduler }
    private static let sharedScheduler = BGTaskScheduler(policy: Policy(), machine: LinuxMachine(), time: SystemTime())
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

    /// When work begins and how long it may take; changes count from the next look at the machine on.
    public var policy: Policy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// Says what to do for the requests of a name, before the first of them is submitted.
    /// - Parameter queue: where the handler is called; `nil` for a queue in the background.
    /// - Returns: false when the name is empty or has a handler already.
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

    /// Asks for work to be begun; a waiting request of the same name is replaced.
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

    /// Takes a waiting request back; work that was begun goes on.
    open func cancel(taskRequestWithIdentifier identifier: String) {
        state.withLock { $0.pending.removeAll { $0.request.identifier == identifier } }
    }

    open func cancelAllTaskRequests() { state.withLock { $0.pending = [] } }

    open func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void) {
        nonisolated(unsafe) let handler = completionHandler
        let requests = waiting
        queue.async { handler(requests) }
    }

    open func pendingTaskRequests() async -> [BGTaskRequest] { waiting }

    private var waiting: [BGTaskRequest] { state.withLock { $0.pending.map { $0.request.duplicate() } } }

    // MARK: - On the queue

    /// Begins what may begin now, and comes back while anything waits.
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
                // One piece of long work at a time.
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
            // Work that does not heed the handler no longer counts as running.
            time.after(grace, on: queue) { [weak task] in task?.setTaskCompleted(success: false) }
        }
        registration.queue.async { registration.handler(task) }
    }

    private func hasEnded(_ identifier: String) {
        state.withLock { _ = $0.running.removeValue(forKey: identifier) }
    }
}

extension BGTaskScheduler {
    /// What can go wrong with a request.
    public struct Error: _BridgedStoredNSError, Sendable {
        public let _nsError: NSError
        public init(_nsError error: NSError) { _nsError = error }
        public static var _nsErrorDomain: String { BGTaskScheduler.errorDomain }
        public static var errorDomain: String { BGTaskScheduler.errorDomain }
        public func hash(into hasher: inout Hasher) { hasher.combine(_nsError) }

        public enum Code: Int, _ErrorCodeProtocol, Sendable {
            public typealias _ErrorType = BGTaskScheduler.Error

            case unavailable = 1
            case tooManyPendingTaskRequests = 2
            case notPermitted = 3
            case immediateRunIneligible = 4
        }

        public static var unavailable: Code { .unavailable }
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        public static var notPermitted: Code { .notPermitted }
        public static var immediateRunIneligible: Code { .immediateRunIneligible }
    }
}
