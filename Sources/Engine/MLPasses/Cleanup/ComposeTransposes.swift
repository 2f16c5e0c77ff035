package import MLGraph
package import MLNumerics
import MLOperators

/// transpose(transpose(x)) → transpose(x).
package struct ComposeTransposes: Pass {
    package let name = "compose transposes"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let outer = operation.as(Transpose.self),
                let (inner, producer, _) = block.producer(of: operation.operands[0], as: Transpose.self)
            else { continue }
            let rank = block.type(of: operation.results[0]).rank
            let first = try inner.normalizedPermutation(rank: rank)
            let second = try outer.normalizedPermutation(rank: rank)
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let whole = try builder.add(Transpose(second.map { first[$0] }), producer.operands[0])
                    return [(operation.results[0], whole)]
                }
            )
        }
        return patches
    }
}
