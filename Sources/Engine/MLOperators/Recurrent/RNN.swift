package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

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
                let position = time * batch + item
                let inputs = x[position * sums.inputs..<(position + 1) * sums.inputs]
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

extension RNN: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("simpleRecurrent", \.simpleRecurrent) { layer, context throws(ModelError) in
                let (inputs, states) = (Int(clamping: layer.inputVectorSize), Int(clamping: layer.outputVectorSize))
                let op = RNN(
                    direction: layer.reverseInput ? .reverse : .forward,
                    returnsSequence: layer.sequenceOutput,
                    activation: try Activation(sum: layer.activation)
                )
                let x = try context.steps()
                let operands = [
                    x,
                    try context.state(1, width: states, like: x),
                    try context.weights(layer.weightMatrix, shape: [states, inputs], name: "weights"),
                    try context.weights(layer.recursionMatrix, shape: [states, states], name: "recursion"),
                    layer.hasBiasVector_p
                        ? try context.weights(layer.biasVector, shape: [states], name: "bias") : nil,
                ]
                try context.finish(steps: try context.append(op, operands))
            }
        ]
    }
}

extension RNN {
    package var halfPrecisionOperands: [Int] { [2, 3] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0)?.logicalShape, x.elementCount > 0,
            request.operand(1)?.scalarType == .float32, let first = request.operand(2),
            let second = request.operand(3),
            let bias = FloatSource(request, 4)
        else { return [] }
        guard let weightX = first.constant, let weightH = second.constant else {
            guard first.constant == nil, second.constant == nil, request.isAll(.float32) else {
                return []
            }
            return [packedAtRunTime(x, states: second.logicalShape[1], bias)]
        }
        guard weightX.isPackable, weightH.isPackable else { return [] }
        let states = weightH.shape[1]
        let kernel = kernel(x, states: states)
        return [
            Kernel("rnn", scratchByteCount: kernel.scratchByteCount, packedOperands: [2, 3]) {
                guard let input = packedMatrix(weightX, terms: x[2], columns: states, layout: .columnsByTerms),
                    let recurrent = packedMatrix(weightH, terms: states, columns: states, layout: .columnsByTerms)
                else { return nil }
                return { context in
                    kernel.run(
                        context.floats(0),
                        by: input,
                        recurrent: recurrent,
                        bias: bias.pointer(context),
                        h: context.floats(1),
                        into: context.resultFloats(0),
                        last: context.resultFloats(1),
                        scratch: context.scratchFloats
                    )
                }
            }
        ]
    }

    private func kernel(_ x: [Int], states: Int) -> RNNKernel {
        RNNKernel(
            steps: x[0],
            batch: x[1],
            inputs: x[2],
            states: states,
            isReverse: direction == .reverse,
            returnsSequence: returnsSequence,
            function: activation.kernelFunction
        )
    }

    /// The kernel for weights that are only known at run time.
    private func packedAtRunTime(_ x: [Int], states: Int, _ bias: FloatSource) -> Kernel {
        let kernel = kernel(x, states: states)
        return Kernel("rnn, packing", scratchByteCount: kernel.scratchByteCount) { context in
            kernel.run(
                context.floats(0),
                by: context.floats(2),
                recurrent: context.floats(3),
                bias: bias.pointer(context),
                h: context.floats(1),
                into: context.resultFloats(0),
                last: context.resultFloats(1),
                scratch: context.scratchFloats
            )
        }
    }
}

extension RNN: BackwardRecurrence, DifferentiableOperator {
    static var operandCount: Int { 5 }
    static var resultCount: Int { 2 }

    package func gradient(_ context: inout GradientContext) throws(ModelError) { try differentiate(&context) }

    var backward: RecurrentBackward {
        .rnn(
            RNNAttributes(
                isReverse: direction == .reverse,
                returnsSequence: returnsSequence,
                activation: activation.gateFunction
            )
        )
    }
}

extension RNN {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.recurrent(self, states: [1])
    }
}
