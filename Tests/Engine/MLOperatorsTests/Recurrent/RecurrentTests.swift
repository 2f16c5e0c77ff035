import MLNumerics
import MLOperators
import Testing
import TestSupport

@Suite struct RecurrentTests {
    static func noise(_ shape: [Int], _ seed: UInt64) -> Tensor { OperatorTrial.noise(shape, seed: seed) }

    /// One unit, one input, by hand.
    @Test func lstmByHand() throws {
        let (x, h, c) = (0.5, 0.25, -0.5)
        let w = [0.1, 0.2, 0.3, 0.4]
        let r = [0.5, 0.6, 0.7, 0.8]
        let b = [0.01, 0.02, 0.03, 0.04]
        let p = [0.9, 1.0, 1.1]
        func sum(_ gate: Int) -> Double { w[gate] * x + r[gate] * h + b[gate] }
        let sigmoid = Activation.sigmoid.apply
        let i = sigmoid(sum(0) + p[0] * c)
        let f = sigmoid(sum(1) + p[1] * c)
        let z = Activation.tanh.apply(sum(3))
        let cell = min(max(f * c + i * z, -0.1), 0.1)
        let o = sigmoid(sum(2) + p[2] * cell)
        let hidden = o * Activation.tanh.apply(cell)
        let results = try OperatorTrial.program(
            LSTM.self,
            [
                "x": OperatorTrial.floats([x], [1, 1, 1]), "initial_h": OperatorTrial.floats([h], [1, 1]),
                "initial_c": OperatorTrial.floats([c], [1, 1]), "weight_ih": OperatorTrial.floats(w, [4, 1]),
                "weight_hh": OperatorTrial.floats(r, [4, 1]), "bias": OperatorTrial.floats(b),
                "peephole": OperatorTrial.floats(p), "clip": OperatorTrial.float(0.1),
                "direction": OperatorTrial.string("forward"),
            ]
        )
        expectClose(results[0], [hidden])
        expectClose(results[1], [hidden])
        expectClose(results[2], [cell])
    }

    @Test func gruByHand() throws {
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

    /// Going through a sequence at once is going through it step by step.
    @Test(arguments: [RecurrentDirection.forward, .reverse]) func stepsChain(direction: RecurrentDirection) throws {
        let (steps, batch, inputs, states) = (4, 2, 3, 5)
        let x = Self.noise([steps, batch, inputs], 1)
        let h = Self.noise([batch, states], 2)
        let c = Self.noise([batch, states], 3)
        let w = Self.noise([4 * states, inputs], 4)
        let r = Self.noise([4 * states, states], 5)
        let whole = try OperatorTrial.reference(
            LSTM(direction: direction, returnsSequence: true),
            [x, h, c, w, r, nil, nil]
        )
        var state = (h, c)
        let count = batch * inputs
        for index in 0..<steps {
            let time = direction == .reverse ? steps - 1 - index : index
            let slice = OperatorTrial.floats(
                Array(x.values[time * count..<(time + 1) * count]),
                [1, batch, inputs]
            )
            let step = try OperatorTrial.reference(LSTM(), [slice, state.0, state.1, w, r, nil, nil])
            state = (step[1], step[2])
            let rows = Array(whole[0].values[index * batch * states..<(index + 1) * batch * states])
            expectClose(state.0, rows)
        }
        expectClose(whole[1], state.0.values)
        expectClose(whole[2], state.1.values)
    }

    @Test func twoWaysStandSideBySide() throws {
        let x = Self.noise([3, 1, 2], 1)
        let h = Self.noise([1, 8], 2)
        let c = Self.noise([1, 8], 3)
        let weights = [
            Self.noise([16, 2], 4), Self.noise([16, 4], 5), Self.noise([16, 2], 6), Self.noise([16, 4], 7),
        ]
        let both = try OperatorTrial.reference(
            LSTM(direction: .bidirectional, returnsSequence: true),
            [x, h, c, weights[0], weights[1], nil, nil, weights[2], weights[3], nil, nil]
        )[0]
        func half(_ tensor: Tensor, _ way: Int) -> Tensor {
            OperatorTrial.floats(Array(tensor.values[way * 4..<way * 4 + 4]), [1, 4])
        }
        for (way, direction) in [RecurrentDirection.forward, .reverse].enumerated() {
            let one = try OperatorTrial.reference(
                LSTM(direction: direction, returnsSequence: true),
                [x, half(h, way), half(c, way), weights[2 * way], weights[2 * way + 1], nil, nil]
            )[0]
            let columns = (0..<3).flatMap { step -> [Double] in
                // Alone, a way back gives its steps in the order of making; beside a forward one, in that of time.
                let start = (direction == .reverse ? 2 - step : step) * 8 + way * 4
                return Array(both.values[start..<start + 4])
            }
            expectClose(one, columns)
        }
    }

    @Test func rnnByHand() throws {
        let results = try OperatorTrial.program(
            RNN.self,
            [
                "x": OperatorTrial.floats([1, -2], [2, 1, 1]), "initial_h": OperatorTrial.floats([0.5], [1, 1]),
                "weight_ih": OperatorTrial.floats([2], [1, 1]), "weight_hh": OperatorTrial.floats([3], [1, 1]),
                "bias": OperatorTrial.floats([0.5]), "output_sequence": OperatorTrial.bool(true),
                "activation": OperatorTrial.string("relu"),
            ]
        )
        #expect(results[0].values == [4, 8.5])
        #expect(results[1].values == [8.5])
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
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(RNN(), [x, h, Self.noise([4, 3], 3), Self.noise([4, 5], 4)])
        }
    }

