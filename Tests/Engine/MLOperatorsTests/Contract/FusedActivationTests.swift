import Foundation
import MLGraph
import MLNumerics
import MLOperators
import Testing

@Suite struct FusedActivationTests {
    static let cases: [(Activation, Double, Double)] = [
        (.none, -3, -3), (.relu, -3, 0), (.relu, 2, 2), (.clip(low: 0, high: 6), 7, 6), (.clip(low: 0, high: 6), -1, 0),
        (.leakyRelu(alpha: 0.1), -2, -0.2), (.sigmoid, 0, 0.5), (.sigmoid, 2, 0.8807970779778823),
        (.tanh, 1, 0.7615941559557649), (.silu, 1, 0.7310585786300049), (.geluErf, 1, 0.8413447460685429),
        (.geluTanh, 1, 0.8411919906082768), (.geluSigmoid, 1, 0.8457957659328212),
        (.hardSigmoid(alpha: 0.2, beta: 0.5), 1, 0.7), (.hardSigmoid(alpha: 0.2, beta: 0.5), 9, 1),
        (.hardSwish(alpha: 1.0 / 6, beta: 0.5), 1, 2.0 / 3), (.elu(alpha: 2), -1, 2 * (0.36787944117144233 - 1)),
        (.softplus, 0, 0.6931471805599453), (.softplus, 800, 800), (.softsign, -3, -0.75),
        (.scaledTanh(alpha: 2, beta: 0.5), 2, 1.5231883119115297), (.linear(alpha: 3, beta: 1), 2, 7),
        (.thresholdedRelu(alpha: 1), 0.5, 0), (.thresholdedRelu(alpha: 1), 1.5, 1.5),
    ]

    @Test(arguments: cases) func valueAt(_ activation: Activation, _ x: Double, _ expected: Double) {
        #expect(abs(activation.apply(x) - expected) <= 1e-12 * max(1, abs(expected)))
    }

    /// Compiled models hold activations in this form, which a release cannot change.
    @Test func writtenForm() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        func text(_ activation: Activation) throws -> String {
            String(decoding: try encoder.encode(activation), as: UTF8.self)
        }
        #expect(try text(.relu) == #"{"relu":{}}"#)
        #expect(try text(.clip(low: 0.5, high: 6)) == #"{"clip":{"high":6,"low":0.5}}"#)
        #expect(try text(.thresholdedRelu(alpha: 2)) == #"{"thresholdedRelu":{"alpha":2}}"#)
        for (activation, _, _) in Self.cases {
            let tree = try ValueTree(encoding: activation)
            #expect(try tree.decoded(as: Activation.self) == activation)
            #expect(try JSONDecoder().decode(Activation.self, from: encoder.encode(activation)) == activation)
        }
    }

    @Test(arguments: [
        ValueTree.record([:]), .record(["swish": .record([:])]), .record(["relu": .null]), .text("relu"),
        .record(["clip": .record(["low": .number(0)])]), .record(["relu": .record([:]), "tanh": .record([:])]),
        .record(["elu": .record(["alpha": .text("1")])]),
    ])
    func foreignFormsAreRefused(_ tree: ValueTree) {
        #expect(throws: ModelError.self) { try tree.decoded(as: Activation.self) }
    }
}
