/// Anonymous counts of the devices that reached each stage of adopting a release.
public struct AdoptionFunnel: Sendable, Hashable {
    /// A stage that a device passes through when it adopts a release.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// The policy named the release for the device.
        case offered
        /// All files are on the device.
        case downloaded
        /// Hashes and signatures are right, and the keys of encrypted models are there.
        case verified
        /// The release became the current one at a launch.
        case activated
        /// All models were loaded, and their self-tests passed.
        case loaded
    }

    /// The number of devices that reached each stage.
    public private(set) var counts: [Stage: Int] = [:]

    /// Creates an empty funnel.
    public init() {}

    /// Adds devices to a stage, by default one; negative numbers count as 0.
    public mutating func add(_ count: Int = 1, at stage: Stage) {
        counts[stage, default: 0] = min(counts[stage, default: 0] + min(max(0, count), Limits.integer), Limits.integer)
    }

    /// The number of devices that reached a stage.
    public func count(_ stage: Stage) -> Int { counts[stage, default: 0] }

    /// The share of a stage's devices that reached the next one, 0 to 1.
    ///
    /// `nil` where the stage has no devices, and for the last stage.
    public func passage(from stage: Stage) -> Double? {
        let stages = Stage.allCases
        guard let index = stages.firstIndex(of: stage), index + 1 < stages.count, count(stage) > 0 else { return nil }
        return min(1, Double(count(stages[index + 1])) / Double(count(stage)))
    }
}

/// Counts of devices by what they run.
public struct AdoptionSummary: Sendable, Hashable {
    /// The number of devices that run each outcome.
    public private(set) var devices: [Outcome: Int] = [:]

    /// Creates an empty summary.
    public init() {}

    /// Adds devices that run an outcome, by default one; negative numbers count as 0.
    public mutating func add(_ count: Int = 1, running outcome: Outcome) {
        devices[outcome, default: 0] = min(
            devices[outcome, default: 0] + min(max(0, count), Limits.integer),
            Limits.integer
        )
    }

    /// The number of all devices.
    public var total: Int { devices.values.reduce(0) { min($0 + $1, Limits.integer) } }

    /// The share of devices that run an outcome, 0 to 1.
    public func share(of outcome: Outcome) -> Double {
        total == 0 ? 0 : Double(devices[outcome, default: 0]) / Double(total)
    }
}

/// Counts of a release's failures on devices by their reasons.
public struct FailureSummary: Sendable, Hashable {
    /// The reason of a failure, spelled alike in reports.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The step that failed: from download and verification to the app's predictions; `slow` is a failed time
        /// limit.
        case download, verification, selfTest, slow, activation, load, prediction, crash, keyRelease, other
    }

    /// The number of reports, successes and failures.
    public private(set) var reports = 0
    /// The number of failures by reason.
    public private(set) var failures: [Reason: Int] = [:]

    /// Creates an empty summary.
    public init() {}

    /// Adds reports of success, by default one; negative numbers count as 0.
    public mutating func addSuccesses(_ count: Int = 1) {
        reports = min(reports + min(max(0, count), Limits.integer), Limits.integer)
    }

    /// Adds reports of failure, by default one, which also count as reports.
    public mutating func addFailures(_ count: Int = 1, _ reason: Reason) {
        addSuccesses(count)
        failures[reason, default: 0] = min(
            failures[reason, default: 0] + min(max(0, count), Limits.integer),
            Limits.integer
        )
    }

    /// The number of failures of all reasons.
    public var failureCount: Int { failures.values.reduce(0) { min($0 + $1, Limits.integer) } }

    /// The share of reports that are failures, for one reason or all; `nil` without reports.
    public func rate(_ reason: Reason? = nil) -> Double? {
        reports == 0 ? nil : Double(reason.map { failures[$0, default: 0] } ?? failureCount) / Double(reports)
    }

    /// Wilson's confidence interval of that rate.
    public func interval(_ reason: Reason? = nil, confidence: Double = 0.95) -> RateInterval {
        .wilson(reason.map { failures[$0, default: 0] } ?? failureCount, of: reports, confidence: confidence)
    }
}
