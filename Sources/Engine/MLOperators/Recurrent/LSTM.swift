package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// Long short-term memory. With σ, g, f the three functions, and peepholes p: i = σ(Wᵢx + Rᵢh + bᵢ + pᵢ·c), f = σ(W_f x
/// + R_f h + b_f + p_f·c), z = g(W_z x + R_z h + b_z), c ← clip(f·c + i·z), o = σ(W_o x + R_o h + b_o + p_o·c), h ← o ·
/// f(c).
///
/// Operands: x [S, B, I], initial h and c [B, D·H], weight [4H, I], state weight [4H, H], bias [4H]?, peephole [3H]?,
/// then the last four again for the backward direction of `bidirectional` (D = 2). Gates have the order i, f, o, z.
/// With the direction `reverse` the steps are returned in processing order, the last time first. Results: h of every
/// step [S, B, D·H], or of the last [1, B, D·H]; the last h and the last c, [B, D·H]; the record for the gradient if
/// wanted, [D, S, B, `LSTMRecord.vectorCount`, H] in the order of the steps.
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
    /// Whether a further result is what the gradient reads.
    private(set) var recordsStates = false

    /// Files have no networks that learn.
    private enum CodingKeys: CodingKey {
        case direction, returnsSequence, gateActivation, cellActivation, activation, clip, couplesInputAndForget
    }

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
            throw ModelError(.invalidModel, "clip must be positive, not \(clip ?? 0)")
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
        let types = [
            x.with([returnsSequence ? length : 1, batch, width]), x.with([batch, width]), x.with([batch, width]),
        ]
        guard recordsStates else { return types }
        let directions = Dimension(direction == .bidirectional ? 2 : 1)
        return types + [x.with([directions, length, batch, Dimension(LSTMRecord.vectorCount), states])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (length, batch, states) = (operands[0].shape[0], operands[0].shape[1], operands[4].shape[1])
        let width = direction == .bidirectional ? 2 * states : states
        let (x, sequence) = (operands[0].values, operands.shape(0))
        var h = Array(operands[1].values.prefix(batch * width))
        var c = Array(operands[2].values.prefix(batch * width))
        var all = [Double](repeating: 0, count: sequence.elementCount)
        let recordWidth = LSTMRecord.vectorCount * states
        var record = [Double](repeating: 0, count: recordsStates ? operands.shape(3).elementCount : 0)
        let directions: [(isReverse: Bool, first: Int)] =
            switch direction {
            case .forward: [(false, 3)]
            case .reverse: [(true, 3)]
            case .bidirectional: [(false, 3), (true, 7)]
            }
        for (part, (isReverse, first)) in directions.enumerated() {
            let sums = RecurrentSums(operands[first], operands[first + 1], operands.optional(first + 2))
            let peephole = operands.optional(first + 3)?.values
            for item in 0..<batch {
                let position = item * width + part * states
                var hidden = Array(h[position..<position + states])
                var cell = Array(c[position..<position + states])
                for index in 0..<length {
                    let time = isReverse ? length - 1 - index : index
                    let start = (time * batch + item) * sums.inputs
                    let values = step(sums, peephole, x[start..<start + sums.inputs], &hidden, &cell)
                    if recordsStates {
                        let row = (part * length + time) * batch + item
                        record.replaceSubrange(row * recordWidth..<(row + 1) * recordWidth, with: values)
                    }
                    if returnsSequence {
                        let step = direction == .bidirectional ? time : index
                        let target = (step * batch + item) * width + part * states
                        all.replaceSubrange(target..<target + states, with: hidden)
                    }
                }
                h.replaceSubrange(position..<position + states, with: hidden)
                c.replaceSubrange(position..<position + states, with: cell)
            }
        }
        let results = [
            Tensor(values: returnsSequence ? all : h, scalarType: operands.scalarType(0), shape: sequence),
            Tensor(values: h, scalarType: operands.scalarType(1), shape: operands.shape(1)),
            Tensor(values: c, scalarType: operands.scalarType(2), shape: operands.shape(2)),
        ]
        guard recordsStates else { return results }
        return results + [Tensor(values: record, scalarType: operands.scalarType(3), shape: operands.shape(3))]
    }

    /// Advances one example's states by a step, and returns the step's record.
    private func step(
        _ sums: RecurrentSums,
        _ peephole: [Double]?,
        _ x: ArraySlice<Double>,
        _ h: inout [Double],
        _ c: inout [Double]
    ) -> [Double] {
        let states = h.count
        let before = h
        var record = [Double](repeating: 0, count: LSTMRecord.vectorCount * states)
        for unit in 0..<states {
            func gate(_ index: Int) -> Double {
                sums.input(index * states + unit, x) + sums.state(index * states + unit, before)
            }
            func peepholeTerm(_ index: Int) -> Double { (peephole?[index * states + unit] ?? 0) * c[unit] }
            let input = gateActivation.apply(gate(0) + peepholeTerm(0))
            let forget = couplesInputAndForget ? 1 - input : gateActivation.apply(gate(1) + peepholeTerm(1))
            let candidate = cellActivation.apply(gate(3))
            c[unit] = forget * c[unit] + input * candidate
            if let clip { c[unit] = Swift.min(Swift.max(c[unit], -clip), clip) }
            let output = gateActivation.apply(gate(2) + peepholeTerm(2))
            let shown = activation.apply(c[unit])
            h[unit] = output * shown
            for (index, value) in [input, forget, output, candidate, shown, c[unit]].enumerated() {
                record[index * states + unit] = value
            }
        }
        return record
    }
}

