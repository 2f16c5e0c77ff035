package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Gated recurrent unit.
///
/// With σ and g the two functions: r = σ(W_r x + R_r h + b_r), z = σ(W_z x + R_z h + b_z), o = g(W_o x + R_o (r·h) +
/// b_o), h ← (1 − z)·o + z·h. With `resetsAfter`, o = g(W_o x + a_o + r·(R_o h + b_o)), where a is the input bias.
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
                let position = time * batch + item
                hidden = step(sums, bias, x[position * sums.inputs..<(position + 1) * sums.inputs], hidden)
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
            let stateBias = bias?[row] ?? 0
            let recurrent =
                resetsAfter ? reset[unit] * (sums.state(row, h) + stateBias) : sums.state(row, kept) + stateBias
            let update = gate(2 * states + unit)
            return (1 - update) * activation.apply(sums.input(row, x) + recurrent) + update * h[unit]
        }
    }
}

extension GRU: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("gru", \.gru) { layer, context throws(ModelError) in
                let (inputs, states) = (Int(clamping: layer.inputVectorSize), Int(clamping: layer.outputVectorSize))
                var op = GRU(
                    direction: layer.reverseInput ? .reverse : .forward,
                    returnsSequence: layer.sequenceOutput
                )
                if layer.activations.count > 0 { op.gateActivation = try Activation(sum: layer.activations[0]) }
                if layer.activations.count > 1 { op.activation = try Activation(sum: layer.activations[1]) }
                let weights = [
                    layer.resetGateWeightMatrix, layer.outputGateWeightMatrix, layer.updateGateWeightMatrix,
                ]
                let recursion = [
                    layer.resetGateRecursionMatrix, layer.outputGateRecursionMatrix, layer.updateGateRecursionMatrix,
                ]
                let biases = [layer.resetGateBiasVector, layer.outputGateBiasVector, layer.updateGateBiasVector]
                let x = try context.steps()
                let operands = [
                    x,
                    try context.state(1, width: states, like: x),
                    try context.stacked(weights, shape: [states, inputs], name: "weights"),
                    try context.stacked(recursion, shape: [states, states], name: "recursion"),
                    layer.hasBiasVectors_p ? try context.stacked(biases, shape: [states], name: "bias") : nil,
                ]
                try context.finish(steps: try context.append(op, operands))
            }
        ]
    }
}

extension GRU {
    package var halfPrecisionOperands: [Int] { [2, 3] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        // With `resetsAfter`, operand 4 holds the state's bias alone, operand 5 the input's.
        guard request.computesFloats(), let x = request.operand(0)?.logicalShape,
            let states = request.operand(3)?.logicalShape[1], x.elementCount > 0, states > 0,
            request.operand(1)?.scalarType == .float32,
            let source = RecurrentSource(
                request,
                .gru(resetAfter: resetsAfter),
                weightX: 2,
                bias: 5,
                stateBias: 4,
                gateOrder: [2, 0, 1]
            )
        else { return [] }
        let memory = RecurrentRun(
            steps: x[0],
            batch: x[1],
            states: states,
            directions: 1,
            isReverse: direction == .reverse,
            returnsSequence: returnsSequence
        )
        let functions = (gateActivation.kernelFunction, activation.kernelFunction)
        @Sendable func run(_ weights: RecurrentWeights, _ context: KernelContext) {
            memory.run(
                [weights],
                x: context.floats(0),
                h: context.floats(1),
                c: nil,
                into: context.resultFloats(0),
                lastH: context.resultFloats(1),
                lastC: nil,
                scratch: context.scratchFloats
            ) { layer in
                layer.gateFunction = functions.0
                layer.cellFunction = functions.1
                layer.outputFunction = functions.1
            }
        }
        guard source.isConstant else {
            return [
                Kernel("gru, packing", scratchByteCount: memory.scratchByteCount) { context in
                    run(source.packed(context), context)
                }
            ]
        }
        return [
            Kernel("gru", scratchByteCount: memory.scratchByteCount, packedOperands: source.packedOperands) {
                guard let weights = source.packed() else { return nil }
                return { context in run(weights, context) }
            }
        ]
    }
}

extension GRU: BackwardRecurrence, DifferentiableOperator {
    static var operandCount: Int { 6 }
    static var resultCount: Int { 2 }

    package func gradient(_ context: inout GradientContext) throws(ModelError) { try differentiate(&context) }

    var backward: RecurrentBackward {
        .gru(
            GRUAttributes(
                isReverse: direction == .reverse,
                returnsSequence: returnsSequence,
                gateActivation: gateActivation.gateFunction,
                activation: activation.gateFunction,
                resetsAfter: resetsAfter
            )
        )
    }
}

extension GRU {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.recurrent(self, states: [1])
    }
}
