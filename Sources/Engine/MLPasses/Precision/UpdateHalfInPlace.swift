package import MLGraph
package import MLNumerics
import MLOperators

/// slice_update(cast(x16), u) → cast(slice_update(x16, cast(u))) where x16 is an input of float16 or such an update of
/// one: a float16 state is then updated in place, and only the new part is converted.
///
/// The values are those that the state would have after the run.
package struct UpdateHalfInPlace: Pass {
    package let name = "update half in place"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let update = operation.op as? SliceUpdate,
                let (cast, producer, _) = block.producer(of: operation.operands[0], as: Cast.self),
                cast.scalarType == .float32, let source = producer.operands[0],
                block.type(of: source).scalarType == .float16,
                block.block.inputs.contains(source) || block.producer(of: source, as: SliceUpdate.self) != nil
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let narrow = try builder.append(Cast(to: .float16), [operation.operands[1]])[0]
                    let operands = [source, narrow] + operation.operands[2...]
                    let result = try builder.append(update, operands)[0]
                    return [(operation.results[0], try builder.add(Cast(to: .float32), result))]
                }
            )
        }
        return patches
    }
}
