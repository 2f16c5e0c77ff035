package import MLGraph
package import MLNumerics
import MLOperators

/// matmul(softmax(scale · matmul(q, kᵀ) + mask), v) → scaled_dot_product_attention(q, k, v, mask).
package struct FuseAttention: Pass {
    package let name = "fuse attention"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let outer = operation.op as? MatMul, !outer.transposeX, !outer.transposeY,
                let weights = operation.operands[0], block.isUsedOnce(weights), let v = operation.operands[1],
                let (softmax, normalised, _) = block.producer(of: weights, as: Softmax.self),
                let scores = normalised.operands[0],
                softmax.axis == -1 || softmax.axis == block.type(of: scores).rank - 1,
                let pattern = Scores(scores, in: block)
            else { continue }
            let types = [pattern.q, pattern.k, v].map { block.type(of: $0) }
            guard types.allSatisfy({ $0.isBound && $0.rank == 4 && $0.scalarType == .float32 }),
                types.allSatisfy({ $0.shape.prefix(2) == types[0].shape.prefix(2) })
            else { continue }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    var key = pattern.k
                    if pattern.keyIsTransposed { key = try pattern.untransposedKey(block, &builder) }
                    let attention = ScaledDotProductAttention(scale: pattern.scale)
                    let result = try builder.append(attention, [pattern.q, key, v, pattern.mask(&builder)])[0]
                    return [(operation.results[0], result)]
                }
            )
        }
        return patches
    }
}

/// The operands of an attention's softmax.
private struct Scores {
    var q: ValueID
    var k: ValueID
    /// Whether the key is [B, H, E, S].
    var keyIsTransposed: Bool
    var scale = 1.0
    private var addend: ValueID?
    private var constantMask: Tensor?

    init?(_ scores: ValueID, in block: BlockView) {
        var current = scores
        if block.isUsedOnce(current), let add = block.producer(of: current, as: Binary<Add>.self)?.operation {
            guard let (product, mask) = Self.operands(add, block) else { return nil }
            (current, addend) = (product, mask)
        } else if let select = block.producer(of: current, as: Select.self)?.operation, block.isUsedOnce(current) {
            guard let condition = block.constant(select.operands[0]), let a = select.operands[1],
                let fill = block.constant(select.operands[2])?.values, let lowest = fill.max(), lowest <= -1000
            else { return nil }
            constantMask = Tensor(
                values: condition.values.map { $0 != 0 ? 0 : -.infinity },
                scalarType: .float32,
                shape: condition.shape
            )
            current = a
        }
        while block.isUsedOnce(current), let (source, factor) = Self.scaled(current, block) {
            scale *= factor
            current = source
        }
        guard block.isUsedOnce(current), let (matmul, product, _) = block.producer(of: current, as: MatMul.self),
            !matmul.transposeX, let x = product.operands[0], let y = product.operands[1]
        else { return nil }
        (q, k, keyIsTransposed) = (x, y, !matmul.transposeY)
        while block.isUsedOnce(q), let (source, factor) = Self.scaled(q, block) {
            scale *= factor
            q = source
        }
        while block.isUsedOnce(k), let (source, factor) = Self.scaled(k, block) {
            scale *= factor
            k = source
        }
    }

    /// The mask to add to the scores.
    func mask(_ builder: inout GraphBuilder) -> ValueID? { addend ?? constantMask.map { builder.constant($0) } }

    /// The key as [B, H, S, E], without a transposition where there is one.
    func untransposedKey(_ block: BlockView, _ builder: inout GraphBuilder) throws(ModelError) -> ValueID {
        let swap = [0, 1, 3, 2]
        guard let (transpose, producer, _) = block.producer(of: k, as: Transpose.self) else {
            return try builder.add(Transpose(swap), k)
        }
        let permutation = try transpose.normalizedPermutation(rank: 4)
        return try builder.add(Transpose(swap.map { permutation[$0] }), producer.operands[0])
    }

    /// The operand of an addition that may come from a product, and the other one.
    private static func operands(_ add: Operation, _ block: BlockView) -> (product: ValueID, mask: ValueID)? {
        for (one, other) in [(0, 1), (1, 0)] {
            guard let product = add.operands[one], let mask = add.operands[other], block.constant(product) == nil,
                block.isUsedOnce(product)
            else { continue }
            if block.producer(of: product, as: MatMul.self) != nil || scaled(product, block) != nil {
                return (product, mask)
            }
        }
        return nil
    }

    /// The value that a multiplication or division by a single number scales.
    private static func scaled(_ id: ValueID, _ block: BlockView) -> (source: ValueID, factor: Double)? {
        if let product = block.producer(of: id, as: Binary<Mul>.self)?.operation {
            for (one, other) in [(0, 1), (1, 0)] {
                guard let source = product.operands[one], let factor = block.constant(product.operands[other]),
                    factor.count == 1, block.constant(source) == nil
                else { continue }
                return (source, factor.values[0])
            }
        }
        if let quotient = block.producer(of: id, as: Binary<RealDiv>.self)?.operation,
            let source = quotient.operands[0],
            let divisor = block.constant(quotient.operands[1]), divisor.count == 1
        {
            return (source, 1 / divisor.values[0])
        }
        return nil
    }
}