    @Test(arguments: [RecurrentDirection.forward, .reverse, .bidirectional], [false, true])
    func lstmKernels(direction: RecurrentDirection, returnsSequence: Bool) {
        var random = RandomTensors(seed: 9)
        let (steps, batch, inputs, states) = (5, 2, 7, 11)
        let width = direction == .bidirectional ? 2 * states : states
        var operands: [Tensor?] = [
            random.tensor([steps, batch, inputs]), random.tensor([batch, width]), random.tensor([batch, width]),
        ]
        for _ in 0..<(direction == .bidirectional ? 2 : 1) {
            operands += [
                random.tensor([4 * states, inputs]), random.tensor([4 * states, states]), random.tensor([4 * states]),
                random.tensor([3 * states]),
            ]
        }
        let op = LSTM(direction: direction, returnsSequence: returnsSequence, clip: returnsSequence ? 0.4 : nil)
        let problem = OperatorProblem(
            "lstm",
            op,
            operands,
            constants: Set(3..<operands.count),
            tolerance: 1e-3,
            seed: 9
        )
        #expect(problem.failures() == [])
        #expect(Self.computingWeights(problem).failures() == [])
    }

    @Test(arguments: [false, true], [false, true]) func gruKernels(resetsAfter: Bool, returnsSequence: Bool) {
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
        #expect(Self.computingWeights(problem).failures() == [])
    }

    @Test(arguments: [false, true]) func rnnKernels(returnsSequence: Bool) {
        var random = RandomTensors(seed: 11)
        let operands: [Tensor?] = [
            random.tensor([4, 3, 6]), random.tensor([3, 9]), random.tensor([9, 6]), random.tensor([9, 9]),
            random.tensor([9]),
        ]
        let op = RNN(direction: returnsSequence ? .reverse : .forward, returnsSequence: returnsSequence)
        let problem = OperatorProblem("rnn", op, operands, constants: [2, 3, 4], tolerance: 1e-3, seed: 11)
        #expect(problem.failures() == [])
        #expect(Self.computingWeights(problem).failures() == [])
    }

    /// The same with weights that are known while running: what training asks.
    private static func computingWeights(_ problem: OperatorProblem) -> OperatorProblem {
        var copy = problem
        copy.name += ", computed weights"
        copy.constants = []
        return copy
    }
}
