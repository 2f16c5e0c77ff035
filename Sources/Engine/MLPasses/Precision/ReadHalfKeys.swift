package import MLGraph
package import MLNumerics
import MLOperators

/// attention(q, cast(k16), cast(v16)) → attention(q, k16, v16).
///
/// Keys and values of a float16 cache are converted as they are read. Reshapes of the casts become reshapes of k16 and v16.
package struct ReadHalfKeys: Pass {
    package let name = "read half keys"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard operation.is(ScaledDotProductAttention.self),
                let (key, keyShape) = half(operation.operands[1], block),
                let (value, valueShape) = half(operation.operands[2], block)
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    var operands = operation.operands
                    operands[1] =
                        try keyShape.map { (shape) throws(ModelError) in try builder.reshaped(key, to: shape) } ?? key
                    operands[2] =
                        try valueShape.map { (shape) throws(ModelError) in try builder.reshaped(value, to: shape) }
                        ?? value
                    return [(operation.results[0], try builder.append(operation.op, operands)[0])]
                }
            )
        }
        return patches
    }

    /// The float16 value that `id` is cast from, and the shape to which the cast is reshaped.
    private func half(_ id: ValueID?, _ block: BlockView) -> (source: ValueID, shape: [Int]?)? {
        guard let id else { return nil }
        var (cast, shape) = (id, nil as [Int]?)
        if let reshape = block.producer(of: id, as: Reshape.self)?.operation, let x = reshape.operands[0] {
            guard let target = block.type(of: id).shape.counts else { return nil }
            (cast, shape) = (x, target)
        }
        guard let (op, operation, _) = block.producer(of: cast, as: Cast.self), op.scalarType == .float32,
            let source = operation.operands[0], block.type(of: source).scalarType == .float16
        else { return nil }
        return (source, shape)
    }
}
