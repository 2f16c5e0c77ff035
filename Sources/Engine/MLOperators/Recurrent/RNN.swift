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
            return [atRunTime(x, states: second.logicalShape[1], bias)]
        }
        guard weightX.isPackable, weightH.isPackable else { return [] }
        let (steps, batch, states) = (x[0], x[1], weightH.shape[1])
        let function = activation.kernelFunction
        let sums = steps * batch * states
        let isReverse = direction == .reverse
        let returnsSequence = returnsSequence
        return [
            Kernel("rnn", scratchByteCount: (sums + 2 * batch * states) * 4, packedOperands: [2, 3]) {
                guard let input = packedMatrix(weightX, terms: x[2], columns: states, layout: .columnsByTerms),
                    let recurrent = packedMatrix(weightH, terms: states, columns: states, layout: .columnsByTerms)
                else { return nil }
                return { context in
                    let projected = context.scratchFloats
                    MatMulKernel.multiply(
                        context.floats(0),
                        rows: steps * batch,
                        by: input,
                        into: projected,
                        epilogue: Epilogue(bias: bias.pointer(context))
                    )
                    var state = context.floats(1)
                    for index in 0..<steps {
                        let time = isReverse ? steps - 1 - index : index
                        let next =
                            returnsSequence
                            ? context.resultFloats() + index * batch * states
                            : projected + sums + index % 2 * batch * states
                        MatMulKernel.multiply(
                            state,
                            rows: batch,
                            by: recurrent,
                            into: next,
                            epilogue: Epilogue(residual: projected + time * batch * states, function: function)
                        )
                        state = UnsafePointer(next)
                    }
                    context.resultFloats(1).update(from: state, count: batch * states)
                    if !returnsSequence { context.resultFloats(0).update(from: state, count: batch * states) }
                }
            }
        ]
    }

    /// The kernel for weights that are only known at run time.
    private func atRunTime(_ x: [Int], states: Int, _ bias: FloatSource) -> Kernel {
        let (steps, batch) = (x[0], x[1])
        let sums = steps * batch * states
        let function = activation.kernelFunction
        let isReverse = direction == .reverse
        let returnsSequence = returnsSequence
        return Kernel("rnn, packing", scratchByteCount: (sums + 2 * batch * states) * 4) { context in
            let projected = context.scratchFloats
            MatMulKernel.multiply(
                context.floats(0),
                MatMulKernel.RightHandSide(address: context.floats(2), termStride: 1, columnStride: x[2]),
                into: projected,
                rows: steps * batch,
                terms: x[2],
                columns: states,
                epilogue: Epilogue(bias: bias.pointer(context))
            )
            var state = context.floats(1)
            for index in 0..<steps {
                let time = isReverse ? steps - 1 - index : index
                let next =
                    returnsSequence
                    ? context.resultFloats() + index * batch * states
                    : projected + sums + index % 2 * batch * states
                MatMulKernel.multiply(
                    state,
                    MatMulKernel.RightHandSide(
                        address: context.floats(3),
                        termStride: 1,
                        columnStride: states
                    ),
                    into: next,
                    rows: batch,
                    terms: states,
                    columns: states,
                    epilogue: Epilogue(residual: projected + time * batch * states, function: function)
                )
                state = UnsafePointer(next)
            }
            context.resultFloats(1).update(from: state, count: batch * states)
            if !returnsSequence { context.resultFloats(0).update(from: state, count: batch * states) }
        }
    }
}

extension RNN: BackwardRecurrence, DifferentiableOperator {
    static var operandCount: Int { 5 }
    static var resultCount: Int { 2 }

    package func gradient(_ context: inout GradientContext) throws(ModelError) { try differentiate(&context) }

    func backwardScratchCount(_ shapes: [[Int]?]) -> Int {
        let x = shapes[0] ?? []
        let states = shapes[3]?[1] ?? 0
        return (5 * x.prefix(2).reduce(1, *) + (x.count > 1 ? x[1] : 0)) * states
    }

    func runBackwards<Scalar: BackwardScalar>(_ run: BackwardRun<Scalar>) {
        let (length, batch) = (run.shape(0)[0], run.shape(0)[1])
        let states = run.shape(3)[1]
        let rows = length * batch
        guard rows * states > 0, let recursion = run.operands[3], let h = run.operands[1] else { return }
        let sums = run.scratch
        let values = sums + rows * states
        let before = values + rows * states
        let flow = before + rows * states
        let turned = flow + rows * states
        let hidden = turned + rows * states
        func time(_ index: Int) -> Int { direction == .reverse ? length - 1 - index : index }
        run.inputSums(into: sums, rows: rows, gates: states, weight: 2, bias: 4)
        hidden.update(from: h, count: batch * states)
        for index in 0..<length {
            let start = time(index) * batch * states
            (before + start).update(from: hidden, count: batch * states)
            Scalar.multiply(
                hidden,
                recursion,
                termStride: 1,
                columnStride: states,
                into: sums + start,
                rows: batch,
                terms: states,
                columns: states,
                adds: true
            )
            Scalar.apply(activation, sums + start, into: values + start, count: batch * states)
            hidden.update(from: values + start, count: batch * states)
        }
        // From here on the current state's buffer holds its gradient.
        for place in 0..<batch * states {
            var total = run.flows[1]?[place] ?? 0
            if !returnsSequence { total += run.flows[0]?[place] ?? 0 }
            hidden[place] = total
        }
        for index in (0..<length).reversed() {
            let start = time(index) * batch * states
            for place in 0..<batch * states {
                if returnsSequence, let steps = run.flows[0] { hidden[place] += steps[index * batch * states + place] }
                flow[start + place] = hidden[place] * activation.derivative(sums[start + place], values[start + place])
            }
            Scalar.multiply(
                flow + start,
                recursion,
                termStride: states,
                columnStride: 1,
                into: hidden,
                rows: batch,
                terms: states,
                columns: states,
                adds: false
            )
        }
        run.gradients[1]?.update(from: hidden, count: batch * states)
        run.addWeights(
            sums: flow,
            turned: turned,
            hidden: before,
            rows: rows,
            gates: states,
            weight: 2,
            stateWeight: 3,
            bias: 4
        )
    }
}
