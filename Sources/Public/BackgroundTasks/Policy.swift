extension BGTaskScheduler {
    /// When background work begins and how long it may take.  Linux has no system that decides this, so the app, or who
    /// starts it, does; the defaults come from environment variables.
    public struct Policy: Sendable, Equatable {
        /// Seconds that processing work may take before its expiration handler is called; refreshing has 30 at most.
        /// `BACKGROUND_TASK_TIME_BUDGET`, by default 300.
        public var timeBudget: TimeInterval
        /// The machine is idle when its load of the last minute, divided by its processors, is below.
        /// `BACKGROUND_TASK_IDLE_LOAD`, by default 0.5.
        public var idleLoad: Double
        /// Seconds after which processing work begins even when the machine is not idle: from its earliest begin date,
        /// or, without one, from its submission.  `BACKGROUND_TASK_PATIENCE`, by default 3600.
        public var patience: TimeInterval
        /// Seconds between two looks at the machine.  `BACKGROUND_TASK_INTERVAL`, by default 10.
        public var interval: TimeInterval
        /// Seconds that work has to end after its expiration handler was called.  By default 10.
        public var gracePeriod: TimeInterval = 10

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