extension LSTM: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("uniDirectionalLSTM", \.uniDirectionalLstm) { layer, context throws(ModelError) in
                let (inputs, states) = (Int(clamping: layer.inputVectorSize), Int(clamping: layer.outputVectorSize))
                var op = try LSTM(layer.params, layer.activations)
                op.direction = layer.reverseInput ? .reverse : .forward
                let x = try context.steps()
                let initial = [
                    try context.state(1, width: states, like: x), try context.state(2, width: states, like: x),
                ]
                let weights = try context.lstmWeights(layer.weightParams, layer.params, inputs, states, name: "")
                try context.finish(steps: try context.append(op, [x] + initial + weights))
            },
            LayerRule("biDirectionalLSTM", \.biDirectionalLstm) { layer, context throws(ModelError) in
                let (inputs, states) = (Int(clamping: layer.inputVectorSize), Int(clamping: layer.outputVectorSize))
                guard layer.weightParams.count == 2 else {
                    throw ModelError(.invalidModel, "\(layer.weightParams.count) sets of weights; two are needed")
                }
                var op = try LSTM(layer.params, layer.activationsForwardLstm)
                var opposite = try LSTM(layer.params, layer.activationsBackwardLstm)
                op.direction = .bidirectional
                opposite.direction = .bidirectional
                let x = try context.steps()
                // Inputs: h and c of the forward direction, then of the backward direction.
                func both(_ first: Int) throws(ModelError) -> ValueID {
                    try context.append(
                        Concat(axis: 1),
                        [
                            try context.state(first, width: states, like: x),
                            try context.state(first + 2, width: states, like: x),
                        ]
                    )[0]
                }
                let initial = [try both(1), try both(2)]
                let forward = try context.lstmWeights(
                    layer.weightParams[0],
                    layer.params,
                    inputs,
                    states,
                    name: "forward."
                )
                let backward = try context.lstmWeights(
                    layer.weightParams[1],
                    layer.params,
                    inputs,
                    states,
                    name: "backward."
                )
                guard op != opposite else {
                    let results = try context.append(op, [x] + initial + forward + backward)
                    let h = try context.append(Split(axis: 1, count: 2), [results[1]])
                    let c = try context.append(Split(axis: 1, count: 2), [results[2]])
                    try context.finish(steps: [results[0], h[0], c[0], h[1], c[1]])
                    return
                }
                // Each direction has its own functions.
                op.direction = .forward
                opposite.direction = .reverse
                func half(_ index: Int, _ part: Int) throws(ModelError) -> ValueID {
                    try context.append(Split(axis: 1, count: 2), [initial[index]])[part]
                }
                let there = try context.append(op, [x, try half(0, 0), try half(1, 0)] + forward)
                var back = try context.append(opposite, [x, try half(0, 1), try half(1, 1)] + backward)
                if op.returnsSequence { back[0] = try context.add(Reverse(axes: [0]), back[0]) }
                let steps = try context.append(Concat(axis: 2), [there[0], back[0]])[0]
                try context.finish(steps: [steps, there[1], there[2], back[1], back[2]])
            },
        ]
    }

    fileprivate init(_ layer: SpecLSTMParams, _ functions: [SpecActivationParams]) throws(ModelError) {
        self.init(
            returnsSequence: layer.sequenceOutput,
            clip: layer.cellClipThreshold > 0 ? Double(layer.cellClipThreshold) : 50,
            couplesInputAndForget: layer.coupledInputAndForgetGate
        )
        if functions.count > 0 { gateActivation = try Activation(sum: functions[0]) }
        if functions.count > 1 { cellActivation = try Activation(sum: functions[1]) }
        if functions.count > 2 { activation = try Activation(functions[2]) }
    }
}

