package import MLGraph
package import MLNumerics
import MLOperators

/// slice_update(cast(x16), u) → cast(slice_update(x16, cast(u))) where x16 is an input of float16 or such an update of
/// one: a float16 state is then updated in place, and only the new part is converted.
///
/// The same for scatter_nd(cast(x16), i, u) that replaces elements and whose result is cast to float16 again. The
/// values are those that the state would have after the run.
package struct UpdateHalfInPlace: Pass {
    package let name = "update half in place"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let position = updateOperand(operation, block),
                let source = block.widenedHalf(operation.operands[0]),
                operation.is(ScatterND.self) || block.block.inputs.contains(source)
                    || block.producer(of: source, as: SliceUpdate.self) != nil
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    var operands = operation.operands
                    operands[0] = source
                    operands[position] = try builder.append(Cast(to: .float16), [operation.operands[position]])[0]
                    let result = try builder.append(operation.op, operands)[0]
                    return [(operation.results[0], try builder.add(Cast(to: .float32), result))]
                }
            )
        }
        return patches
    }

    /// The operand with the new elements, if `operation` replaces elements of its first one in float16 before long.
    private func updateOperand(_ operation: Operation, _ block: BlockView) -> Int? {
        if operation.is(SliceUpdate.self) { return 1 }
        guard operation.as(ScatterND.self)?.mode == .update else { return nil }
        let isNarrowed = block.users(of: operation.results[0]).contains {
            block.operations[$0].as(Cast.self)?.scalarType == .float16
        }
        return isNarrowed ? 2 : nil
    }
}
