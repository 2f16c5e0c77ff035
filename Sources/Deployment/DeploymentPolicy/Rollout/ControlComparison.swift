import Glibc

/// A one-sided sequential test of whether a new release fails more often than its control group at the same time.
///
/// It may be evaluated after every batch without making false halts more likely than α.
///
/// For each batch, the reports of both groups and their total failures are taken as given. Were both groups alike, the
/// failures of the new release would have a hypergeometric distribution; were the odds of failure `oddsRatio` times as
/// high, Fisher's noncentral hypergeometric distribution. The ratio of the two likelihoods has expectation 1 or less
/// for every release that is no worse than the control, and so has the product over all batches; by Ville's inequality
/// it ever reaches 1 / α with probability α at most.
public struct ControlComparison: Sendable, Hashable {
    /// The ratio of the odds of failure that the test is designed to detect.
    public let oddsRatio: Double
    /// The significance level α: the largest probability of halting a release that is no worse.
    public let falseHalt: Double
    /// The natural logarithm of the product of likelihood ratios so far.
    public private(set) var logEvidence: Double

    /// Creates a test, by default for an odds ratio of 4 at α = 1 %.
    ///
    /// Pass the stored `logEvidence` to go on with a test; 0 begins a new one.
    public init(oddsRatio: Double = 4, falseHalt: Double = 0.01, logEvidence: Double = 0) {
        self.oddsRatio = oddsRatio
        self.falseHalt = falseHalt
        self.logEvidence = logEvidence
    }

    /// The reports of one group within a batch.
    public struct Counts: Sendable, Hashable {
        /// The number of reports, successes and failures.
        public var reports: Int
        /// The failures among the reports.
        public var failures: Int

        /// Creates counts; negative numbers become 0, and failures are limited to the number of reports.
        public init(reports: Int, failures: Int) {
            self.reports = min(max(0, reports), Limits.integer)
            self.failures = min(max(0, failures), self.reports)
        }
    }

    /// Adds the reports of both groups since the previous batch.
    ///
    /// The time is proportional to the number of failures, at most 100,000 in a batch: all numbers of a
    /// larger batch are divided by the same divisor, which only weakens its evidence.
    public mutating func add(new: Counts, control: Counts) {
        let divisor = (new.failures + control.failures - 1) / 100_000 + 1
        func scaled(_ counts: Counts) -> Counts {
            Counts(reports: counts.reports / divisor, failures: counts.failures / divisor)
        }
        logEvidence += Self.logRatio(new: scaled(new), control: scaled(control), oddsRatio: oddsRatio)
    }

    /// Whether the new release has been found worse than the control: the evidence has reached 1 / α.
    public var isWorse: Bool { logEvidence >= -log(falseHalt) }

    /// The logarithm of θ^x / E(θ^X), where X is hypergeometric: the failures of the new release under equal odds.
    private static func logRatio(new: Counts, control: Counts, oddsRatio: Double) -> Double {
        let failures = new.failures + control.failures
        let (minimum, maximum) = (max(0, failures - control.reports), min(failures, new.reports))
        guard maximum > minimum else { return 0 }
        let step = log(oddsRatio)
        var (weights, tilted) = (LogSum(), LogSum())
        var weight = 0.0
        for count in minimum...maximum {
            weights.add(weight)
            tilted.add(weight + Double(count) * step)
            guard count < maximum else { break }
            let up = Double(new.reports - count) * Double(failures - count)
            weight += log(up / (Double(count + 1) * Double(control.reports - failures + count + 1)))
        }
        return Double(new.failures) * step - (tilted.value - weights.value)
    }
}

/// The logarithm of a sum of exponentials.
private struct LogSum {
    private var largest = -Double.infinity
    private var sum = 0.0

    mutating func add(_ exponent: Double) {
        if exponent <= largest {
            sum += exp(exponent - largest)
        } else {
            sum = sum * exp(largest - exponent) + 1
            largest = exponent
        }
    }

    var value: Double { largest + log(sum) }
}
