package import MLGraph
package import MLNumerics
import MLOperators

/// Attention whose keys and values are tiled, so that each head of them serves several heads of queries → attention that
/// shares them (grouped-query attention).
///
/// The tiling is reshape(tile(k [B, G, 1, S, E], [1, 1, r, 1, 1]), [B, G · r, S, E]).
package struct ShareKeys: Pass {
    package let name = "share keys"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard var attention = operation.as(ScaledDotProductAttention.self), attention.heads == nil,
                !attention.sharesKeys, !attention.keysAreTokensFirst,
                let (key, keyShape) = tiledHeads(operation.operands[1], block),
                let (value, valueShape) = tiledHeads(operation.operands[2], block), keyShape[1] == valueShape[1]
            else { continue }
            attention.sharesKeys = true
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    var operands = operation.operands
                    operands[1] = try builder.reshaped(key, to: keyShape)
                    operands[2] = try builder.reshaped(value, to: valueShape)
                    return [(operation.results[0], try builder.append(attention, operands)[0])]
                }
            )
        }
        return patches
    }

    /// The heads that are tiled, and their shape [B, G, S, E].
    private func tiledHeads(_ id: ValueID?, _ block: BlockView) -> (source: ValueID, shape: [Int])? {
        guard let id, let all = block.type(of: id).shape.counts, all.count == 4,
            let reshape = block.producer(of: id, as: Reshape.self)?.operation,
            let tile = block.producer(of: reshape.operands[0], as: Tile.self)?.operation,
            let source = tile.operands[0], let shape = block.type(of: source).shape.counts, shape.count == 5,
            shape[2] == 1, let counts = block.constant(tile.operands[1])?.integers,
            counts == [1, 1, counts[2], 1, 1],
            all == [shape[0], shape[1] * counts[2], shape[3], shape[4]]
        else { return nil }
        return (source, [shape[0], shape[1], shape[3], shape[4]])
    }
}
