package import MLGraph
package import MLNumerics
import MLOperators

/// matmul(x, constant of rank 2) → linear(x), whose weights are packed once.
package struct ConstantMatMulToLinear: Pass {
    package let name = "matmul with constant to linear"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let matmul = operation.as(MatMul.self), !matmul.transposeX, let x = operation.operands[0],
                let weight = block.constant(operation.operands[1]), weight.shape.count == 2,
                block.constant(x) == nil, block.type(of: x).rank >= 2
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let linear = try builder.add(
                        Linear(transposesWeight: !matmul.transposeY),
                        x,
                        builder.constant(weight)
                    )
                    return [(operation.results[0], linear)]
                }
            )
        }
        return patches
    }
}
