package import MLGraph
package import MLNumerics
import MLOperators

/// slice_update(x, scatter_nd(slice(x), i, u)) → scatter_nd(x, i, u) at the slice's leading indices: of a cache of keys
/// and values for all layers, only the new tokens are written, and in place.
///
/// The slice is one index of each of the first axes, and all of the others.
package struct ScatterIntoSlices: Pass {
    package let name = "scatter into slices"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for operation in block.operations {
            guard let update = operation.as(SliceUpdate.self), let x = operation.operands[0],
                let part = operation.operands[1],
                let (scatter, scattered, anchor) = block.producer(of: part, as: ScatterND.self),
                let (slice, source, _) = block.producer(of: scattered.operands[0], as: SliceByIndex.self),
                source.operands[0] == x,
                let leading = leadingIndices(slice.rule, x, source.operands[1], source.operands[2], block),
                leading == leadingIndices(update.rule, x, operation.operands[2], operation.operands[3], block)
            else { continue }
            patches.append(
                try block.patch(before: anchor) { (builder) throws(ModelError) in
                    var whole = scatter
                    whole.leadingIndices = leading + scatter.leadingIndices
                    let result = try builder.append(whole, [x] + scattered.operands[1...])[0]
                    let again = try builder.append(slice, [result] + source.operands[1...])[0]
                    return [(operation.results[0], result), (part, again)]
                }
            )
        }
        return patches
    }

    /// The index on each of the first axes that a slice takes and removes, if it takes all of the others.
    private func leadingIndices(
        _ rule: SliceRule,
        _ x: ValueID,
        _ begin: ValueID?,
        _ end: ValueID?,
        _ block: BlockView
    ) -> [Int]? {
        guard let shape = block.type(of: x).shape.counts, let begin = block.constant(begin)?.integers,
            let end = block.constant(end)?.integers,
            (try? rule.validate(rank: shape.count, begin: begin, end: end)) != nil
        else { return nil }
        let count = shape.indices.prefix { rule.squeezes($0) }.count
        guard count > 0 else { return nil }
        var indices: [Int] = []
        for (axis, extent) in shape.enumerated() {
            let range = rule.range(axis, extent: extent, begin: begin[axis], end: end[axis])
            if axis < count {
                guard extent > 0 else { return nil }
                indices.append(range.start)
            } else {
                guard !rule.squeezes(axis), range == (0, extent), rule.step(axis) == 1 else { return nil }
            }
        }
        return indices
    }
}