extension LayerContext {
    /// Weights, recurrent weights, bias and peepholes of one direction, with gates in the order i, f, o, z.
    fileprivate mutating func lstmWeights(
        _ weights: SpecLSTMWeightParams,
        _ layer: SpecLSTMParams,
        _ inputs: Int,
        _ states: Int,
        name: String
    ) throws(ModelError) -> [ValueID?] {
        let matrices = [
            weights.inputGateWeightMatrix, weights.forgetGateWeightMatrix, weights.outputGateWeightMatrix,
            weights.blockInputWeightMatrix,
        ]
        let recursions = [
            weights.inputGateRecursionMatrix, weights.forgetGateRecursionMatrix, weights.outputGateRecursionMatrix,
            weights.blockInputRecursionMatrix,
        ]
        let biases = [
            weights.inputGateBiasVector, weights.forgetGateBiasVector, weights.outputGateBiasVector,
            weights.blockInputBiasVector,
        ]
        let peepholes = [
            weights.inputGatePeepholeVector, weights.forgetGatePeepholeVector, weights.outputGatePeepholeVector,
        ]
        var bias: ValueID?
        if layer.hasBiasVectors_p || layer.forgetBias {
            let provided = layer.hasBiasVectors_p ? biases : biases.map { _ in SpecWeightParams() }
            bias = try stacked(
                provided,
                shape: [states],
                name: name + "bias",
                adding: layer.forgetBias ? [0, 1, 0, 0] : []
            )
        }
        return [
            try stacked(matrices, shape: [states, inputs], name: name + "weights"),
            try stacked(recursions, shape: [states, states], name: name + "recursion"),
            bias,
            layer.hasPeepholeVectors_p ? try stacked(peepholes, shape: [states], name: name + "peephole") : nil,
        ]
    }
}

extension LSTM {
    package var halfPrecisionOperands: [Int] { [3, 4, 7, 8] }

    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        recordsStates ? nil : try context.recurrent(self, states: [1, 2])
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        let count = direction == .bidirectional ? 2 : 1
        guard request.computesFloats(), !couplesInputAndForget,
            let x = request.operand(0)?.logicalShape,
            let states = request.operand(4)?.logicalShape[1], x.elementCount > 0, states > 0,
            (1...2).allSatisfy({ request.operand($0)?.scalarType == .float32 }),
            let forward = RecurrentSource(request, .lstm, weightX: 3, bias: 5, peephole: 6)
        else { return [] }
        var sources = [forward]
        if count == 2 {
            guard let back = RecurrentSource(request, .lstm, weightX: 7, bias: 9, peephole: 10) else {
                return []
            }
            sources.append(back)
        }
        let memory = RecurrentRun(
            steps: x[0],
            batch: x[1],
            states: states,
            directions: count,
            isReverse: direction == .reverse,
            returnsSequence: returnsSequence
        )
        let functions = (gateActivation.kernelFunction, cellActivation.kernelFunction, activation.kernelFunction)
        let bound = clip.map { Float($0) } ?? 0
        let (final, recordsStates) = (sources, recordsStates)
        @Sendable func run(_ weights: [RecurrentWeights], _ context: KernelContext) {
            memory.run(
                weights,
                x: context.floats(0),
                h: context.floats(1),
                c: context.floats(2),
                into: context.resultFloats(0),
                lastH: context.resultFloats(1),
                lastC: context.resultFloats(2),
                record: recordsStates ? context.resultFloats(3) : nil,
                scratch: context.scratchFloats
            ) { layer in
                layer.gateFunction = functions.0
                layer.cellFunction = functions.1
                layer.outputFunction = functions.2
                layer.cellClip = bound
            }
        }
        guard final.allSatisfy(\.isConstant) else {
            return [
                Kernel("lstm, packing", scratchByteCount: memory.scratchByteCount) { context in
                    run(final.map { $0.packed(context) }, context)
                }
            ]
        }
        return [
            Kernel(
                "lstm",
                scratchByteCount: memory.scratchByteCount,
                packedOperands: final.flatMap(\.packedOperands)
            ) {
                let weights = final.compactMap { $0.packed() }
                guard weights.count == final.count else { return nil }
                return { context in run(weights, context) }
            }
        ]
    }
}

extension LSTM: BackwardRecurrence, DifferentiableOperator {
    static var operandCount: Int { 11 }
    static var resultCount: Int { 3 }

    package var recording: any DifferentiableOperator {
        var op = self
        op.recordsStates = attributes.followsFromRecord
        return op
    }

    package func gradient(_ context: inout GradientContext) throws(ModelError) { try differentiate(&context) }

    var backward: RecurrentBackward { .lstm(attributes) }

    private var attributes: LSTMAttributes {
        LSTMAttributes(
            isReverse: direction == .reverse,
            isBidirectional: direction == .bidirectional,
            returnsSequence: returnsSequence,
            gateActivation: gateActivation.gateFunction,
            cellActivation: cellActivation.gateFunction,
            activation: activation.gateFunction,
            clip: clip,
            couplesInputAndForget: couplesInputAndForget
        )
    }
}
