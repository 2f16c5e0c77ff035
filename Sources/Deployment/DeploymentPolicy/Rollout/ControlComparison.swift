import Glibc

/// Compares the failures of a new release with those of the control group of the same time, one-sided and sequential: it may
/// be asked after every batch without making false halts more likely than α.
///
/// Of a batch, the reports of both groups and the failures of both together are taken as given.  Were both groups alike, the
/// failures of the new release would be distributed hypergeometrically; were the odds of failure `oddsRatio` times as high,
/// by Fisher's noncentral hypergeometric distribution.  The ratio of both likelihoods has expectation 1 or less for every
/// release that is no worse than the control, and so has the product over all batches; by Ville's inequality it ever
/// reaches 1 / α with probability α at most.
public struct ControlComparison: Sendable, Hashable {
    /// How many times as high the odds of failure are that must not go unnoticed.
    public let oddsRatio: Double
    /// α.
    public let falseHalt: Double
    /// The logarithm of the product of ratios.
    public private(set) var logEvidence: Double

    /// - Parameter logEvidence: what was found before, as a store keeps it.
    public init(oddsRatio: Double = 4, falseHalt: Double = 0.01, logEvidence: Double = 0) {
        self.oddsRatio = oddsRatio
        self.falseHalt = falseHalt
        self.logEvidence = logEvidence
    }

    /// Reports of one group within a batch.
    public struct Counts: Sendable, Hashable {
        public var reports: Int
        public var failures: Int

        /// Negative numbers count as 0, and failures beyond the number of reports are not counted.
        public init(reports: Int, failures: Int) {
            self.reports = min(max(0, reports), Limits.integer)
            self.failures = min(max(0, failures), self.reports)
        }
    }

    /// Takes in what both groups reported since the batch before.
    ///
    /// Costs time in proportion to the failures, of which a batch counts 100,000 at most: all numbers of a larger one are
    /// divided by the same, which makes it say less than it could.
    public mutating func add(new: Counts, control: Counts) {
        let divisor = (new.failures + control.failures - 1) / 100_000 + 1
        func part(_ counts: Counts) -> Counts {
            Counts(reports: counts.reports / divisor, failures: counts.failures / divisor)
        }
        logEvidence += Self.logRatio(new: part(new), control: part(control), oddsRatio: oddsRatio)
    }

    /// Whether the new release is worse than the control.
    public var isWorse: Bool { logEvidence >= -log(falseHalt) }

    /// ln of θ^x / E(θ^X), where X is hypergeometric: failures of the new release when all failures fall anywhere.
    private static func logRatio(new: Counts, control: Counts, oddsRatio: Double) -> Double {
        let failures = new.failures + control.failures
        let (least, most) = (max(0, failures - control.reports), min(failures, new.reports))
        guard most > least else { return 0 }
        let step = log(oddsRatio)
        var (weights, tilted) = (LogSum(), LogSum())
        var weight = 0.0
        for count in least...most {
            weights.add(weight)
            tilted.add(weight + Double(count) * step)
            guard count < most else { break }
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
