package import MLGraph
import MLKernels
package import MLNumerics

/// `alpha[c] · log(1 + exp(beta[c] · x))`, where `c` is the index along axis 1.
///
/// Operands: x [n, C, …], alpha [C], beta [C]. Result [n, C, …].
package struct ParametricSoftplus: Operator {
    package static let names: [MILName] = ["softplus_parametric"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("alpha")
        try arguments.operand("beta")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try channelwiseType(operands, parameters: [1, 2])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let alpha = operands[1].values
        let beta = operands[2].values
        let softplus = Softplus()
        return [operands[0].mappingChannels { x, channel in alpha[channel] * softplus(beta[channel] * x) }]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let x = request.operand(0) else { return [] }
        let lines = Lines(shape: x.shape, axis: x.layout.physicalAxis(1, rank: x.shape.count))
        return [
            Kernel(
                "channelwise",
                inPlaceOperands: [0],
                body: { context in
                    ElementwiseKernel.scaledSoftplus(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: lines.outer,
                        channels: lines.count,
                        inner: lines.stride,
                        alpha: context.floats(1),
                        beta: context.floats(2)
                    )
                }
            )
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { operands.areFloat32(0..<3) ? .agnostic : .rowMajor }
}

extension ParametricSoftplus: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand()
        let dy = try context.resultGradient()
        let shape = try context.extents(x)
        let alpha = try context.channels(context.operand(1), rank: shape.count)
        let beta = try context.channels(context.operand(2), rank: shape.count)
        let scaled = try context.product(x, beta)
        let gate = try context.product(context.add(Unary(Sigmoid()), scaled), alpha)
        let axes = shape.indices.filter { $0 != 1 }
        if context.isNeeded(0) {
            context.setGradient(ofOperand: 0, to: try context.product(dy, context.product(gate, beta)))
        }
        if context.isNeeded(1) {
            let each = try context.product(dy, context.add(Unary(Softplus()), scaled))
            context.setGradient(ofOperand: 1, to: try context.summed(each, axes: axes, keepsDimensions: false))
        }
        if context.isNeeded(2) {
            let each = try context.product(dy, context.product(gate, x))
            context.setGradient(ofOperand: 2, to: try context.summed(each, axes: axes, keepsDimensions: false))
        }
    }
}

extension ParametricSoftplus {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.rows(self)
    }
}
