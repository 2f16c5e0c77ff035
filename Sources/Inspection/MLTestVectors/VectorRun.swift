package import MLFeatures
package import MLNumerics

/// The result of a case.
package struct CaseResult: Sendable {
    package enum Outcome: Sendable, Equatable {
        case passed
        /// Outputs that differ from the expected values; `step` counts from 0.
        case failed([StepDeviation])
        /// The prediction failed.
        case error(String)
    }

    package struct StepDeviation: Sendable, Equatable {
        package let step: Int
        package let deviation: Deviation
    }

    package let name: String
    package let stepCount: Int
    package let outcome: Outcome
    package let seconds: Double

    package var hasPassed: Bool { outcome == .passed }
}

/// Runs test vectors with a model.
package struct VectorRun: Sendable {
    private let engine: any ModelEngine
    private let comparison: OutputComparison

    /// Prepares a run of test vectors.
    ///
    /// - Parameters:
    ///   - engine: The model.
    ///   - vectors: The test vectors.
    ///   - tolerances: Take precedence over the tolerances of the vectors.
    package init(_ engine: any ModelEngine, _ vectors: TestVectors, tolerances: ToleranceTable = ToleranceTable()) {
        self.engine = engine
        comparison = OutputComparison(tolerances.over(vectors.tolerances))
    }

    /// Runs a case; no state is carried over to the next one.
    package func result(of test: TestCase) -> CaseResult {
        let clock = ContinuousClock()
        let start = clock.now
        let outcome = outcome(of: test)
        return CaseResult(
            name: test.name,
            stepCount: test.steps.count,
            outcome: outcome,
            seconds: (clock.now - start) / .seconds(1)
        )
    }

    private func outcome(of test: TestCase) -> CaseResult.Outcome {
        let state = engine.makeState()
        var deviations: [CaseResult.StepDeviation] = []
        for (index, step) in test.steps.enumerated() {
            do throws(ModelError) {
                let outputs = try engine.prediction(from: step.inputs, backings: [:], state: state)
                for (name, expected) in step.outputs.sorted(by: { $0.key < $1.key }) {
                    guard let actual = outputs[name] else {
                        let names = outputs.keys.sorted().joined(separator: "', '")
                        throw ModelError(.invalidInput, "the model gave no output '\(name)', but '\(names)'")
                    }
                    if let deviation = comparison.deviation(of: name, actual, from: expected) {
                        deviations.append(CaseResult.StepDeviation(step: index, deviation: deviation))
                    }
                }
            } catch {
                return .error(test.steps.count > 1 ? "step \(index): \(error)" : "\(error)")
            }
        }
        return deviations.isEmpty ? .passed : .failed(deviations)
    }

    /// The case with the model's own outputs as expected values.
    package static func recorded(_ test: TestCase, by engine: any ModelEngine) throws(ModelError) -> TestCase {
        let state = engine.makeState()
        var result = test
        for index in test.steps.indices {
            let outputs = try withErrorContext("case '\(test.name)'") { () throws(ModelError) in
                try engine.prediction(from: test.steps[index].inputs, backings: [:], state: state)
            }
            result.steps[index].outputs = outputs.mapValues { .value($0) }
        }
        return result
    }
}
