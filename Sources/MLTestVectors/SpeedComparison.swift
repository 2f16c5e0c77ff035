package import MLFeatures
import MLNumerics

/// How long two models take for the same inputs on this device: the shortest of several runs that alternate, so that what else
/// the device does counts little.
package struct SpeedComparison: CustomStringConvertible {
    /// Seconds that a prediction takes on average of the inputs.
    package let time: Double
    package let earlier: Double

    /// Differences of less than a thousandth of a second are nothing that anybody notices.
    static let noticeable = 0.001
    /// After so many seconds no further run is begun, once each model had two.
    static let patience = 2.0
    static let mostRuns = 10

    package var ratio: Double { time / earlier }
    package var isNoticeable: Bool { time - earlier >= Self.noticeable }

    package init(time: Double, earlier: Double) { (self.time, self.earlier) = (time, earlier) }

    /// - Parameter now: the clock by which predictions are timed.
    /// - Returns: `nil` where the earlier model does not take these inputs, or takes no time that could be measured.
    package init?(
        _ engine: any ModelEngine,
        _ earlier: any ModelEngine,
        _ vectors: TestVectors,
        now: () -> ContinuousClock.Instant = { .now }
    ) {
        let steps = vectors.cases.reduce(0) { $0 + $1.steps.count }
        guard steps > 0 else { return nil }
        let start = now()
        var shortest = (Double.infinity, Double.infinity)
        for run in 0..<Self.mostRuns where run < 2 || now() - start < .seconds(Self.patience) {
            guard let own = Self.seconds(engine, vectors, now), let before = Self.seconds(earlier, vectors, now) else {
                return nil
            }
            shortest = (min(shortest.0, own), min(shortest.1, before))
        }
        guard shortest.1 > 0 else { return nil }
        self.init(time: shortest.0 / Double(steps), earlier: shortest.1 / Double(steps))
    }

    /// Seconds for all inputs; `nil` where the model does not take one.
    private static func seconds(
        _ engine: any ModelEngine,
        _ vectors: TestVectors,
        _ now: () -> ContinuousClock.Instant
    ) -> Double? {
        let start = now()
        for test in vectors.cases {
            let state = engine.makeState()
            for step in test.steps {
                guard (try? engine.prediction(from: step.inputs, backings: [:], state: state)) != nil else {
                    return nil
                }
            }
        }
        return (now() - start) / .seconds(1)
    }

    package var description: String {
        func text(_ seconds: Double) -> String { "\((seconds * 10_000).rounded() / 10) ms" }
        return "\(text(time)) for a prediction, the one before \(text(earlier))"
    }
}
