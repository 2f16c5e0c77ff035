extension BGTaskScheduler {
    /// The conditions under which background work begins, and its time limits.
    ///
    /// Linux has no system service that decides this, so the app, or the program that starts it, does. The defaults come from
    /// environment variables, where they are set to positive numbers.
    public struct Policy: Sendable, Equatable {
        /// The seconds that processing work may take before its expiration handler is called.
        ///
        /// `BACKGROUND_TASK_TIME_BUDGET`, by default 300. Refresh work has this time too, but at most 30 seconds.
        public var timeBudget: TimeInterval
        /// The load of the last minute, divided by the number of processors, below which the machine is idle.
        ///
        /// `BACKGROUND_TASK_IDLE_LOAD`, by default 0.5.
        public var idleLoad: Double
        /// The seconds after which processing work begins even when the machine is not idle.
        ///
        /// They count from the request's earliest begin date or, without one, from its submission.
        /// `BACKGROUND_TASK_PATIENCE`, by default 3600.
        public var patience: TimeInterval
        /// The seconds between two checks of the machine.
        ///
        /// `BACKGROUND_TASK_INTERVAL`, by default 10.
        public var interval: TimeInterval
        /// The seconds that work has to end after its expiration handler was called.
        ///
        /// By default 10; a task that has not ended then is ended without success.
        public var gracePeriod: TimeInterval = 10

        /// Makes a policy from the environment variables.
        public init() { self.init(environment: ProcessInfo.processInfo.environment) }

        package init(environment: [String: String]) {
            func number(_ name: String, _ standard: Double) -> Double {
                guard let number = environment["BACKGROUND_TASK_" + name].flatMap(Double.init), number > 0 else {
                    return standard
                }
                return number
            }
            timeBudget = number("TIME_BUDGET", 300)
            idleLoad = number("IDLE_LOAD", 0.5)
            patience = number("PATIENCE", 3600)
            interval = number("INTERVAL", 10)
        }

        /// Whether work may begin.
        func allows(_ request: BGTaskRequest, since: Date, at now: Date, _ conditions: MachineConditions) -> Bool {
            let start = request.earliestBeginDate ?? since
            guard request.earliestBeginDate.map({ $0 <= now }) ?? true else { return false }
            guard let processing = request as? BGProcessingTaskRequest else { return true }
            if processing.requiresExternalPower, !conditions.hasExternalPower { return false }
            if processing.requiresNetworkConnectivity, !conditions.hasNetwork { return false }
            return conditions.load < idleLoad || now.timeIntervalSince(start) >= patience
        }
    }
}
