package import MLGraph
package import MLNumerics
import MLOperators

/// gather(x, cast(indices)) → gather(x, indices) where the cast only narrows int32: converters narrow indices to save
/// memory on other processors; here they would be widened again.
package struct UseWideIndices: Pass {
    package let name = "use wide indices"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let gather = operation.as(Gather.self),
                let (cast, producer, _) = block.producer(of: operation.operands[1], as: Cast.self),
                cast.scalarType.isInteger, let indices = producer.operands[0],
                block.type(of: indices).scalarType == .int32
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    [(operation.results[0], try builder.add(gather, operation.operands[0], indices))]
                }
            )
        }
        return patches
    }
}
