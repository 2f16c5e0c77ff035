package import MLGraph
package import MLNumerics

/// Normalisation by stored statistics: y = (x − mean) / √(variance + epsilon) · gamma + beta, one value for each
/// index of axis 1.
///
/// Operands: x [N, C, …], mean [C], variance [C], gamma [C]?, beta [C]?.  Result: like x.
package struct BatchNorm: Operator {
    package static let names: [MILName] = ["batch_norm"]

    package var epsilon: Double

    package init(epsilon: Double = 1e-5) { self.epsilon = epsilon }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("mean")
        try arguments.operand("variance")
        arguments.optionalOperand("gamma")
        arguments.optionalOperand("beta")
        epsilon = try arguments.float("epsilon", default: 1e-5)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard x.rank >= 2 else { throw ModelError(.invalidModel, "batch_norm needs x of rank 2 or more, not \(x)") }
        for (index, name) in ["x", "mean", "variance", "gamma", "beta"].enumerated().dropFirst() {
            try checkVector(operands, index, x.shape[1], name)
        }
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let line = Self.line(
            mean: operands[1],
            variance: operands[2],
            gamma: operands.optional(3),
            beta: operands.optional(4),
            epsilon: epsilon
        )
        let inner = x.shape.dropFirst(2).reduce(1, *)
        var values = x.values
        for index in values.indices {
            let channel = index / inner % x.shape[1]
            values[index] = values[index] * line.scale[channel] + line.offset[channel]
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: x.shape)]
    }

    /// The linear function x · scale + offset of each channel.
    package static func line(
        mean: Tensor,
        variance: Tensor,
        gamma: Tensor?,
        beta: Tensor?,
        epsilon: Double
    ) -> (scale: [Double], offset: [Double]) {
        let gammas = gamma?.values
        let betas = beta?.values
        var scale = variance.values
        var offset = mean.values
        for channel in scale.indices {
            scale[channel] = (gammas?[channel] ?? 1) / (scale[channel] + epsilon).squareRoot()
            offset[channel] = (betas?[channel] ?? 0) - offset[channel] * scale[channel]
        }
        return (scale, offset)
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}
