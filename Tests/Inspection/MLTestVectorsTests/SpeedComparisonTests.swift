import MLFeatures
import MLNumerics
import MLSpecification
import MLTestVectors
import Synchronization
import TestSupport
import Testing

/// Doubles, and lets a clock go on meanwhile: longer the first times.
private final class Slow: ModelEngine {
    private let clock: VirtualClock
    private let milliseconds: Int
    private let calls = Mutex(0)

    init(_ clock: VirtualClock, milliseconds: Int) { (self.clock, self.milliseconds) = (clock, milliseconds) }

    var count: Int { calls.withLock { $0 } }
    var interface: SpecModelDescription { Doubling().interface }

    func makeState() -> ModelState { Doubling().makeState() }

    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        let call = calls.withLock { calls in
            calls += 1
            return calls
        }
        clock.pass(.milliseconds(call <= 4 ? milliseconds * 3 : milliseconds))
        return try Doubling().prediction(from: inputs, backings: backings, state: state)
    }
}

@Suite struct SpeedComparisonTests {
    private let x = FeatureData.tensor(Tensor(values: [1, 2], scalarType: .float32, shape: [2]))

    private func vectors(_ inputs: [String: FeatureData]...) -> TestVectors {
        TestVectors(cases: [TestCase(name: "a", steps: inputs.map { .init(inputs: $0, outputs: [:]) })])
    }

    @Test func timesAreThoseOfOnePrediction() throws {
        let clock = VirtualClock()
        let comparison = try #require(
            SpeedComparison(
                Slow(clock, milliseconds: 8),
                Slow(clock, milliseconds: 2),
                vectors(["x": x], ["x": x]),
                now: { clock.now }
            )
        )
        #expect(abs(comparison.time - 0.008) < 1e-12 && abs(comparison.earlier - 0.002) < 1e-12)
        #expect(comparison.isNoticeable)
        #expect("\(comparison)" == "8.0 ms for a prediction, the one before 2.0 ms")
    }

    @Test("ten runs of fast models, two of slow ones", arguments: [(1, 10), (300, 3), (900, 2)])
    func noRunBeginsWhenPatienceIsAtItsEnd(milliseconds: Int, runs: Int) throws {
        let clock = VirtualClock()
        let (engine, earlier) = (Slow(clock, milliseconds: milliseconds), Slow(clock, milliseconds: 0))
        _ = SpeedComparison(engine, earlier, vectors(["x": x]), now: { clock.now })
        #expect(engine.count == runs && earlier.count == runs)
    }

    @Test("a model that seems too slow is measured again", arguments: [(10, 30), (900, 15), (15_000, 2)])
    func moreRunsDecideWhetherAModelIsTooSlow(milliseconds: Int, runs: Int) throws {
        let clock = VirtualClock()
        let (engine, earlier) = (Slow(clock, milliseconds: milliseconds), Slow(clock, milliseconds: 1))
        _ = SpeedComparison(engine, earlier, vectors(["x": x]), limit: 3, now: { clock.now })
        #expect(engine.count == runs && earlier.count == runs)
    }

    @Test func smallDifferencesAreNotNoticed() {
        #expect(!SpeedComparison(time: 0.0012, earlier: 0.0003).isNoticeable)
        #expect(SpeedComparison(time: 0.0014, earlier: 0.0003).isNoticeable)
        #expect(!SpeedComparison(time: 0.001, earlier: 0.004).isNoticeable)
        #expect(SpeedComparison(time: 0.001, earlier: 0.004).ratio == 0.25)
    }

    @Test func modelsThatDoNotTakeTheInputsAreNotCompared() {
        #expect(SpeedComparison(Doubling(), Doubling(), vectors([:])) == nil)
        #expect(SpeedComparison(Doubling(), Doubling(), TestVectors(cases: [])) == nil)
    }
}
