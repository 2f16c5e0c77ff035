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
            guard let activation = Activation(operation), let x = operation.operands[0],
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
    init?(_ operation: Operation) {
        if operation.is(Unary<Relu>.self) {
            self = .relu
        } else if operation.is(Unary<Relu6>.self) {
            self = .clip(low: 0, high: 6)
        } else if let clip = operation.as(Unary<Clip>.self) {
            self = .clip(low: clip.function.lower, high: clip.function.upper)
        } else if let relu = operation.as(Unary<LeakyRelu>.self) {
            self = .leakyRelu(alpha: relu.function.alpha)
        } else if operation.is(Unary<Sigmoid>.self) {
            self = .sigmoid
        } else if operation.is(Unary<Tanh>.self) {
            self = .tanh
        } else if operation.is(Unary<Silu>.self) {
            self = .silu
        } else if let gelu = operation.as(Unary<Gelu>.self) {
            switch gelu.function.mode {
            case .exact: self = .geluErf
            case .tanh: self = .geluTanh
            case .sigmoid: self = .geluSigmoid
            }
        } else if let sigmoid = operation.as(Unary<HardSigmoid>.self) {
            self = .hardSigmoid(alpha: sigmoid.function.alpha, beta: sigmoid.function.beta)
        } else if let swish = operation.as(Unary<HardSwish>.self) {
            self = .hardSwish(alpha: swish.function.alpha, beta: swish.function.beta)
        } else if let elu = operation.as(Unary<Elu>.self) {
            self = .elu(alpha: elu.function.alpha)
        } else if operation.is(Unary<Softplus>.self) {
            self = .softplus
        } else if operation.is(Unary<Softsign>.self) {
            self = .softsign
        } else {
            return nil
        }
    }
}
