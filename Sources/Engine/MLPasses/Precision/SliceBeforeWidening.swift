package import MLGraph
package import MLNumerics
import MLOperators

/// slice(cast(x16)) → cast(slice(x16)) where the slice is smaller than x16: only the part of a float16 state that is
/// read is converted.
package struct SliceBeforeWidening: Pass {
    package let name = "slice before widening"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard operation.is(SliceByIndex.self) || operation.is(SliceBySize.self),
                let source = block.widenedHalf(operation.operands[0]),
                let whole = block.type(of: source).shape.counts?.elementCount,
                let part = block.type(of: operation.results[0]).shape.counts?.elementCount, part < whole
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let operands = [source] + operation.operands[1...]
                    let narrow = try builder.append(operation.op, operands)[0]
                    return [(operation.results[0], try builder.add(Cast(to: .float32), narrow))]
                }
            )
        }
        return patches
    }
}
