package import MLGraph
package import MLNumerics
import MLOperators

/// Rewrites all operations that only regroup elements to `reshape` with a constant shape, and merges chains of them:
/// `expand_dims`, `squeeze`, `flatten2d`, `reshape_like`, and transpositions that only move axes of one element.
package struct NormalizeReshapes: Pass {
    package let name = "normalize reshapes"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            let isReshape = operation.is(Reshape.self)
            guard isReshape || Self.mayRegroup(operation), let x = operation.operands[0],
                let target = block.type(of: operation.results[0]).shape.counts,
                let source = block.type(of: x).shape.counts, isReshape || regroups(operation, source)
            else { continue }
            let inner = block.producer(of: x, as: Reshape.self)?.operation
            guard !isReshape || inner != nil || block.constant(operation.operands[1])?.integers != target else {
                continue
            }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let result = try builder.reshaped(inner?.operands[0] ?? x, to: target)
                    return [(operation.results[0], result)]
                }
            )
        }
        return patches
    }

    private static func mayRegroup(_ operation: Operation) -> Bool {
        operation.is(ExpandDims.self) || operation.is(Squeeze.self) || operation.is(Flatten2D.self)
            || operation.is(ReshapeLike.self) || operation.is(Transpose.self)
    }

    /// Whether the operation, one of those that may, leaves the elements in their order.
    private func regroups(_ operation: Operation, _ source: [Int]) -> Bool {
        guard let transpose = operation.as(Transpose.self) else { return true }
        guard let permutation = try? transpose.normalizedPermutation(rank: source.count) else { return false }
        let moved = permutation.filter { source[$0] != 1 }
        return moved == moved.sorted()
    }
}

extension GraphBuilder {
    /// Appends a reshape to a shape of numbers.
    mutating func reshaped(_ id: ValueID, to shape: [Int]) throws(ModelError) -> ValueID {
        let target = constant(Tensor(shape.map { Int32(clamping: $0) }, shape: [shape.count]))
        return try add(Reshape(), id, target)
    }
}
