package import MLFeatures
import MLNumerics

/// The prediction times of two models for the same inputs on this device.
///
/// Each time is the shortest of several runs that alternate between the models, so that other load on the device has
/// little effect.
package struct SpeedComparison: CustomStringConvertible {
    /// The mean time of a prediction over the inputs, in seconds.
    package let time: Double
    package let earlier: Double

    /// Differences below a thousandth of a second are not noticeable.
    static let noticeable = 0.001
    /// The time in seconds after which no further run is started, once each model had two.
    static let patience = 2.0
    static let maximumRunCount = 10
    /// The same for a model that seems too slow: other load on the device must not give a release up.
    static let patienceOfSuspicion = 20.0
    static let maximumRunCountOfSuspicion = 30

    package var ratio: Double { time / earlier }
    package var isNoticeable: Bool { time - earlier >= Self.noticeable }

    package init(time: Double, earlier: Double) { (self.time, self.earlier) = (time, earlier) }

    /// Runs the inputs of test vectors through two models in turns, and compares the shortest times.
    ///
    /// The result is `nil` when the earlier model does not accept these inputs, or its time is too short to measure.
    ///
    /// - Parameters:
    ///   - engine: The model.
    ///   - earlier: The model to compare it with.
    ///   - vectors: The test vectors.
    ///   - limit: The ratio above which the model is too slow; such a ratio is checked by further runs.
    ///   - now: The clock that times predictions.
    package init?(
        _ engine: any ModelEngine,
        _ earlier: any ModelEngine,
        _ vectors: TestVectors,
        limit: Double = .infinity,
        now: () -> ContinuousClock.Instant = { .now }
    ) {
        let steps = vectors.cases.reduce(0) { $0 + $1.steps.count }
        guard steps > 0 else { return nil }
        let start = now()
        var shortest = (Double.infinity, Double.infinity)
        for run in 0..<Self.maximumRunCountOfSuspicion {
            let isSuspicious = shortest.0 > limit * shortest.1
            let maximumRunCount = isSuspicious ? Self.maximumRunCountOfSuspicion : Self.maximumRunCount
            let patience = Duration.seconds(isSuspicious ? Self.patienceOfSuspicion : Self.patience)
            guard run < 2 || run < maximumRunCount && now() - start < patience else { break }
            guard let own = Self.seconds(engine, vectors, now), let before = Self.seconds(earlier, vectors, now) else {
                return nil
            }
            shortest = (min(shortest.0, own), min(shortest.1, before))
        }
        guard shortest.1 > 0 else { return nil }
        self.init(time: shortest.0 / Double(steps), earlier: shortest.1 / Double(steps))
    }

    /// The time for all inputs in seconds; `nil` when the model does not accept one.
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
