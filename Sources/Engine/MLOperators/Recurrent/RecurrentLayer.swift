import MLGraph
import MLNumerics
import MLSpecification

extension Activation {
    /// The function of a sum of weighted inputs, which layers clamp to −50 … 50 first.
    ///
    /// Only unbounded functions differ.
    init(sum function: SpecActivationParams) throws(ModelError) {
        let plain = try Activation(function)
        self =
            switch plain {
            case .none: .clip(low: -50, high: 50)
            case .relu: .clip(low: 0, high: 50)
            default: plain
            }
    }

    /// The function of a recurrent layer's gate.
    ///
    /// Files may leave its parameters out; MIL's defaults apply then.
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
            throw ModelError(
                .unsupported,
                "a recurrent layer's activation function cannot have a parameter for each channel"
            )
        }
    }
}

extension LayerContext {
    /// Input 0 as [S, B, C].
    mutating func steps() throws(ModelError) -> ValueID {
        try add(Regroup([.axis(0), .axis(1), .merged(2..<5)]), sequence(0))
    }

    /// The initial state in input `index` as [B, width]; zeros when the layer has no such input.
    mutating func state(_ index: Int, width: Int, like x: ValueID) throws(ModelError) -> ValueID {
        if index < inputs.count {
            guard width > 0 else {
                throw ModelError(.invalidModel, "the states have \(width) elements; at least one is needed")
            }
            // [1, B, width, 1, 1], or [B, width, 1, 1, 1] as coremltools writes it.
            let shape = builder.constant(Tensor([-1, Int32(clamping: width)], shape: [2]))
            return try add(Reshape(), sequence(index), shape)
        }
        guard let batch = shape(of: x)[1].count else {
            throw ModelError(
                .unsupported,
                "the batch size is unknown and there are no initial states; give the layer initial states"
            )
        }
        return builder.constant(Tensor(uninitialized: .float32, shape: try extents([batch, width]), zeroed: true))
    }

    /// Sets the outputs: the sequence [S, B, H], then states [B, H].
    mutating func finish(steps results: [ValueID]) throws(ModelError) {
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
    mutating func stacked(
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
}
