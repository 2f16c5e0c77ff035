import MLKernels
import Testing

extension KernelTests {
    @Suite struct RecurrentKernelTests {
        @Test(arguments: [RecurrentWeights.Cell.lstm, .gru(resetAfter: false), .gru(resetAfter: true)], [false, true])
        func matchesPlainLoops(cell: RecurrentWeights.Cell, half: Bool) {
            for (steps, batch, inputSize, hidden, peephole) in [
                (1, 1, 1, 1, false), (4, 2, 5, 33, true), (3, 6, 20, 70, false),
            ] {
                var source = NumberSource(seed: UInt64(hidden))
                let gates = cell.gateCount
                func weights(_ count: Int) -> ([Float], [UInt16]) {
                    let values = source.floats(count).map { $0 / 2 }
                    let bits = values.map { Float16($0).bitPattern }
                    return (half ? bits.map { Float(Float16(bitPattern: $0)) } : values, bits)
                }
                let x = source.floats(steps * batch * inputSize)
                let (w, wBits) = weights(gates * hidden * inputSize)
                let (r, rBits) = weights(gates * hidden * hidden)
                let (bias, stateBias) = (source.floats(gates * hidden), source.floats(gates * hidden))
                let peepholes = peephole && cell == .lstm ? source.floats(3 * hidden) : []
                let (h0, c0) = (source.floats(batch * hidden), source.floats(batch * hidden))
                let order = cell == .lstm ? [0, 1, 3, 2] : [1, 0, 2]
                for reverse in [false, true] {
                    let expected = plain(
                        cell,
                        steps: steps,
                        batch: batch,
                        inputSize: inputSize,
                        hidden: hidden,
                        x: x,
                        w: w,
                        r: r,
                        bias: bias,
                        stateBias: stateBias,
                        peepholes: peepholes,
                        h: h0,
                        c: c0,
                        order: order,
                        reverse: reverse
                    )
                    forEachInstructionSet { set in
                        let packed = RecurrentWeights(
                            cell,
                            inputSize: inputSize,
                            hiddenSize: hidden,
                            inputWeights: half ? .half(pointer(wBits)) : .single(pointer(w)),
                            recurrentWeights: half ? .half(pointer(rBits)) : .single(pointer(r)),
                            bias: bias,
                            recurrentBias: stateBias,
                            gateOrder: order,
                            peepholes: peepholes
                        )
                        var (h, c) = (h0, c0)
                        var (h2, c2) = (h0, c0)
                        var y = [Float](repeating: 99, count: steps * batch * 2 * hidden)
                        y.withUnsafeMutableBufferPointer { y in
                            h.withUnsafeMutableBufferPointer { h in
                                c.withUnsafeMutableBufferPointer { c in
                                    h2.withUnsafeMutableBufferPointer { h2 in
                                        c2.withUnsafeMutableBufferPointer { c2 in
                                            var layer = RecurrentKernel.Layer(
                                                packed,
                                                steps: steps,
                                                batch: batch,
                                                x: pointer(x),
                                                h: h.baseAddress!,
                                                c: c.baseAddress!,
                                                y: y.baseAddress!,
                                                yStride: 2 * hidden
                                            )
                                            layer.isReverse = reverse
                                            var second = layer
                                            second.h = h2.baseAddress!
                                            second.c = c2.baseAddress!
                                            second.y = y.baseAddress! + hidden
                                            RecurrentKernel.run([layer, second])
                                        }
                                    }
                                }
                            }
                        }
                        let lefts = y.indices.filter { $0 % (2 * hidden) < hidden }.map { y[$0] }
                        let rights = y.indices.filter { $0 % (2 * hidden) >= hidden }.map { y[$0] }
                        #expect(worstError(lefts, expected.y) < 5e-6, "\(set) \(cell) \(hidden) \(reverse)")
                        #expect(lefts == rights)
                        #expect(worstError(h, expected.h) < 5e-6, "\(set)")
                        if cell == .lstm { #expect(worstError(c, expected.c) < 5e-6, "\(set)") }
                    }
                }
            }
        }

        /// The backward pass from what a layer recorded, beside the plain one, which computes the states again.
        @Test(arguments: [(2, false), (20, false), (20, true)], [false, true])
        func backwardPass(form: (batch: Int, peephole: Bool), isReverse: Bool) {
            let (steps, batch, inputs, states) = (3, form.batch, 4, 19)
            var source = NumberSource(seed: 5)
            let (rows, gates) = (steps * batch, 4 * states)
            let x = source.floats(rows * inputs)
            let (h, c) = (source.floats(batch * states), source.floats(batch * states))
            let (w, r) = (source.floats(gates * inputs), source.floats(gates * states).map { $0 / 4 })
            let bias = source.floats(gates)
            let peepholes = form.peephole ? source.floats(3 * states) : nil
            let flow = [source.floats(rows * states), source.floats(batch * states), source.floats(batch * states)]
            // Small enough that some cell states are clipped.
            let clip = 0.6
            func function(_ kernel: UnaryFunction, _ derivative: GateFunction.Derivative) -> GateFunction {
                GateFunction(kernel, plain: { reference(kernel, $0) }, derivative: derivative)
            }
            let backward = RecurrentBackward.lstm(
                LSTMAttributes(
                    isReverse: isReverse,
                    isBidirectional: false,
                    returnsSequence: true,
                    gateActivation: function(.sigmoid, .sigmoid),
                    cellActivation: function(.tanh, .tanh),
                    activation: function(.identity, .identity),
                    clip: clip,
                    couplesInputAndForget: false
                )
            )
            let operands: [[Float]?] = [x, h, c, w, r, bias, peepholes] + [nil, nil, nil, nil]
            let shapes: [[Int]?] =
                [
                    [steps, batch, inputs], [batch, states], [batch, states], [gates, inputs], [gates, states], [gates],
                    peepholes.map { [$0.count] },
                ] + [nil, nil, nil, nil]
            func widened(_ list: [Float]?) -> [Double]? { list?.map { Double($0) } }
            let expected = backward.gradients(
                shapes: shapes,
                operands: operands.map(widened),
                resultGradients: flow.map(widened)
            )
            forEachInstructionSet { set in
                let weights = RecurrentWeights(
                    .lstm,
                    inputSize: inputs,
                    hiddenSize: states,
                    inputWeights: .single(pointer(w)),
                    recurrentWeights: .single(pointer(r)),
                    bias: bias,
                    peepholes: peepholes ?? []
                )
                func memory(_ count: Int) -> UnsafeMutablePointer<Float> {
                    UnsafeMutablePointer(mutating: pointer([Float](repeating: .nan, count: count)))
                }
                let record = memory(rows * LSTMRecord.vectorCount * states)
                var layer = RecurrentKernel.Layer(
                    weights,
                    steps: steps,
                    batch: batch,
                    x: pointer(x),
                    h: UnsafeMutablePointer(mutating: pointer(h)),
                    c: UnsafeMutablePointer(mutating: pointer(c))
                )
                layer.isReverse = isReverse
                layer.outputFunction = .identity
                layer.cellClip = Float(clip)
                layer.record = record
                RecurrentKernel.run([layer])
                // With the record, and with states that are computed again.
                for given in [record, nil] {
                    let gradients = operands.map { $0.map { memory($0.count) } }
                    backward.run(
                        shapes: shapes,
                        operands: operands.map { $0.map(pointer) },
                        resultGradients: flow.map(pointer),
                        gradients: gradients,
                        record: given.map { UnsafePointer($0) },
                        scratch: memory(backward.scratchCount(shapes, isRecorded: given != nil))
                    )
                    for (index, list) in expected.enumerated() {
                        guard let list, let gradient = gradients[index] else { continue }
                        let found = UnsafeBufferPointer(start: gradient, count: list.count)
                        #expect(worstError(found, list) < 1e-5, "\(set), operand \(index), \(given == nil)")
                    }
                }
            }
        }

        private func plain(
            _ cell: RecurrentWeights.Cell,
            steps: Int,
            batch: Int,
            inputSize: Int,
            hidden: Int,
            x: [Float],
            w: [Float],
            r: [Float],
            bias: [Float],
            stateBias: [Float],
            peepholes: [Float],
            h: [Float],
            c: [Float],
            order: [Int],
            reverse: Bool
        ) -> (y: [Double], h: [Double], c: [Double]) {
            var (h, c) = (h.map(Double.init), c.map(Double.init))
            var y = [Double](repeating: 0, count: steps * batch * hidden)
            for index in 0..<steps {
                let step = reverse ? steps - 1 - index : index
                var next = h
                for item in 0..<batch {
                    func input(_ gate: Int, _ unit: Int) -> Double {
                        let row = order[gate] * hidden + unit
                        return (0..<inputSize).reduce(Double(bias[row])) {
                            $0 + Double(w[row * inputSize + $1]) * Double(x[(step * batch + item) * inputSize + $1])
                        }
                    }
                    func state(_ gate: Int, _ unit: Int, _ values: [Double]) -> Double {
                        let row = order[gate] * hidden + unit
                        return (0..<hidden).reduce(Double(stateBias[row])) {
                            $0 + Double(r[row * hidden + $1]) * values[item * hidden + $1]
                        }
                    }
                    func sigmoid(_ x: Double) -> Double { reference(.sigmoid, x) }
                    func tanh(_ x: Double) -> Double { reference(.tanh, x) }
                    func peep(_ gate: Int, _ unit: Int, _ c: Double) -> Double {
                        peepholes.isEmpty ? 0 : Double(peepholes[gate * hidden + unit]) * c
                    }
                    var reset = h
                    if cell != .lstm {
                        for unit in 0..<hidden {
                            reset[item * hidden + unit] *= sigmoid(input(1, unit) + state(1, unit, h))
                        }
                    }
                    for unit in 0..<hidden {
                        let at = item * hidden + unit
                        switch cell {
                        case .lstm:
                            let i = sigmoid(input(0, unit) + state(0, unit, h) + peep(0, unit, c[at]))
                            let f = sigmoid(input(1, unit) + state(1, unit, h) + peep(1, unit, c[at]))
                            let candidate = tanh(input(3, unit) + state(3, unit, h))
                            c[at] = f * c[at] + i * candidate
                            let o = sigmoid(input(2, unit) + state(2, unit, h) + peep(2, unit, c[at]))
                            next[at] = o * tanh(c[at])
                        case .gru(let resetAfter):
                            let z = sigmoid(input(0, unit) + state(0, unit, h))
                            let gate = sigmoid(input(1, unit) + state(1, unit, h))
                            let candidate = tanh(
                                input(2, unit) + (resetAfter ? gate * state(2, unit, h) : state(2, unit, reset))
                            )
                            next[at] = (1 - z) * candidate + z * h[at]
                        }
                        y[(step * batch + item) * hidden + unit] = next[at]
                    }
                }
                h = next
            }
            return (y, h, c)
        }
    }
}
