package import MLGraph
package import MLNumerics
import MLOperators

/// A depthwise convolution and the 1×1 convolutions before and after it → one step, where the tensors between them are too
/// wide for the L2 cache.
///
/// It depends on the machine's threads, so that it belongs to the preparation of a plan and not to compiled models.
package struct FuseSeparable: Pass {
    package let name = "fuse separable convolutions"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        var claimed: Set<ValueID> = []
        for operation in block.operations {
            guard let depthwise = operation.as(Convolution.self), let x = operation.operands[0],
                let weight = block.constant(operation.operands[1]), residual(of: operation) == nil,
                let shape = block.type(of: x).shape.counts, shape.count == 4, depthwise.groups > 1,
                depthwise.groups == shape[1], weight.shape[0] == shape[1], isFloat(operation, block),
                let result = block.type(of: operation.results[0]).shape.counts
            else { continue }
            let expansion = expansion(of: x, block, claimed)
            let projection = projection(of: operation.results[0], block)
            let neighbors = [expansion, projection].compactMap { $0.flatMap { block.constant($0.operands[1]) } }
            guard !neighbors.isEmpty,
                ConvolutionSeparable.isWorthwhile(
                    depthwise,
                    x: shape,
                    weight: weight,
                    result: result,
                    neighbors: neighbors,
                    isExpanded: expansion != nil
                )
            else { continue }
            let last = projection ?? operation
            guard let index = block.producerIndex(of: last.results[0]) else { continue }
            claimed.formUnion(last.results)
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let separable = ConvolutionSeparable(
                        expansion: expansion?.as(Convolution.self),
                        depthwise: depthwise,
                        projection: projection?.as(Convolution.self)
                    )
                    let operands = [
                        expansion?.operands[0] ?? x, expansion?.operands[1], bias(of: expansion), operation.operands[1],
                        bias(of: operation), projection?.operands[1], bias(of: projection), residual(of: projection),
                    ]
                    return [(last.results[0], try builder.append(separable, operands)[0])]
                }
            )
        }
        return patches
    }

    /// The 1×1 convolution that makes `x`, which nothing else reads and no patch before this one has taken.
    private func expansion(of x: ValueID, _ block: BlockView, _ claimed: Set<ValueID>) -> Operation? {
        guard block.isUsedOnce(x), !claimed.contains(x), let index = block.producerIndex(of: x) else { return nil }
        let operation = block.operations[index]
        return isProduct(operation, block) && residual(of: operation) == nil ? operation : nil
    }

    /// The 1×1 convolution of `x`, the only operation that reads it.
    private func projection(of x: ValueID, _ block: BlockView) -> Operation? {
        guard let index = block.soleUser(of: x) else { return nil }
        let operation = block.operations[index]
        return operation.operands[0] == x && isProduct(operation, block) && residual(of: operation) != x
            ? operation : nil
    }

    /// Whether `operation` is a convolution with one tap and a result of its operand's extents, with constant weights.
    private func isProduct(_ operation: Operation, _ block: BlockView) -> Bool {
        guard let convolution = operation.as(Convolution.self), convolution.groups == 1, isFloat(operation, block),
            let weight = block.constant(operation.operands[1]), weight.shape.count == 4,
            weight.shape[2] == 1, weight.shape[3] == 1, convolution.strides.allSatisfy({ $0 == 1 }),
            let x = operation.operands[0]
        else { return false }
        let extents = block.type(of: x).shape
        let result = block.type(of: operation.results[0]).shape
        guard extents.counts != nil, Array(extents.dropFirst(2)) == Array(result.dropFirst(2)) else { return false }
        return residual(of: operation).map { block.type(of: $0).shape == result } ?? true
    }

    private func isFloat(_ operation: Operation, _ block: BlockView) -> Bool {
        operation.operands[0].map { block.type(of: $0).scalarType } == .float32
            && block.type(of: operation.results[0]).scalarType == .float32
    }

    private func bias(of operation: Operation?) -> ValueID? { operand(2, of: operation) }
    private func residual(of operation: Operation?) -> ValueID? { operand(3, of: operation) }

    private func operand(_ index: Int, of operation: Operation?) -> ValueID? {
        guard let operation, index < operation.operands.count else { return nil }
        return operation.operands[index]
    }
}
