package import MLGraph
package import MLNumerics
import MLOperators

/// Normalises transpositions, so that fusions recognise them: axes of one element keep their position (a reshape
/// follows where that changes the shape), and a reshape that only adds leading ones to a transposed value moves in
/// front.
package struct NormalizeTransposes: Pass {
    package let name = "normalize transposes"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            if let patch = try withFixedUnits(index, operation, block) {
                patches.append(patch)
            } else if let patch = try withLeadingOnesInside(index, operation, block) {
                patches.append(patch)
            }
        }
        return patches
    }

    private func withFixedUnits(_ index: Int, _ operation: Operation, _ block: BlockView) throws(ModelError)
        -> GraphPatch?
    {
        guard let transpose = operation.as(Transpose.self), let x = operation.operands[0],
            let source = block.type(of: x).shape.counts, let target = block.type(of: operation.results[0]).shape.counts
        else { return nil }
        let permutation = try transpose.normalizedPermutation(rank: source.count)
        var moved = permutation.filter { source[$0] != 1 }[...]
        let fixed = source.indices.map { source[$0] == 1 ? $0 : moved.popFirst() ?? $0 }
        guard fixed != permutation, fixed != Array(source.indices) else { return nil }
        return try block.patch(before: index) { (builder) throws(ModelError) in
            let rotated = try builder.add(Transpose(fixed), x)
            return [(operation.results[0], try builder.reshaped(rotated, to: target))]
        }
    }

    private func withLeadingOnesInside(
        _ index: Int,
        _ operation: Operation,
        _ block: BlockView
    ) throws(ModelError) -> GraphPatch? {
        guard operation.is(Reshape.self), let target = block.type(of: operation.results[0]).shape.counts,
            let (transpose, producer, _) = block.producer(of: operation.operands[0], as: Transpose.self),
            let x = producer.operands[0], let source = block.type(of: x).shape.counts,
            let rotated = block.type(of: producer.results[0]).shape.counts
        else { return nil }
        let added = target.count - rotated.count
        guard added > 0, target.prefix(added).allSatisfy({ $0 == 1 }), Array(target.dropFirst(added)) == rotated else {
            return nil
        }
        let permutation = try transpose.normalizedPermutation(rank: source.count)
        return try block.patch(before: index) { (builder) throws(ModelError) in
            let wide = try builder.reshaped(x, to: [Int](repeating: 1, count: added) + source)
            let whole = Array(0..<added) + permutation.map { $0 + added }
            return [(operation.results[0], try builder.add(Transpose(whole), wide))]
        }
    }
}
