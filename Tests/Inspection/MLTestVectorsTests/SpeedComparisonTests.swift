import MLFeatures
import MLNumerics
import MLSpecification
import MLTestVectors
import Testing

/// Doubles after a time.
private struct Slow: ModelEngine {
    let milliseconds: Int
    var interface: SpecModelDescription { Doubling().interface }

    func makeState() -> ModelState { Doubling().makeState() }

    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while ContinuousClock.now < end {}
        return try Doubling().prediction(from: inputs, backings: backings, state: state)
    }
}

@Suite struct SpeedComparisonTests {
    private let x = FeatureData.tensor(Tensor(values: [1, 2], scalarType: .float32, shape: [2]))

    private func vectors(_ inputs: [String: FeatureData]...) -> TestVectors {
        TestVectors(cases: [TestCase(name: "a", steps: inputs.map { .init(inputs: $0, outputs: [:]) })])
    }

    @Test func timesAreThoseOfOnePrediction() throws {
        let comparison = try #require(
            SpeedComparison(Slow(milliseconds: 8), Slow(milliseconds: 2), vectors(["x": x], ["x": x]))
        )
        #expect(comparison.time >= 0.008)
        #expect(comparison.earlier >= 0.002)
        #expect(comparison.time < 0.08)
        #expect(comparison.isNoticeable)
        #expect("\(comparison)".contains(" ms for a prediction, the one before "))
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
