package import MLGraph
package import MLNumerics

/// A convolution whose weight is stored as 8-bit integers: weight = stored · scale + offset for `linear`.
///
/// Operands: x, stored weight, bias?, scale, offset; the last two are scalars or hold one value for each output
/// channel. Stands for a `Convolution` with the decoded weight.
package struct ConvolutionQuantized: Operator {
    package static let names: [MILName] = ["conv_quantized"]

    package var convolution: Convolution

    package init(_ convolution: Convolution) { self.convolution = convolution }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("weight")
        arguments.optionalOperand("bias")
        try arguments.operand("quant_scale")
        try arguments.operand("quant_bias")
        let kind = try arguments.string("quantization_type")
        guard kind == "linear" else {
            throw ModelError(
                .unsupported,
                "quantization_type '\(kind)' of conv_quantized is not supported; convert the model with 'linear'"
            )
        }
        arguments.ignore("nbits")
        convolution = try Convolution(window: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        try convolution.resultTypes(
            of: Operands([
                Operands.Operand(type: try operands.type(0)), Operands.Operand(type: try operands.type(1)),
                operands.has(2) ? Operands.Operand(type: try operands.type(2)) : nil,
            ])
        )
    }

    package func expansion(_ operands: [ValueID?], in builder: inout GraphBuilder) throws(ModelError) -> [ValueID]? {
        guard operands.count == 5, let x = operands[0], let stored = operands[1].flatMap({ builder.constant($0) }),
            let scale = operands[3].flatMap({ builder.constant($0) }),
            let offset = operands[4].flatMap({ builder.constant($0) })
        else {
            throw ModelError(.unsupported, "conv_quantized needs its weight, quant_scale and quant_bias as constants")
        }
        let channels = stored.shape[0]
        guard [1, channels].contains(scale.count), [1, channels].contains(offset.count) else {
            throw ModelError(
                .invalidModel,
                "quant_scale and quant_bias must have 1 or \(channels) values, not \(scale.count) and \(offset.count)"
            )
        }
        let scales = scale.values
        let offsets = offset.values
        let perChannel = Swift.max(stored.count / Swift.max(channels, 1), 1)
        let decoded = stored.values.enumerated().map { index, value in
            value * scales[scales.count == 1 ? 0 : index / perChannel]
                + offsets[offsets.count == 1 ? 0 : index / perChannel]
        }
        let weight = builder.constant(Tensor(values: decoded, scalarType: scale.scalarType, shape: stored.shape))
        return try builder.append(convolution, [x, weight, operands[2]])
    }
}
