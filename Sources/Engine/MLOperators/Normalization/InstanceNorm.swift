package import MLGraph
package import MLNumerics
import MLKernels

/// Normalisation of each channel of each item by its own statistics:
/// y = (x − E[x]) / √(Var[x] + epsilon) · gamma + beta over the axes from 2 on.
///
/// Operands: x [N, C, …], gamma [C]?, beta [C]?.  Result: like x.
package struct InstanceNorm: Operator {
    package static let names: [MILName] = ["instance_norm"]

    package var epsilon: Double

    package init(epsilon: Double = 1e-5) { self.epsilon = epsilon }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        arguments.optionalOperand("gamma")
        arguments.optionalOperand("beta")
        epsilon = try arguments.float("epsilon", default: 1e-5)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard x.rank >= 3 else { throw ModelError(.invalidModel, "instance_norm needs x of rank 3 or more, not \(x)") }
        try checkVector(operands, 1, x.shape[1], "gamma")
        try checkVector(operands, 2, x.shape[1], "beta")
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let gamma = operands.optional(1)?.values
        let beta = operands.optional(2)?.values
        let inner = x.shape.dropFirst(2).reduce(1, *)
        var values = x.values
        for slice in 0..<(inner == 0 ? 0 : values.count / inner) {
            let channel = slice % x.shape[1]
            let range = slice * inner..<(slice + 1) * inner
            let line = meanAndInverseDeviation(values[range], epsilon: epsilon)
            for index in range {
                let standard = (values[index] - line.mean) * line.scale
                values[index] = standard * (gamma?[channel] ?? 1) + (beta?[channel] ?? 0)
            }
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: x.shape)]
    }
}

extension InstanceNorm {
    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair, let gamma = FloatSource(request, 1), let beta = FloatSource(request, 2) else {
            return []
        }
        let (batch, channels) = (x.logicalShape[0], x.logicalShape[1])
        let space = x.count / (batch * channels)
        return [
            Kernel("instance norm", inPlaceOperands: [0]) { context in
                if x.layout == .channelsLast {
                    NormalizationKernel.instanceNormChannelsLast(
                        context.floats(0),
                        into: context.resultFloats(),
                        batch: batch,
                        pixels: space,
                        channels: channels,
                        epsilon: Float(epsilon),
                        gamma: gamma.pointer(context),
                        beta: beta.pointer(context)
                    )
                } else {
                    NormalizationKernel.groupNorm(
                        context.floats(0),
                        into: context.resultFloats(),
                        batch: batch,
                        channels: channels,
                        space: space,
                        groups: channels,
                        epsilon: Float(epsilon),
                        gamma: gamma.pointer(context),
                        beta: beta.pointer(context)
                    )
                }
            }
        ]
    }
}

extension InstanceNorm: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let shape = try context.extents(context.operand())
        try context.setStandardizedGradients(
            axes: Array(2..<shape.count),
            parameterAxes: [1],
            epsilon: epsilon
        )
    }
}

/// The mean of `values` and 1 / √(variance + epsilon), the variance being that of the whole population.
func meanAndInverseDeviation(_ values: some Collection<Double>, epsilon: Double) -> (mean: Double, scale: Double) {
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
    return (mean, 1 / (variance + epsilon).squareRoot())
}

extension InstanceNorm {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.rows(self)
    }
}
