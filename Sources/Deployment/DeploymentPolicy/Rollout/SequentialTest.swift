import Glibc

/// Wald's sequential probability ratio test of a release's failure rate.
///
/// After every report it is decided as "bad" or "good" or still undecided, without a fixed sample size. The test
/// compares the likelihoods of the counts under the bad and the usual failure rate, and decides when the logarithm of
/// their ratio leaves the bounds ln(β / (1 − α)) and ln((1 − β) / α) (A. Wald, "Sequential Tests of Statistical
/// Hypotheses", 1945).
public struct SequentialTest: Sendable, Hashable {
    /// The rates that the test tells apart, and its error probabilities.
    public let design: Design
    /// The number of reports so far, successes and failures.
    public private(set) var reports = 0
    /// The failures among the reports.
    public private(set) var failures = 0

    /// The rates that a test tells apart, and its error probabilities.
    public struct Design: Sendable, Hashable {
        /// The usual failure rate.
        public var usualRate: Double
        /// The failure rate that must be detected, above the usual one.
        public var badRate: Double
        /// α: the probability that a usual release is halted.
        public var falseHalt: Double
        /// β: the probability that a bad release passes.
        public var miss: Double

        /// Creates a design, by default of 0.5 % against 2 % with α = 1 % and β = 5 %.
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

        /// The same design with another α.
        func withFalseHalt(_ falseHalt: Double) -> Design {
            Design(usualRate: usualRate, badRate: badRate, falseHalt: falseHalt, miss: miss)
        }

        /// The bound of the log-likelihood ratio at and above which a release is bad.
        public var upperBound: Double { log((1 - miss) / falseHalt) }
        /// The bound of the log-likelihood ratio at and below which a release is good.
        public var lowerBound: Double { log(miss / (1 - falseHalt)) }
        var failureStep: Double { log(badRate / usualRate) }
        var successStep: Double { log((1 - badRate) / (1 - usualRate)) }

        /// The approximate number of reports until a release that fails at `rate` is halted.
        ///
        /// It is Wald's approximation, which neglects the overshoot; `nil` where the ratio does not rise at that rate.
        public func expectedReports(toHaltAt rate: Double) -> Double? {
            let drift = rate * failureStep + (1 - rate) * successStep
            return drift > 0 ? upperBound / drift : nil
        }
    }

    /// The result of a test.
    public enum Verdict: String, Sendable, Hashable {
        /// More reports are needed, or the failure rate is bad, or it is good.
        case undecided, bad, good
    }

    /// Creates a test, which continues with stored counts where these are given.
    public init(_ design: Design = Design(), reports: Int = 0, failures: Int = 0) {
        self.design = design
        add(reports: reports, failures: failures)
    }

    /// Adds reports; negative numbers count as 0, and failures are limited to the number of reports.
    public mutating func add(reports: Int, failures: Int) {
        let added = max(0, reports)
        self.reports = Self.sum(self.reports, added)
        self.failures = Self.sum(self.failures, min(max(0, failures), added))
    }

    /// The sum, limited to 2^53 - 1, which a double represents exactly.
    private static func sum(_ a: Int, _ b: Int) -> Int { min(a + min(b, Limits.integer), Limits.integer) }

    /// The natural logarithm of the likelihood ratio of the bad to the usual rate.
    public var logLikelihoodRatio: Double {
        Double(failures) * design.failureStep + Double(reports - failures) * design.successStep
    }

    /// The result so far.
    public var verdict: Verdict {
        let ratio = logLikelihoodRatio
        return ratio >= design.upperBound ? .bad : ratio <= design.lowerBound ? .good : .undecided
    }
}
