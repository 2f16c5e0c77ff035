package import MLGraph
package import MLNumerics
import MLOperators

/// matmul(softmax(scale · matmul(q, kᵀ) + mask), v) → scaled_dot_product_attention(q, k, v, mask).
///
/// For grouped-query attention the scores [B, G, r · L, S] of r query heads for each key head may be reshaped to [B, G, r, L,
/// S] in between.
package struct FuseAttention: Pass {
    package let name = "fuse attention"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let outer = operation.as(MatMul.self), !outer.transposeX, !outer.transposeY,
                let product = operation.operands[0], block.isUsedOnce(product), let v = operation.operands[1],
                let (weights, isGrouped) = ungrouped(product, block),
                let (softmax, normalised, _) = block.producer(of: weights, as: Softmax.self),
                let scores = normalised.operands[0],
                softmax.axis == -1 || softmax.axis == block.type(of: scores).rank - 1,
                let pattern = Scores(scores, isGrouped: isGrouped, in: block)
            else { continue }
            let types = [pattern.q, pattern.k, v].map { block.type(of: $0) }
            guard types.allSatisfy({ $0.isBound && $0.rank == 4 && $0.scalarType == .float32 }),
                types.allSatisfy({ $0.shape.prefix(2) == types[0].shape.prefix(2) })
            else { continue }
            if isGrouped {
                if let patch = try grouped(pattern, v, operation, at: index, block) { patches.append(patch) }
                continue
            }
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

    /// The weights behind a reshape of [B, G, r, L, S] to [B, G, r · L, S], or `id` itself; `nil` for other reshapes.
    private func ungrouped(_ id: ValueID, _ block: BlockView) -> (weights: ValueID, isGrouped: Bool)? {
        guard let reshape = block.producer(of: id, as: Reshape.self)?.operation else { return (id, false) }
        guard let source = reshape.operands[0], block.isUsedOnce(source),
            let groups = block.type(of: source).shape.counts, block.type(of: id).shape.counts == groups.joiningGroups
        else { return nil }
        return (source, true)
    }

    /// Attention in which each head of keys and values serves the query heads of its group.
    private func grouped(
        _ pattern: Scores,
        _ v: ValueID,
        _ operation: Operation,
        at index: Int,
        _ block: BlockView
    ) throws(ModelError) -> GraphPatch? {
        guard let groups = pattern.groups, let shape = block.type(of: pattern.q).shape.counts,
            let result = block.type(of: operation.results[0]).shape.counts
        else { return nil }
        let heads = groups[1] * groups[2]
        var maskShape: [Int]?
        if let mask = pattern.addend {
            guard let given = block.type(of: mask).shape.counts, given.count <= 5 else { return nil }
            let extents = [Int](repeating: 1, count: 5 - given.count) + given
            let isOfGroups = extents[1] == groups[1] && extents[2] == groups[2]
            guard isOfGroups || extents[1] == 1 && extents[2] == 1 else { return nil }
            maskShape = [extents[0], extents[1] * extents[2], extents[3], extents[4]]
        }
        return try block.patch(before: index) { (builder) throws(ModelError) in
            let query = try builder.reshaped(pattern.q, to: [shape[0], heads, groups[3], shape[3]])
            let key = pattern.keyIsTransposed ? try pattern.untransposedKey(block, &builder) : pattern.k
            let mask = try maskShape.map { (shape) throws(ModelError) in
                try pattern.addend.map { (mask) throws(ModelError) in try builder.reshaped(mask, to: shape) }
            }
            let attention = ScaledDotProductAttention(scale: pattern.scale, sharesKeys: true)
            let y = try builder.append(attention, [query, key, v, mask ?? nil])[0]
            return [(operation.results[0], try builder.reshaped(y, to: result))]
        }
    }
}

extension [Int] {
    /// [B, G, r · L, S] for [B, G, r, L, S].
    fileprivate var joiningGroups: [Int]? { count == 5 ? [self[0], self[1], self[2] * self[3], self[4]] : nil }
}

/// The operands of an attention's softmax.
private struct Scores {
    var q: ValueID
    var k: ValueID
    /// Whether the key is [B, H, E, S].
    var keyIsTransposed: Bool
    var scale = 1.0
    private(set) var addend: ValueID?
    private var constantMask: Tensor?
    /// The extents [B, G, r, L, S] of the scores where they are grouped.
    private(set) var groups: [Int]?

    init?(_ scores: ValueID, isGrouped: Bool, in block: BlockView) {
        var current = scores
        if block.isUsedOnce(current), let add = block.producer(of: current, as: Binary<Add>.self)?.operation {
            guard let (product, mask) = Self.operands(add, isGrouped: isGrouped, block) else { return nil }
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
            guard !isGrouped else { return nil }
            current = a
        }
        while block.isUsedOnce(current) {
            if let (source, factor) = Self.scaled(current, block) {
                scale *= factor
                current = source
            } else if isGrouped, groups == nil, let source = Self.ungroupedSource(current, block) {
                groups = block.type(of: current).shape.counts
                current = source
            } else {
                break
            }
        }
        guard isGrouped == (groups != nil) else { return nil }
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
    private static func operands(
        _ add: Operation,
        isGrouped: Bool,
        _ block: BlockView
    ) -> (product: ValueID, mask: ValueID)? {
        for (one, other) in [(0, 1), (1, 0)] {
            guard let product = add.operands[one], let mask = add.operands[other], block.constant(product) == nil,
                block.isUsedOnce(product)
            else { continue }
            if block.producer(of: product, as: MatMul.self) != nil || scaled(product, block) != nil
                || isGrouped && ungroupedSource(product, block) != nil
            {
                return (product, mask)
            }
        }
        return nil
    }

    /// The scores [B, G, r · L, S] that are reshaped to [B, G, r, L, S].
    private static func ungroupedSource(_ id: ValueID, _ block: BlockView) -> ValueID? {
        guard let reshape = block.producer(of: id, as: Reshape.self)?.operation, let source = reshape.operands[0],
            let joined = block.type(of: id).shape.counts?.joiningGroups, block.type(of: source).shape.counts == joined
        else { return nil }
        return source
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
