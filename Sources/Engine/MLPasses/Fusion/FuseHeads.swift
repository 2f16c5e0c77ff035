package import MLGraph
package import MLNumerics
import MLOperators

/// Removes transpositions around attention that only exchange tokens and heads: it then reads and writes tokens first, or
/// only reads keys and values so.
package struct FuseHeads: Pass {
    package let name = "fuse heads"
    package init() {}

    private static let exchange = [0, 2, 1, 3]

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard var attention = operation.as(ScaledDotProductAttention.self), attention.heads == nil,
                !attention.keysAreTokensFirst, let shape = block.type(of: operation.results[0]).shape.counts,
                shape.count == 4
            else { continue }
            var sources: [ValueID?] = []
            for operand in operation.operands.prefix(3) { sources.append(try tokensFirst(operand, block)) }
            guard let key = sources[1], let value = sources[2] else { continue }
            let mask = operation.operands.count > 3 ? operation.operands[3] : nil
            guard let query = sources[0] else {
                attention.keysAreTokensFirst = true
                patches.append(
                    try block.patch(before: index) { (builder) throws(ModelError) in
                        let operands = [operation.operands[0], key, value, mask]
                        return [(operation.results[0], try builder.append(attention, operands)[0])]
                    }
                )
                continue
            }
            attention.heads = shape[1]
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let result = try builder.append(attention, [query, key, value, mask])[0]
                    return [(operation.results[0], try builder.add(Transpose(Self.exchange), result))]
                }
            )
        }
        return patches
    }

    /// The source of a transposition that exchanges tokens and heads.
    private func tokensFirst(_ operand: ValueID?, _ block: BlockView) throws(ModelError) -> ValueID? {
        guard let (transpose, producer, _) = block.producer(of: operand, as: Transpose.self),
            try transpose.normalizedPermutation(rank: 4) == Self.exchange
        else { return nil }
        return producer.operands[0]
    }
}
