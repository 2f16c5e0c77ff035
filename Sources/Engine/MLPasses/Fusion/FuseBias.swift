package import MLGraph
package import MLNumerics
import MLOperators

/// add(conv(x), constant along the channels) → conv(x) with a bias; the same for `linear` and transposed convolution.
package struct FuseBias: Pass {
    package let name = "fuse bias"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() where operation.is(Binary<Add>.self) {
            for (one, other) in [(0, 1), (1, 0)] {
                guard let target = FusionTarget(operation.operands[one], in: block), target.residual == nil,
                    let constant = block.constant(operation.operands[other]),
                    let bias = vector(constant, target, block)
                else { continue }
                guard target.bias == nil || block.constant(target.bias) != nil else { continue }
                let sum = block.constant(target.bias).map { zip($0.values, bias.values).map(+) } ?? bias.values
                patches.append(
                    try block.patch(before: index) { (builder) throws(ModelError) in
                        let value = builder.constant(Tensor(values: sum, scalarType: .float32, shape: [sum.count]))
                        let result = try target.rebuilt(bias: value, residual: nil, activation: .none, &builder)
                        return [(operation.results[0], result)]
                    }
                )
                break
            }
        }
        return patches
    }

    /// The constant as a vector along the bias axis, if it varies along that axis only.
    private func vector(_ constant: Tensor, _ target: FusionTarget, _ block: BlockView) -> Tensor? {
        let shape = block.type(of: target.operation.results[0]).shape
        let axis = target.op.biasAxis(rank: shape.count)
        guard constant.scalarType.isFloat, let channels = shape[axis].count, constant.shape.count <= shape.count else {
            return nil
        }
        let padded = [Int](repeating: 1, count: shape.count - constant.shape.count) + constant.shape
        guard padded.enumerated().allSatisfy({ $1 == ($0 == axis ? channels : 1) }) else { return nil }
        return constant.reshaped([channels])
    }
}
