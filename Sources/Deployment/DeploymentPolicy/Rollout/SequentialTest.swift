import Glibc

/// Wald's sequential probability ratio test of a release's failure rate: after every report it says "bad", "good" or
/// "not yet", and needs no number of reports set beforehand.
///
/// Reports are counted, each a failure or not.  The test compares how likely the counts are at the rate that is bad with how
/// likely at the usual one, and decides when the logarithm of that ratio leaves the bounds ln(β / (1 − α)) and
/// ln((1 − β) / α) (A. Wald, "Sequential Tests of Statistical Hypotheses", 1945).
public struct SequentialTest: Sendable, Hashable {
    public let design: Design
    public private(set) var reports = 0
    public private(set) var failures = 0

    /// What a test tells apart, and how often it may be wrong.
    public struct Design: Sendable, Hashable {
        /// The failure rate that is usual.
        public var usualRate: Double
        /// The failure rate that must not go unnoticed, above the usual one.
        public var badRate: Double
        /// α: how likely a usual release is halted.
        public var falseHalt: Double
        /// β: how likely a bad release passes.
        public var miss: Double

        /// 0.5 % against 2 %; of usual releases 1 % are halted, of bad ones 5 % pass one gate.
        public init(usualRate: Double = 0.005, badRate: Double = 0.02, falseHalt: Double = 0.01, miss: Double = 0.05) {
            self.usualRate = usualRate
            self.badRate = badRate
            self.falseHalt = falseHalt
            self.miss = miss
        }

        /// Whether all are probabilities, the bad rate is above the usual one, and α and β are below one half.
        public var isSound: Bool {
            0 < usualRate && usualRate < badRate && badRate < 1 && 0 < falseHalt && falseHalt < 0.5 && 0 < miss
                && miss < 0.5
        }

        /// The same with another α.
        func spending(_ falseHalt: Double) -> Design {
            Design(usualRate: usualRate, badRate: badRate, falseHalt: falseHalt, miss: miss)
        }

        /// The bound above which a release is bad.
        public var upperBound: Double { log((1 - miss) / falseHalt) }
        /// The bound below which it is good.
        public var lowerBound: Double { log(miss / (1 - falseHalt)) }
        var failureStep: Double { log(badRate / usualRate) }
        var successStep: Double { log((1 - badRate) / (1 - usualRate)) }

        /// About how many reports it takes to halt a release that fails at `rate` (Wald's approximation without what goes
        /// beyond the bound); `nil` where the ratio does not rise at that rate.
        public func expectedReports(toHaltAt rate: Double) -> Double? {
            let drift = rate * failureStep + (1 - rate) * successStep
            return drift > 0 ? upperBound / drift : nil
        }
    }

    public enum Verdict: String, Sendable, Hashable {
        case undecided, bad, good
    }

    /// - Parameter reports: and `failures` among them: what was counted before, as a store keeps it.
    public init(_ design: Design = Design(), reports: Int = 0, failures: Int = 0) {
        self.design = design
        add(reports: reports, failures: failures)
    }

    /// Counts reports.  Negative numbers count as 0, and failures beyond the number of reports are not counted.
    public mutating func add(reports: Int, failures: Int) {
        let added = max(0, reports)
        self.reports = Self.sum(self.reports, added)
        self.failures = Self.sum(self.failures, min(max(0, failures), added))
    }

    /// Counts stay below 2^53, where a double still holds them.
    private static func sum(_ a: Int, _ b: Int) -> Int { min(a + min(b, Limits.integer), Limits.integer) }

    /// The logarithm of the ratio of likelihoods.
    public var logLikelihoodRatio: Double {
        Double(failures) * design.failureStep + Double(reports - failures) * design.successStep
    }

    public var verdict: Verdict {
        let ratio = logLikelihoodRatio
        return ratio >= design.upperBound ? .bad : ratio <= design.lowerBound ? .good : .undecided
    }
}
