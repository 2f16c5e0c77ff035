import Glibc
package import MLGraph
package import MLNumerics

/// `alpha[c] · log(1 + exp(beta[c] · x))`, `c` being the place along axis 1.
///
/// Operands: x [n, C, …], alpha [C], beta [C].  Result [n, C, …].
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
        channelKernels(request) { x, alpha, beta in
            let scaled = beta * x
            return alpha * (log1pf(expf(-Swift.abs(scaled))) + max(scaled, 0))
        }
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { operands.areFloat32(0..<3) ? .agnostic : .rowMajor }
}
