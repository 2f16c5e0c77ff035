import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct LSTMTests {
    private static func noise(_ shape: [Int], _ seed: UInt64) -> Tensor { OperatorTrial.noise(shape, seed: seed) }

    /// One unit, one input, by hand.
    @Test func byHand() throws {
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

    @Test(arguments: [RecurrentDirection.forward, .reverse, .bidirectional], [false, true])
    func kernels(direction: RecurrentDirection, returnsSequence: Bool) {
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
        #expect(problem.computingWeights.failures() == [])
    }

    /// One input, one unit; `MLLoweringTests` has the variants.
    @Test(arguments: [false, true]) func layer(isBidirectional: Bool) throws {
        let x = Self.noise([3, 2, 1], 1)
        let width = isBidirectional ? 2 : 1
        let directions: [[Tensor]] = (0..<width).map { way in
            [Self.noise([4, 1], UInt64(2 + way)), Self.noise([4, 1], UInt64(4 + way))]
        }
        let start = Tensor(uninitialized: .float32, shape: [2, width], zeroed: true)
        let op = LSTM(direction: isBidirectional ? .bidirectional : .forward, returnsSequence: true, clip: 50)
        let steps = try OperatorTrial.reference(
            op,
            [x, start, start] + directions.flatMap { [$0[0], $0[1], nil, nil] }
        )[0]
        func weights(_ way: Int) -> SpecLSTMWeightParams {
            func weight(_ matrix: Int, _ gate: Int) -> [Float] { [Float(directions[way][matrix].values[gate])] }
            var weights = SpecLSTMWeightParams()
            weights.inputGateWeightMatrix.floatValue = weight(0, 0)
            weights.forgetGateWeightMatrix.floatValue = weight(0, 1)
            weights.outputGateWeightMatrix.floatValue = weight(0, 2)
            weights.blockInputWeightMatrix.floatValue = weight(0, 3)
            weights.inputGateRecursionMatrix.floatValue = weight(1, 0)
            weights.forgetGateRecursionMatrix.floatValue = weight(1, 1)
            weights.outputGateRecursionMatrix.floatValue = weight(1, 2)
            weights.blockInputRecursionMatrix.floatValue = weight(1, 3)
            return weights
        }
        let problem = LayerProblem(
            [x.reshaped([3, 2, 1, 1, 1])],
            expected: [steps.reshaped([3, 2, width, 1, 1])],
            tolerance: 1e-4
        ) {
            if isBidirectional {
                $0.biDirectionalLstm.inputVectorSize = 1
                $0.biDirectionalLstm.outputVectorSize = 1
                $0.biDirectionalLstm.params.sequenceOutput = true
                $0.biDirectionalLstm.weightParams = [weights(0), weights(1)]
            } else {
                $0.uniDirectionalLstm.inputVectorSize = 1
                $0.uniDirectionalLstm.outputVectorSize = 1
                $0.uniDirectionalLstm.params.sequenceOutput = true
                $0.uniDirectionalLstm.weightParams = weights(0)
            }
        }
        #expect(problem.failures() == [])
    }

    @Test(arguments: [RecurrentDirection.forward, .reverse, .bidirectional], [false, true])
    func gradient(_ direction: RecurrentDirection, _ returnsSequence: Bool) {
        let (s, b, i, h) = (4, 3, 2, 5)
        let width = direction == .bidirectional ? 2 * h : h
        let way: [GradientProblem.Operand] = [.real([4 * h, i]), .real([4 * h, h]), .real([4 * h]), .real([3 * h])]
        let plainWay: [GradientProblem.Operand] = [.real([4 * h, i]), .real([4 * h, h]), .none, .none]
        let x: [GradientProblem.Operand] = [.real([s, b, i]), .real([b, width]), .real([b, width])]
        let isBoth = direction == .bidirectional
        let op = LSTM(direction: direction, returnsSequence: returnsSequence)
        #expect(GradientProblem("", op, x + way + (isBoth ? way : [])).failures() == [])
        #expect(GradientProblem("plain", op, x + plainWay + (isBoth ? plainWay : [])).failures() == [])
        var other = op
        other.clip = 0.4
        #expect(GradientProblem("clipped", other, x + way + (isBoth ? way : [])).failures() == [])
        other.clip = 50
        other.couplesInputAndForget = true
        other.gateActivation = .hardSigmoid(alpha: 0.2, beta: 0.5)
        other.cellActivation = .scaledTanh(alpha: 1.1, beta: 0.9)
        #expect(GradientProblem("coupled", other, x + way + (isBoth ? way : [])).failures() == [])
        other.couplesInputAndForget = false
        #expect(GradientProblem("other functions", other, x + way + (isBoth ? way : [])).failures() == [])
    }

    /// Enough examples for several workers.
    @Test func gradientOfManyExamples() {
        let (s, b, i, h) = (2, 37, 2, 3)
        let operands: [GradientProblem.Operand] = [
            .real([s, b, i]), .real([b, h]), .real([b, h]), .real([4 * h, i]), .real([4 * h, h]), .none, .none,
        ]
        #expect(GradientProblem("", LSTM(returnsSequence: true), operands).failures() == [])
    }

    /// A network that learns gets what its gradient reads as a further result.
    @Test(arguments: [RecurrentDirection.forward, .reverse, .bidirectional]) func recording(
        direction: RecurrentDirection
    ) throws {
        var random = RandomTensors(seed: 3)
        let (steps, batch, inputs, states) = (3, 2, 4, 5)
        let directions = direction == .bidirectional ? 2 : 1
        var operands: [Tensor?] = [
            random.tensor([steps, batch, inputs]), random.tensor([batch, directions * states]),
            random.tensor([batch, directions * states]),
        ]
        for _ in 0..<directions {
            operands += [random.tensor([4 * states, inputs]), random.tensor([4 * states, states]), nil, nil]
        }
        let op = LSTM(direction: direction, returnsSequence: true)
        let recording = op.recording
        let found = try OperatorTrial.reference(recording, operands)
        let plain = try OperatorTrial.reference(op, operands)
        #expect(found.prefix(3).map(\.values) == plain.map(\.values))
        #expect(found[3].shape == [directions, steps, batch, 6, states])
        // Output gate times function of the cell state is the state.
        let values = found[3].values
        for part in 0..<directions {
            for time in 0..<steps {
                for item in 0..<batch {
                    let record = ((part * steps + time) * batch + item) * 6 * states
                    let step = direction == .reverse ? steps - 1 - time : time
                    let state = (step * batch + item) * directions * states + part * states
                    for unit in 0..<states {
                        let product = values[record + 2 * states + unit] * values[record + 4 * states + unit]
                        #expect(abs(product - plain[0].values[state + unit]) < 1e-6)
                    }
                }
            }
        }
        #expect((LSTM(cellActivation: .relu).recording as? LSTM) == LSTM(cellActivation: .relu))
    }
}
