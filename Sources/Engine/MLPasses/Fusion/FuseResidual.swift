package import MLGraph
package import MLNumerics
import MLOperators

/// add(conv(x), y) → conv(x) that adds y to its sum; the same for `linear`.
///
/// The later of two possible producers is fused with the addition, so that the other's result exists by then.
package struct FuseResidual: Pass {
    package let name = "fuse residual"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        var claimed: Set<ValueID> = []
        for (index, operation) in block.operations.enumerated() where operation.is(Binary<Add>.self) {
            let type = block.type(of: operation.results[0])
            let choices = [(0, 1), (1, 0)].sorted {
                (block.producerIndex(of: operation.operands[$0.0]) ?? -1)
                    > (block.producerIndex(of: operation.operands[$1.0]) ?? -1)
            }
            for (one, other) in choices {
                guard let target = FusionTarget(operation.operands[one], in: block), target.residual == nil,
                    !(target.op is ConvolutionTransposed), let residual = operation.operands[other],
                    block.type(of: residual) == type, type.isBound,
                    block.type(of: target.operation.results[0]) == type, block.constant(residual) == nil,
                    !claimed.contains(residual), !claimed.contains(target.operation.results[0])
                else { continue }
                claimed.formUnion(target.operation.results + operation.results)
                patches.append(
                    try block.patch(before: index) { (builder) throws(ModelError) in
                        let result = try target.rebuilt(
                            bias: target.bias,
                            residual: residual,
                            activation: .none,
                            &builder
                        )
                        return [(operation.results[0], result)]
                    }
                )
                break
            }
        }
        return patches
    }
}
