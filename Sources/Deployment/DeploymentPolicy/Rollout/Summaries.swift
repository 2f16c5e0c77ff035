/// How far devices have come with a release, by anonymous counts.  Each stage counts devices that reached it.
public struct AdoptionFunnel: Sendable, Hashable {
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// The policy named the release.
        case offered
        case downloaded
        /// Hashes and signatures were right, and the keys of encrypted models are there.
        case verified
        /// It became the current generation at a launch.
        case activated
        /// All its models were loaded, and answered as the release says.
        case loaded
    }

    public private(set) var counts: [Stage: Int] = [:]

    public init() {}

    public mutating func add(_ count: Int = 1, at stage: Stage) {
        counts[stage, default: 0] = min(counts[stage, default: 0] + min(max(0, count), Limits.integer), Limits.integer)
    }

    public func count(_ stage: Stage) -> Int { counts[stage, default: 0] }

    /// The share of a stage's devices that came to the next one; `nil` where there were none, and behind the last stage.
    public func passage(from stage: Stage) -> Double? {
        let stages = Stage.allCases
        guard let index = stages.firstIndex(of: stage), index + 1 < stages.count, count(stage) > 0 else { return nil }
        return min(1, Double(count(stages[index + 1])) / Double(count(stage)))
    }
}

/// How many devices run what.
public struct AdoptionSummary: Sendable, Hashable {
    public private(set) var devices: [Outcome: Int] = [:]

    public init() {}

    public mutating func add(_ count: Int = 1, running outcome: Outcome) {
        devices[outcome, default: 0] = min(
            devices[outcome, default: 0] + min(max(0, count), Limits.integer),
            Limits.integer
        )
    }

    public var total: Int { devices.values.reduce(0) { min($0 + $1, Limits.integer) } }

    /// The share of devices that run something, 0 to 1.
    public func share(of outcome: Outcome) -> Double {
        total == 0 ? 0 : Double(devices[outcome, default: 0]) / Double(total)
    }
}

/// How often a release failed on devices, and why.
public struct FailureSummary: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case download, verification, selfTest, slow, activation, load, prediction, crash, keyRelease, other
    }

    public private(set) var reports = 0
    public private(set) var failures: [Reason: Int] = [:]

    public init() {}

    /// Counts reports of success.
    public mutating func addSuccesses(_ count: Int = 1) {
        reports = min(reports + min(max(0, count), Limits.integer), Limits.integer)
    }

    /// Counts reports of failure, which are reports, too.
    public mutating func addFailures(_ count: Int = 1, _ reason: Reason) {
        addSuccesses(count)
        failures[reason, default: 0] = min(
            failures[reason, default: 0] + min(max(0, count), Limits.integer),
            Limits.integer
        )
    }

    public var failureCount: Int { failures.values.reduce(0) { min($0 + $1, Limits.integer) } }

    /// The share of reports that are failures, for one reason or all; `nil` without reports.
    public func rate(_ reason: Reason? = nil) -> Double? {
        reports == 0 ? nil : Double(reason.map { failures[$0, default: 0] } ?? failureCount) / Double(reports)
    }

    /// Wilson's interval of that rate.
    public func interval(_ reason: Reason? = nil, confidence: Double = 0.95) -> RateInterval {
        .wilson(reason.map { failures[$0, default: 0] } ?? failureCount, of: reports, confidence: confidence)
    }
}
