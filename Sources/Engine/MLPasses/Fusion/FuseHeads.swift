package import MLGraph
package import MLNumerics
import MLOperators

/// Removes transpositions around attention that only exchange tokens and heads: it then reads and writes tokens first.
package struct FuseHeads: Pass {
    package let name = "fuse heads"
    package init() {}

    private static let exchange = [0, 2, 1, 3]

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard var attention = operation.op as? ScaledDotProductAttention, attention.heads == nil,
                let shape = block.type(of: operation.results[0]).shape.counts, shape.count == 4
            else { continue }
            var sources: [ValueID] = []
            for operand in operation.operands.prefix(3) {
                guard let (transpose, producer, _) = block.producer(of: operand, as: Transpose.self),
                    try transpose.normalizedPermutation(rank: 4) == Self.exchange, let source = producer.operands[0]
                else { break }
                sources.append(source)
            }
            guard sources.count == 3 else { continue }
            attention.heads = shape[1]
            let mask = operation.operands.count > 3 ? operation.operands[3] : nil
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let result = try builder.append(attention, sources + [mask])[0]
                    return [(operation.results[0], try builder.add(Transpose(Self.exchange), result))]
                }
            )
        }
        return patches
    }
}
