import MLGraph
import MLNumerics
import MLSpecification

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
                func half(_ index: Int, _ way: Int) throws(ModelError) -> ValueID {
                    try context.append(Split(axis: 1, count: 2), [initial[index]])[way]
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

extension Activation {
    /// The function of a sum of weighted inputs, which layers clamp to −50 … 50 first. Only unbounded functions differ.
    init(sum function: SpecActivationParams) throws(ModelError) {
        let plain = try Activation(function)
        self =
            switch plain {
            case .none: .clip(low: -50, high: 50)
            case .relu: .clip(low: 0, high: 50)
            default: plain
            }
    }

    /// The function of a recurrent layer's gate. Files may leave its parameters out; MIL's defaults apply then.
    init(_ function: SpecActivationParams) throws(ModelError) {
        switch function.nonlinearityType {
        case .linear(let p):
            let isPlain = (p.alpha == 1 || p.alpha == 0) && p.beta == 0
            self = isPlain ? .none : .linear(alpha: Double(p.alpha), beta: Double(p.beta))
        case .reLu: self = .relu
        case .leakyReLu(let p): self = .leakyRelu(alpha: Double(p.alpha))
        case .thresholdedReLu(let p): self = .thresholdedRelu(alpha: Double(p.alpha))
        case .tanh: self = .tanh
        case .scaledTanh(let p):
            let isUnset = p.alpha == 0 && p.beta == 0
            self = .scaledTanh(alpha: isUnset ? 1 : Double(p.alpha), beta: isUnset ? 1 : Double(p.beta))
        case .sigmoid: self = .sigmoid
        case .sigmoidHard(let p):
            let isUnset = p.alpha == 0 && p.beta == 0
            self = .hardSigmoid(alpha: isUnset ? 0.2 : Double(p.alpha), beta: isUnset ? 0.5 : Double(p.beta))
        case .elu(let p): self = .elu(alpha: Double(p.alpha))
        case .softsign: self = .softsign
        case .softplus: self = .softplus
        case .preLu, .parametricSoftplus, nil:
            throw ModelError(.unsupported, "a recurrent layer's function with a parameter for each channel")
        }
    }
}

extension LayerContext {
    /// Input 0 as [S, B, C].
    fileprivate mutating func steps() throws(ModelError) -> ValueID {
        try add(Regroup([.axis(0), .axis(1), .merged(2..<5)]), sequence(0))
    }

    /// The initial state in input `index` as [B, width]; zeros when the layer has no such input.
    fileprivate mutating func state(_ index: Int, width: Int, like x: ValueID) throws(ModelError) -> ValueID {
        if index < inputs.count {
            guard width > 0 else {
                throw ModelError(.invalidModel, "states of \(width) elements; at least one is needed")
            }
            // [1, B, width, 1, 1], or [B, width, 1, 1, 1] as coremltools writes it.
            let shape = builder.constant(Tensor([-1, Int32(clamping: width)], shape: [2]))
            return try add(Reshape(), sequence(index), shape)
        }
        guard let batch = shape(of: x)[1].count else {
            throw ModelError(.unsupported, "a batch of unknown size without initial states; give the layer states")
        }
        return builder.constant(Tensor(uninitialized: .float32, shape: try extents([batch, width]), zeroed: true))
    }

    /// Sets the outputs: the sequence [S, B, H], then states [B, H].
    fileprivate mutating func finish(steps results: [ValueID]) throws(ModelError) {
        let original = try input()
        var outputs: [ValueID] = []
        for (index, result) in results.enumerated().prefix(max(1, layer.output.count)) {
            let axes: [Regroup.Axis] =
                index == 0
                ? [.axis(0), .axis(1), .axis(2), .one, .one] : [.one, .axis(0), .axis(1), .one, .one]
            outputs.append(try blob(fromSequence: try add(Regroup(axes), result), like: original))
        }
        try setOutputs(outputs)
    }

    /// Weight fields of the same shape, concatenated along the first axis.
    fileprivate mutating func stacked(
        _ fields: [SpecWeightParams],
        shape: [Int],
        name: String,
        adding offsets: [Float] = []
    ) throws(ModelError) -> ValueID {
        var tensors: [Tensor] = []
        for (index, field) in fields.enumerated() {
            let isMissing = field.isEmpty && index < offsets.count
            let tensor = try withErrorContext(name) { () throws(ModelError) in
                isMissing
                    ? Tensor(uninitialized: .float32, shape: try extents(shape), zeroed: true)
                    : try weightTensor(field, shape: shape)
            }
            let offset = index < offsets.count ? Double(offsets[index]) : 0
            tensors.append(
                offset == 0
                    ? tensor
                    : Tensor(values: tensor.values.map { $0 + offset }, scalarType: .float32, shape: shape)
            )
        }
        let type: ScalarType = tensors.allSatisfy { $0.scalarType == .float16 } ? .float16 : .float32
        let whole = Tensor(uninitialized: type, shape: [shape[0] * fields.count] + shape.dropFirst())
        var offset = 0
        for tensor in tensors.map({ $0.converted(to: type) }) {
            (whole.address + offset).copyMemory(from: tensor.address, byteCount: tensor.byteCount)
            offset += tensor.byteCount
        }
        return builder.constant(whole, name: layer.name + "." + name)
    }

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
            let given = layer.hasBiasVectors_p ? biases : biases.map { _ in SpecWeightParams() }
            bias = try stacked(
                given,
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
