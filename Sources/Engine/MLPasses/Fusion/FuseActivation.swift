package import MLGraph
package import MLNumerics
import MLOperators

/// relu(conv(x)) → conv(x) that applies the function to its sum; the same for `linear` and every activation.
package struct FuseActivation: Pass {
    package let name = "fuse activation"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let activation = Activation(operation.op), let x = operation.operands[0],
                let target = FusionTarget(x, in: block)
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let result = try target.rebuilt(
                        bias: target.bias,
                        residual: target.residual,
                        activation: activation,
                        &builder
                    )
                    return [(operation.results[0], result)]
                }
            )
        }
        return patches
    }
}

extension Activation {
    /// The function that a one-operand operator applies, when it can be fused.
    init?(_ op: any Operator) {
        switch op {
        case is Unary<Relu>: self = .relu
        case is Unary<Relu6>: self = .clip(low: 0, high: 6)
        case let op as Unary<Clip>: self = .clip(low: op.function.lower, high: op.function.upper)
        case let op as Unary<LeakyRelu>: self = .leakyRelu(alpha: op.function.alpha)
        case is Unary<Sigmoid>: self = .sigmoid
        case is Unary<Tanh>: self = .tanh
        case is Unary<Silu>: self = .silu
        case let op as Unary<Gelu>:
            switch op.function.mode {
            case .exact: self = .geluErf
            case .tanh: self = .geluTanh
            case .sigmoid: self = .geluSigmoid
            }
        case let op as Unary<HardSigmoid>: self = .hardSigmoid(alpha: op.function.alpha, beta: op.function.beta)
        case let op as Unary<HardSwish>: self = .hardSwish(alpha: op.function.alpha, beta: op.function.beta)
        case let op as Unary<Elu>: self = .elu(alpha: op.function.alpha)
        case is Unary<Softplus>: self = .softplus
        case is Unary<Softsign>: self = .softsign
        default: return nil
        }
    }
}
