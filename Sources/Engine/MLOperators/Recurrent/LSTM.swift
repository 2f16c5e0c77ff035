package import MLGraph
package import MLNumerics

/// Long short-term memory. With σ, g, f the three functions, and peepholes p: i = σ(Wᵢx + Rᵢh + bᵢ + pᵢ·c), f = σ(W_f x
/// + R_f h + b_f + p_f·c), z = g(W_z x + R_z h + b_z), c ← clip(f·c + i·z), o = σ(W_o x + R_o h + b_o + p_o·c), h ← o ·
/// f(c).
///
/// Operands: x [S, B, I], initial h and c [B, D·H], weight [4H, I], state weight [4H, H], bias [4H]?, peephole [3H]?,
/// then the last four again for the backward direction of `bidirectional` (D = 2). Gates have the order i, f, o, z.
/// With the direction `reverse` the steps are returned in processing order, the last time first. Results: h of every
/// step [S, B, D·H], or of the last [1, B, D·H]; the last h and the last c, [B, D·H].
package struct LSTM: Operator {
    package static let names: [MILName] = ["lstm"]

    package var direction: RecurrentDirection
    package var returnsSequence: Bool
    /// σ: the function of the input, forget and output gates.
    package var gateActivation: Activation
    /// g: the function of the cell gate.
    package var cellActivation: Activation
    /// f: the function of the cell state before the output.
    package var activation: Activation
    /// The maximum magnitude of the cell state.
    package var clip: Double?
    /// Whether the forget gate is 1 − i and its weights are ignored.
    package var couplesInputAndForget: Bool

    package init(
        direction: RecurrentDirection = .forward,
        returnsSequence: Bool = false,
        gateActivation: Activation = .sigmoid,
        cellActivation: Activation = .tanh,
        activation: Activation = .tanh,
        clip: Double? = nil,
        couplesInputAndForget: Bool = false
    ) {
        self.direction = direction
        self.returnsSequence = returnsSequence
        self.gateActivation = gateActivation
        self.cellActivation = cellActivation
        self.activation = activation
        self.clip = clip
        self.couplesInputAndForget = couplesInputAndForget
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        for name in ["x", "initial_h", "initial_c", "weight_ih", "weight_hh"] { try arguments.operand(name) }
        for name in ["bias", "peephole", "weight_ih_back", "weight_hh_back", "bias_back", "peephole_back"] {
            arguments.optionalOperand(name)
        }
        let clip = arguments.has("clip") ? try arguments.float("clip") : nil
        guard clip ?? 1 > 0 else {
            throw ModelError(.invalidModel, "clip is \(clip ?? 0); cell states are bounded by a positive number")
        }
        self.init(
            direction: try RecurrentDirection(reading: &arguments, allowed: [.forward, .reverse, .bidirectional]),
            returnsSequence: try arguments.bool("output_sequence", default: false),
            gateActivation: try Activation(gate: "recurrent_activation", of: &arguments, default: "sigmoid"),
            cellActivation: try Activation(gate: "cell_activation", of: &arguments, default: "tanh"),
            activation: try Activation(gate: "activation", of: &arguments, default: "tanh"),
            clip: clip
        )
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let (length, batch, states) = try checkedRecurrence(operands, gates: 4, weights: (3, 4, 5))
        try checkVector(operands, 6, states.map { $0 * 3 }, "peephole")
        var width = states
        if direction == .bidirectional {
            _ = try checkedRecurrence(operands, gates: 4, weights: (7, 8, 9))
            try checkVector(operands, 10, states.map { $0 * 3 }, "peephole_back")
            width = states.map { $0 * 2 }
        }
        try checkState(operands, 1, batch, width)
        try checkState(operands, 2, batch, width)
        return [
            x.with([returnsSequence ? length : 1, batch, width]), x.with([batch, width]), x.with([batch, width]),
        ]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (length, batch) = (operands[0].shape[0], operands[0].shape[1])
        let states = operands[4].shape[1]
        let width = direction == .bidirectional ? 2 * states : states
        let x = operands[0].values
        let sequence = operands.shape(0)
        var h = Array(operands[1].values.prefix(batch * width))
        var c = Array(operands[2].values.prefix(batch * width))
        var all = [Double](repeating: 0, count: sequence.elementCount)
        let ways: [(isReverse: Bool, first: Int)] =
            switch direction {
            case .forward: [(false, 3)]
            case .reverse: [(true, 3)]
            case .bidirectional: [(false, 3), (true, 7)]
            }
        for (way, (isReverse, first)) in ways.enumerated() {
            let sums = RecurrentSums(operands[first], operands[first + 1], operands.optional(first + 2))
            let peephole = operands.optional(first + 3)?.values
            for item in 0..<batch {
                let place = item * width + way * states
                var hidden = Array(h[place..<place + states])
                var cell = Array(c[place..<place + states])
                for index in 0..<length {
                    let time = isReverse ? length - 1 - index : index
                    let start = (time * batch + item) * sums.inputs
                    step(sums, peephole, x[start..<start + sums.inputs], &hidden, &cell)
                    if returnsSequence {
                        let step = direction == .bidirectional ? time : index
                        let target = (step * batch + item) * width + way * states
                        all.replaceSubrange(target..<target + states, with: hidden)
                    }
                }
                h.replaceSubrange(place..<place + states, with: hidden)
                c.replaceSubrange(place..<place + states, with: cell)
            }
        }
        return [
            Tensor(values: returnsSequence ? all : h, scalarType: operands.scalarType(0), shape: sequence),
            Tensor(values: h, scalarType: operands.scalarType(1), shape: operands.shape(1)),
            Tensor(values: c, scalarType: operands.scalarType(2), shape: operands.shape(2)),
        ]
    }

    private func step(
        _ sums: RecurrentSums,
        _ peephole: [Double]?,
        _ x: ArraySlice<Double>,
        _ h: inout [Double],
        _ c: inout [Double]
    ) {
        let states = h.count
        let before = h
        for unit in 0..<states {
            func gate(_ index: Int) -> Double {
                sums.input(index * states + unit, x) + sums.state(index * states + unit, before)
            }
            func look(_ index: Int) -> Double { (peephole?[index * states + unit] ?? 0) * c[unit] }
            let input = gateActivation.apply(gate(0) + look(0))
            let forget = couplesInputAndForget ? 1 - input : gateActivation.apply(gate(1) + look(1))
            c[unit] = forget * c[unit] + input * cellActivation.apply(gate(3))
            if let clip { c[unit] = Swift.min(Swift.max(c[unit], -clip), clip) }
            h[unit] = gateActivation.apply(gate(2) + look(2)) * activation.apply(c[unit])
        }
    }
}
