package import MLGraph
package import MLNumerics

/// The simple recurrent network: h ← f(W x + R h + b).
///
/// Operands: x [S, B, I], initial h [B, H], weight [H, I], state weight [H, H], bias [H]?. With the direction `reverse`
/// the steps are returned in processing order, the last time first. Results: h of every step [S, B, H], or of the last
/// [1, B, H]; the last h [B, H].
package struct RNN: Operator {
    package static let names: [MILName] = ["rnn"]

    package var direction: RecurrentDirection
    package var returnsSequence: Bool
    package var activation: Activation

    package init(
        direction: RecurrentDirection = .forward,
        returnsSequence: Bool = false,
        activation: Activation = .tanh
    ) {
        self.direction = direction
        self.returnsSequence = returnsSequence
        self.activation = activation
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        for name in ["x", "initial_h", "weight_ih", "weight_hh"] { try arguments.operand(name) }
        arguments.optionalOperand("bias")
        self.init(
            direction: try RecurrentDirection(reading: &arguments, allowed: [.forward, .reverse]),
            returnsSequence: try arguments.bool("output_sequence", default: false),
            activation: try Activation(gate: "activation", of: &arguments, default: "tanh")
        )
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let (length, batch, states) = try checkedRecurrence(operands, gates: 1, weights: (2, 3, 4))
        try checkState(operands, 1, batch, states)
        return [x.with([returnsSequence ? length : 1, batch, states]), x.with([batch, states])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (length, batch) = (operands[0].shape[0], operands[0].shape[1])
        let sums = RecurrentSums(operands[2], operands[3], operands.optional(4))
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
                let inputs = x[place * sums.inputs..<(place + 1) * sums.inputs]
                let before = hidden
                hidden = (0..<states).map { activation.apply(sums.input($0, inputs) + sums.state($0, before)) }
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
}
