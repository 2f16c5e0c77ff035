import DeploymentPolicy
import MLNumerics
import Testing

@Suite struct StatisticsTests {
    @Test func `Wald's figures are those of the design`() throws {
        let design = SequentialTest.Design()
        #expect(try #require(design.expectedReports(toHaltAt: 0.02)).rounded() == 355)
        #expect(try #require(design.expectedReports(toHaltAt: 0.2)).rounded() == 17)
        #expect(design.expectedReports(toHaltAt: 0.005) == nil)
        #expect(!SequentialTest.Design(usualRate: 0.1, badRate: 0.1).isSound)
    }

    @Test func `verdicts follow the counts`() {
        var test = SequentialTest()
        #expect(test.verdict == .undecided)
        test.add(reports: 196, failures: 0)
        #expect(test.verdict == .undecided)
        test.add(reports: 1, failures: 0)
        #expect(test.verdict == .good)
        #expect(SequentialTest(reports: 69, failures: 4).verdict == .bad)
        #expect(SequentialTest(reports: 70, failures: 4).verdict == .undecided)
        test.add(reports: -5, failures: -5)
        #expect(test.reports == 197)
        test.add(reports: .max, failures: .max)
        test.add(reports: .max, failures: .max)
        #expect(test.verdict == .bad && test.reports <= 1 << 53)
    }

    /// The ratio's expectation over the hypergeometric distribution is 1, as the proof in the type's comment needs.
    @Test func `the ratio of a comparison has expectation one between equal groups`() {
        for (new, control, failures) in [(5, 7, 4), (1, 1, 1), (30, 3, 8), (3, 30, 8), (200, 100, 12), (4, 4, 8)] {
            var expectation = 0.0
            for count in max(0, failures - control)...min(failures, new) {
                var comparison = ControlComparison(oddsRatio: 4)
                comparison.add(
                    new: .init(reports: new, failures: count),
                    control: .init(reports: control, failures: failures - count)
                )
                let ratio = comparison.logEvidence
                expectation += Self.hypergeometric(count, new, control, failures) * Self.exponential(ratio)
            }
            #expect(abs(expectation - 1) < 1e-9, "\(new) \(control) \(failures): \(expectation)")
        }
    }

    private static func exponential(_ value: Double) -> Double {
        var (sum, term) = (1.0, 1.0)
        for index in 1..<400 {
            term *= value / Double(index)
            sum += term
        }
        return sum
    }

    private static func hypergeometric(_ count: Int, _ new: Int, _ control: Int, _ failures: Int) -> Double {
        func choose(_ n: Int, _ k: Int) -> Double {
            (0..<k).reduce(1.0) { $0 * Double(n - $1) / Double($1 + 1) }
        }
        return choose(new, count) * choose(control, failures - count) / choose(new + control, failures)
    }

    @Test func `batches of any size are taken in`() {
        var comparison = ControlComparison()
        comparison.add(new: .init(reports: .max, failures: .max), control: .init(reports: .max, failures: 0))
        #expect(comparison.isWorse)
        comparison = ControlComparison()
        comparison.add(new: .init(reports: -1, failures: 5), control: .init(reports: 0, failures: 0))
        #expect(comparison.logEvidence == 0)
    }

    @Test func `a comparison finds what is worse and lets pass what is not`() {
        var random = SplitMix64(seed: 3)
        func happens(_ probability: Double) -> Int { Double(random.next() >> 11) * 0x1p-53 < probability ? 1 : 0 }
        var (worse, alike) = (0, 0)
        for _ in 0..<300 {
            for (rate, isWorse) in [(0.08, true), (0.02, false)] {
                var comparison = ControlComparison()
                for _ in 0..<2000 where !comparison.isWorse {
                    comparison.add(
                        new: .init(reports: 1, failures: happens(rate)),
                        control: .init(reports: 1, failures: happens(0.02))
                    )
                }
                if comparison.isWorse { if isWorse { worse += 1 } else { alike += 1 } }
            }
        }
        #expect(worse == 300 && alike <= 6, "\(worse) \(alike)")
    }

    /// Wilson's formula, and the ends where exact sums of binomials (in Python) have 2.5 %.
    @Test func `intervals are those of the textbook`() {
        let cases: [(Int, Int, wilson: (Double, Double), exact: (Double, Double))] = [
            (0, 10, (0, 0.277_533), (0, 0.308_497)), (1, 10, (0.017_876, 0.404_150), (0.002_529, 0.445_016)),
            (5, 10, (0.236_593, 0.763_407), (0.187_086, 0.812_914)), (10, 10, (0.722_467, 1), (0.691_503, 1)),
            (20, 1000, (0.012_984, 0.030_690), (0.012_258, 0.030_720)),
        ]
        for (hits, count, wilson, exact) in cases {
            let (w, e) = (RateInterval.wilson(hits, of: count), RateInterval.clopperPearson(hits, of: count))
            for (got, wanted) in [(w.lower, wilson.0), (w.upper, wilson.1), (e.lower, exact.0), (e.upper, exact.1)] {
                #expect(abs(got - wanted) < 2e-6, "\(hits) of \(count): \(got), not \(wanted)")
            }
        }
        #expect(RateInterval.wilson(0, of: 0) == RateInterval(lower: 0, upper: 1))
        #expect(RateInterval.clopperPearson(5, of: 3) == RateInterval.clopperPearson(3, of: 3))
        let large = RateInterval.clopperPearson(5_000_000, of: 1_000_000_000)
        #expect(large.lower > 0.004_99 && large.upper < 0.005_01 && large.lower < 0.005 && large.upper > 0.005)
    }

    /// An interval covers the rates whose distribution makes what was counted likely enough: checked by summing binomials.
    @Test func `exact intervals end where the tail has two and a half percent`() {
        for (hits, count) in [(1, 20), (3, 50), (25, 60)] {
            let interval = RateInterval.clopperPearson(hits, of: count)
            func probability(_ k: Int, _ p: Double) -> Double {
                (0..<k).reduce(1.0) { $0 * Double(count - $1) / Double(k - $1) * p }
                    * (0..<(count - k)).reduce(1.0) { product, _ in product * (1 - p) }
            }
            let above = (hits...count).reduce(0.0) { $0 + probability($1, interval.lower) }
            let below = (0...hits).reduce(0.0) { $0 + probability($1, interval.upper) }
            #expect(abs(above - 0.025) < 1e-9 && abs(below - 0.025) < 1e-9)
        }
    }

    @Test func `summaries count and give shares`() {
        var adoption = AdoptionSummary()
        adoption.add(30, running: .release(2))
        adoption.add(70, running: .bundled)
        #expect(adoption.share(of: .release(2)) == 0.3 && adoption.total == 100)
        var funnel = AdoptionFunnel()
        funnel.add(100, at: .offered)
        funnel.add(80, at: .downloaded)
        #expect(funnel.passage(from: .offered) == 0.8 && funnel.passage(from: .loaded) == nil)
        var failures = FailureSummary()
        #expect(failures.rate() == nil)
        failures.addSuccesses(98)
        failures.addFailures(1, .load)
        failures.addFailures(1, .selfTest)
        #expect(failures.rate() == 0.02 && failures.rate(.load) == 0.01 && failures.reports == 100)
        #expect(failures.interval().lower < 0.02 && failures.interval().upper > 0.02)
    }
}
