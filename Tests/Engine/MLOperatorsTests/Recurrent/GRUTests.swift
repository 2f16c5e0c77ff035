import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct GRUTests {
    private static func noise(_ shape: [Int], _ seed: UInt64) -> Tensor { OperatorTrial.noise(shape, seed: seed) }

    @Test func byHand() throws {
        let (x, h) = (0.5, 0.25)
        let w = [0.1, 0.2, 0.3]
        let s = [0.5, 0.6, 0.7]
        let b = [0.01, 0.02, 0.03]
        let a = [0.2, 0.1, -0.3]
        let sigmoid = Activation.sigmoid.apply
        for resetsAfter in [false, true] {
            let r = sigmoid(w[0] * x + s[0] * h + b[0] + a[0])
            let z = sigmoid(w[2] * x + s[2] * h + b[2] + a[2])
            let inner = resetsAfter ? r * (s[1] * h + b[1]) : s[1] * (r * h) + b[1]
            let o = Activation.tanh.apply(w[1] * x + a[1] + inner)
            let expected = (1 - z) * o + z * h
            let results = try OperatorTrial.program(
                GRU.self,
                [
                    "x": OperatorTrial.floats([x], [1, 1, 1]), "initial_h": OperatorTrial.floats([h], [1, 1]),
                    "weight_ih": OperatorTrial.floats(w, [3, 1]), "weight_hh": OperatorTrial.floats(s, [3, 1]),
                    "bias": OperatorTrial.floats(b), "input_bias": OperatorTrial.floats(a),
                    "reset_after": OperatorTrial.bool(resetsAfter),
                ]
            )
            expectClose(results[0], [expected])
            expectClose(results[1], [expected])
        }
    }

    @Test func contradictionsAreErrors() {
        let x = Self.noise([2, 1, 3], 1)
        let h = Self.noise([1, 4], 2)
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(GRU(), [x, h, Self.noise([12, 2], 3), Self.noise([12, 4], 4)])
        }
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(
                GRU(),
                [x, Self.noise([1, 3], 2), Self.noise([12, 3], 3), Self.noise([12, 4], 4)]
            )
        }
    }

    @Test(arguments: [false, true], [false, true]) func kernels(resetsAfter: Bool, returnsSequence: Bool) {
        var random = RandomTensors(seed: 10)
        let operands: [Tensor?] = [
            random.tensor([4, 3, 6]), random.tensor([3, 9]), random.tensor([27, 6]), random.tensor([27, 9]),
            random.tensor([27]), random.tensor([27]),
        ]
        let op = GRU(
            direction: returnsSequence ? .reverse : .forward,
            returnsSequence: returnsSequence,
            resetsAfter: resetsAfter
        )
        let problem = OperatorProblem("gru", op, operands, constants: [2, 3, 4, 5], tolerance: 1e-3, seed: 10)
        #expect(problem.failures() == [])
        #expect(problem.computingWeights.failures() == [])
    }

    @Test func layer() throws {
        let x = Self.noise([3, 2, 1], 1)
        let (w, r, b) = (Self.noise([3, 1], 2), Self.noise([3, 1], 3), Self.noise([3], 4))
        let start = Tensor(values: [0, 0], scalarType: .float32, shape: [2, 1])
        let steps = try OperatorTrial.reference(GRU(returnsSequence: true), [x, start, w, r, b, nil])[0]
        let problem = LayerProblem(
            [x.reshaped([3, 2, 1, 1, 1])],
            expected: [steps.reshaped([3, 2, 1, 1, 1])],
            tolerance: 1e-4
        ) {
            $0.gru.inputVectorSize = 1
            $0.gru.outputVectorSize = 1
            $0.gru.sequenceOutput = true
            $0.gru.hasBiasVectors_p = true
            $0.gru.resetGateWeightMatrix.floatValue = [Float(w.values[0])]
            $0.gru.outputGateWeightMatrix.floatValue = [Float(w.values[1])]
            $0.gru.updateGateWeightMatrix.floatValue = [Float(w.values[2])]
            $0.gru.resetGateRecursionMatrix.floatValue = [Float(r.values[0])]
            $0.gru.outputGateRecursionMatrix.floatValue = [Float(r.values[1])]
            $0.gru.updateGateRecursionMatrix.floatValue = [Float(r.values[2])]
            $0.gru.resetGateBiasVector.floatValue = [Float(b.values[0])]
            $0.gru.outputGateBiasVector.floatValue = [Float(b.values[1])]
            $0.gru.updateGateBiasVector.floatValue = [Float(b.values[2])]
        }
        #expect(problem.failures() == [])
    }

    @Test(arguments: [RecurrentDirection.forward, .reverse], [false, true])
    func gradient(_ direction: RecurrentDirection, _ returnsSequence: Bool) {
        let (s, b, i, h) = (4, 3, 2, 5)
        let x: [GradientProblem.Operand] = [.real([s, b, i]), .real([b, h]), .real([3 * h, i]), .real([3 * h, h])]
        for resetsAfter in [false, true] {
            var op = GRU(direction: direction, returnsSequence: returnsSequence, resetsAfter: resetsAfter)
            #expect(GradientProblem("\(resetsAfter)", op, x + [.real([3 * h]), .real([3 * h])]).failures() == [])
            #expect(GradientProblem("no bias, \(resetsAfter)", op, x + [.none, .none]).failures() == [])
            op.gateActivation = .hardSigmoid(alpha: 0.2, beta: 0.5)
            op.activation = .softsign
            #expect(
                GradientProblem("other functions, \(resetsAfter)", op, x + [.real([3 * h]), .none]).failures() == []
            )
        }
    }
}
