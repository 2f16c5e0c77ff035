package import MLGraph
package import MLNumerics
package import MLSpecification

extension LayerContext {
    /// `x` after one of the thirteen functions of the specification's activations.
    package mutating func activation(_ parameters: SpecActivationParams, of x: ValueID) throws(ModelError) -> ValueID {
        switch parameters.nonlinearityType {
        case .linear(let p):
            try add(Unary(LinearActivation(alpha: Double(p.alpha), beta: Double(p.beta))), x)
        case .reLu: try add(Unary(Relu()), x)
        case .leakyReLu(let p): try add(Unary(LeakyRelu(alpha: Double(p.alpha))), x)
        case .thresholdedReLu(let p): try add(Unary(ThresholdedRelu(alpha: Double(p.alpha))), x)
        case .tanh: try add(Unary(Tanh()), x)
        case .scaledTanh(let p):
            try add(Unary(ScaledTanh(alpha: Double(p.alpha), beta: Double(p.beta))), x)
        case .sigmoid: try add(Unary(Sigmoid()), x)
        case .sigmoidHard(let p):
            try add(Unary(HardSigmoid(alpha: Double(p.alpha), beta: Double(p.beta))), x)
        case .elu(let p): try add(Unary(Elu(alpha: Double(p.alpha))), x)
        case .softsign: try add(Unary(Softsign()), x)
        case .softplus: try add(Unary(Softplus()), x)
        case .preLu(let p): try channelwise(PRelu(), x, [("alpha", p.alpha)])
        case .parametricSoftplus(let p):
            try channelwise(ParametricSoftplus(), x, [("alpha", p.alpha), ("beta", p.beta)])
        case nil: throw ModelError(.invalidModel, "the activation layer has no function")
        }
    }

    /// Applies `op` to `x` with one parameter per channel (axis −3); a single parameter applies to all channels.
    private mutating func channelwise(
        _ op: some Operator,
        _ x: ValueID,
        _ parameters: [(name: String, values: SpecWeightParams)]
    ) throws(ModelError) -> ValueID {
        let isFlat = rank(of: x) < 3
        // Without rows and columns the channels come last.
        let image = isFlat ? try add(Regroup((0..<rank(of: x)).map { .axis($0) } + [.one, .one]), x) : x
        let merged = try merged(image, keeping: 3)
        guard let channels = shape(of: merged)[1].count else {
            throw ModelError(
                .unsupported,
                "an activation with parameters for each channel needs a fixed number of channels"
            )
        }
        var operands: [ValueID?] = [merged]
        for (name, values) in parameters {
            let count = values.valueCount
            var tensor = try withErrorContext(name) { () throws(ModelError) in try weightTensor(values, shape: [count])
            }
            if count == 1, channels != 1 {
                tensor = Tensor(repeating: tensor.values[0], .float32, shape: [channels])
            }
            operands.append(builder.constant(tensor, name: layer.name + "." + name))
        }
        let result = try restored(try append(op, operands)[0], like: image, keeping: 3)
        return isFlat ? try add(Regroup((0..<rank(of: x)).map { .axis($0) }), result) : result
    }
}

extension SpecWeightParams {
    /// The number of values in the field.
    var valueCount: Int {
        if !floatValue.isEmpty { return floatValue.count }
        if let bytes = float16Bytes { return bytes.count / 2 }
        if let placed { return placed.byteCount / placed.field.valueByteCount }
        return int8Bytes?.count ?? rawBytes?.count ?? 0
    }
}
