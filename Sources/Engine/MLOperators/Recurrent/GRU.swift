package import MLGraph
package import MLNumerics

/// Gated recurrent unit. With σ and g the two functions: r = σ(W_r x + R_r h + b_r), z = σ(W_z x + R_z h + b_z), o =
/// g(W_o x + R_o (r·h) + b_o), h ← (1 − z)·o + z·h. With `resetsAfter`, o = g(W_o x + a_o + r·(R_o h + b_o)), where a
/// is the input bias.
///
/// Operands: x [S, B, I], initial h [B, H], weight [3H, I], state weight [3H, H], bias [3H]?, input bias [3H]?, which
/// is added in every gate. Gates have the order r, o, z. With the direction `reverse` the steps are returned in
/// processing order, the last time first. Results: h of every step [S, B, H], or of the last [1, B, H]; the last h [B,
/// H].
package struct GRU: Operator {
    package static let names: [MILName] = ["gru"]

    package var direction: RecurrentDirection
    package var returnsSequence: Bool
    /// σ: the function of the reset and update gates.
    package var gateActivation: Activation
    /// g: the function of the output gate.
    package var activation: Activation
    package var resetsAfter: Bool

    package init(
        direction: RecurrentDirection = .forward,
        returnsSequence: Bool = false,
        gateActivation: Activation = .sigmoid,
        activation: Activation = .tanh,
        resetsAfter: Bool = false
    ) {
        self.direction = direction
        self.returnsSequence = returnsSequence
        self.gateActivation = gateActivation
        self.activation = activation
        self.resetsAfter = resetsAfter
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        for name in ["x", "initial_h", "weight_ih", "weight_hh"] { try arguments.operand(name) }
        arguments.optionalOperand("bias")
        arguments.optionalOperand("input_bias")
        self.init(
            direction: try RecurrentDirection(reading: &arguments, allowed: [.forward, .reverse]),
            returnsSequence: try arguments.bool("output_sequence", default: false),
            gateActivation: try Activation(gate: "recurrent_activation", of: &arguments, default: "sigmoid"),
            activation: try Activation(gate: "activation", of: &arguments, default: "tanh"),
            resetsAfter: try arguments.bool("reset_after", default: false)
        )
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let (length, batch, states) = try checkedRecurrence(operands, gates: 3, weights: (2, 3, 4))
        try checkVector(operands, 5, states.map { $0 * 3 }, "input_bias")
        try checkState(operands, 1, batch, states)
        return [x.with([returnsSequence ? length : 1, batch, states]), x.with([batch, states])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (length, batch) = (operands[0].shape[0], operands[0].shape[1])
        let sums = RecurrentSums(operands[2], operands[3], operands.optional(5))
        let bias = operands.optional(4)?.values
        let states = sums.states
        let x = operands[0].values
        let sequence = operands.shape(0)
        var h = Array(operands[1].values.prefix(batch * states))
        var all = [Double](repeating: 0, count: sequence.elementCount)
        for item in 0..<batch {
            var hidden = Array(h[item * states..<(item + 1) * states])
            for index in 0..<length {
                let time = direction == .reverse ? length - 1 - index : index
                let place = time * batch + item
                hidden = step(sums, bias, x[place * sums.inputs..<(place + 1) * sums.inputs], hidden)
                let target = (index * batch + item) * states
                if returnsSequence { all.replaceSubrange(target..<target + states, with: hidden) }
            }
            h.replaceSubrange(item * states..<(item + 1) * states, with: hidden)
        }
        return [
            Tensor(values: returnsSequence ? all : h, scalarType: operands.scalarType(0), shape: sequence),
            Tensor(values: h, scalarType: operands.scalarType(1), shape: operands.shape(1)),
        ]
    }

    private func step(
        _ sums: RecurrentSums,
        _ bias: [Double]?,
        _ x: ArraySlice<Double>,
        _ h: [Double]
    ) -> [Double] {
        let states = h.count
        func gate(_ row: Int) -> Double {
            gateActivation.apply(sums.input(row, x) + sums.state(row, h) + (bias?[row] ?? 0))
        }
        let reset = (0..<states).map { gate($0) }
        let kept = zip(reset, h).map { $0 * $1 }
        return (0..<states).map { unit in
            let row = states + unit
            let own = bias?[row] ?? 0
            let recurrent =
                resetsAfter ? reset[unit] * (sums.state(row, h) + own) : sums.state(row, kept) + own
            let update = gate(2 * states + unit)
            return (1 - update) * activation.apply(sums.input(row, x) + recurrent) + update * h[unit]
        }
    }
}
