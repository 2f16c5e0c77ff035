#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
package import MLGraph
package import MLNumerics
import MLKernels

/// Attention: y = softmax(scale · q kᵀ + mask) v for every head.
///
/// Operands: q, k, v, mask?. Without `heads` they are [batch…, L, E], [batch…, S, E] and [batch…, S, F], with the heads
/// as one of the batch axes, and the result is [batch…, L, F]. With `heads` the tokens come before the heads: [B, L, H
/// · E], [B, S, H · E] and [B, S, H · F], or the same of rank 4 with H as a separate axis; the result has the form of q
/// with F in place of E. The mask is broadcast to [batch…, L, S], or [B, H, L, S] with `heads`; `bool` selects the
/// keys, numbers are added to the scores. Queries without any key get zeros.
///
/// Keys and values may be `float16` beside `float32` queries.
package struct ScaledDotProductAttention: Operator {
    package static let names: [MILName] = [MILName("scaled_dot_product_attention", .iOS18 ... .newest)]

    /// The factor of the products; 1 / √E when `nil`.
    package var scale: Double?
    /// Query l of L looks at keys 0…l + S − L only, so that the last query sees all keys.
    package var isCausal: Bool
    /// The number of heads, when the heads lie inside or behind the tokens.
    package var heads: Int?
    /// Grouped-query attention: keys and values may have fewer heads, G of them, and query head h uses head h · G / H.
    package var sharesKeys: Bool
    /// Without `heads`: keys and values are [B, S, H, E] and [B, S, H, F] although queries are [B, H, L, E].
    package var keysAreTokensFirst: Bool

    package init(
        scale: Double? = nil,
        isCausal: Bool = false,
        heads: Int? = nil,
        sharesKeys: Bool = false,
        keysAreTokensFirst: Bool = false
    ) {
        self.scale = scale
        self.isCausal = isCausal
        self.heads = heads
        self.sharesKeys = sharesKeys
        self.keysAreTokensFirst = keysAreTokensFirst
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("query")
        try arguments.operand("key")
        try arguments.operand("value")
        arguments.optionalOperand("attn_mask")
        self.init()
    }

    /// The axes of batch items and heads of an operand, and the axis of its tokens.
    func axes(rank: Int, ofKeys: Bool) -> (batch: [Int], tokens: Int) {
        let tokens = heads != nil || ofKeys && keysAreTokensFirst ? 1 : rank - 2
        return ((0..<rank - 1).filter { $0 != tokens }, tokens)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let q = try operands.type(0)
        let shapes = [q.shape, try operands.shape(1), try operands.shape(2)]
        let rank = q.rank
        guard rank >= 3, shapes.allSatisfy({ $0.count == rank }) else {
            throw ModelError(.invalidModel, "query, key and value must have one rank of 3 or more, not \(shapes)")
        }
        if let heads {
            for shape in shapes {
                let count =
                    rank == 3 ? shape[2].map { $0 % heads } : shape[2].map { sharesKeys ? heads % $0 : $0 - heads }
                guard heads > 0, rank <= 4, (count.count ?? 0) == 0 else {
                    throw ModelError(.invalidModel, "\(heads) heads do not fit shape \(shape)")
                }
            }
        }
        guard rank == 4 || !sharesKeys && !keysAreTokensFirst else {
            throw ModelError(
                .invalidModel,
                "keys that are shared or have their tokens first are of rank 4, not \(rank)"
            )
        }
        func agree(_ a: Dimension, _ b: Dimension) -> Bool { a == b || !a.isKnown || !b.isKnown }
        let (batch, tokens) = axes(rank: rank, ofKeys: false)
        let keys = axes(rank: rank, ofKeys: true)
        let agreeInBatch = zip(batch, keys.batch).allSatisfy { (axis, key) in
            guard agree(shapes[1][key], shapes[2][key]) else { return false }
            if sharesKeys, axis == batch.last, let all = shapes[0][axis].count, let count = shapes[1][key].count {
                return count > 0 && all % count == 0
            }
            return agree(shapes[0][axis], shapes[1][key])
        }
        guard agreeInBatch, agree(shapes[0][rank - 1], shapes[1][rank - 1]),
            agree(shapes[1][keys.tokens], shapes[2][keys.tokens])
        else {
            throw ModelError(
                .invalidModel,
                "query \(shapes[0]), key \(shapes[1]) and value \(shapes[2]) disagree in batch, depth or tokens"
            )
        }
        if operands.has(3) {
            var scores = batch.map { shapes[0][$0] }
            if heads != nil, rank == 3 { scores.append(Dimension(heads ?? 1)) }
            scores += [shapes[0][tokens], shapes[1][keys.tokens]]
            let mask = try operands.shape(3)
            guard mask.count <= scores.count else {
                throw ModelError(.invalidModel, "the mask \(mask) has more axes than the scores \(scores)")
            }
            _ = try broadcast(mask, scores)
        }
        return [q.with(q.shape.dropLast() + [shapes[2][rank - 1]])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let geometry = AttentionGeometry(
            self,
            q: operands[0].shape,
            k: operands[1].shape,
            v: operands[2].shape,
            mask: operands.optional(3)?.shape
        )
        let q = operands[0].values
        let k = operands[1].values
        let v = operands[2].values
        let mask = operands.optional(3)?.values
        let isBoolean = operands.optional(3)?.scalarType == .bool
        let factor = scale ?? 1 / Double(geometry.depth).squareRoot()
        var result = [Double](repeating: 0, count: operands.shape().elementCount)
        for item in geometry.items {
            for row in 0..<geometry.queries {
                var scores = [Double](repeating: -.infinity, count: geometry.keys)
                for column in 0..<(isCausal ? Swift.max(row + 1 + geometry.keys - geometry.queries, 0) : geometry.keys)
                {
                    var sum = 0.0
                    for e in 0..<geometry.depth {
                        sum += q[item.q + row * geometry.q.position + e] * k[item.k + column * geometry.k.position + e]
                    }
                    let added = mask?[item.mask + row * geometry.maskStrides.row + column * geometry.maskStrides.column]
                    if isBoolean {
                        scores[column] = added == 0 ? -.infinity : sum * factor
                    } else {
                        scores[column] = sum * factor + (added ?? 0)
                    }
                }
                let largest = scores.max() ?? -.infinity
                guard largest > -.infinity || largest.isNaN else { continue }
                let weights = scores.map { exp($0 - largest) }
                let total = weights.reduce(0, +)
                for f in 0..<geometry.valueDepth {
                    var sum = 0.0
                    for column in 0..<geometry.keys {
                        sum += weights[column] * v[item.v + column * geometry.v.position + f]
                    }
                    result[item.result + row * geometry.result.position + f] = sum / total
                }
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: operands.shape())]
    }
}

extension ScaledDotProductAttention {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let q = request.operand(0), let k = request.operand(1),
            let v = request.operand(2), let y = request.results.first, q.count > 0, k.count > 0, v.count > 0,
            k.scalarType == v.scalarType, k.scalarType == .float32 || k.scalarType == .float16,
            (request.operands + [y]).allSatisfy({ $0 == nil || $0?.layout == .rowMajor })
        else { return [] }
        let geometry = AttentionGeometry(
            self,
            q: q.logicalShape,
            k: k.logicalShape,
            v: v.logicalShape,
            mask: request.operand(3)?.logicalShape
        )
        let (items, lanes) = (geometry.batch.dropLast().reduce(1, *), geometry.batch.last ?? 1)
        guard let mask = MaskForm(request.operand(3), batch: (items, lanes)) else { return [] }
        let shape = AttentionKernel.Shape(
            batch: items,
            heads: lanes,
            keyHeads: geometry.keyHeads,
            queries: geometry.queries,
            keys: geometry.keys,
            size: geometry.depth,
            valueSize: geometry.valueDepth
        )
        let factor = Float(scale ?? 1 / Double(geometry.depth).squareRoot())
        func kernel<Key: AttentionElement>(
            _ name: String,
            _ keys: @escaping @Sendable (KernelContext, Int, AttentionGeometry.Layout) -> AttentionKernel.Operand<Key>
        ) -> Kernel {
            Kernel(name) { context in
                AttentionKernel.attend(
                    shape,
                    query: AttentionKernel.Operand(context.floats(0), strides: geometry.q.strides),
                    key: keys(context, 1, geometry.k),
                    value: keys(context, 2, geometry.v),
                    into: context.resultFloats(),
                    strides: geometry.result.strides,
                    scale: factor,
                    mask: mask.mask(context),
                    isCausal: isCausal
                )
            }
        }
        guard k.scalarType == .float32 else {
            return [kernel("attention f16") { AttentionKernel.Operand($0.halves($1), strides: $2.strides) }]
        }
        return [kernel("attention") { AttentionKernel.Operand($0.floats($1), strides: $2.strides) }]
    }
}

/// A mask broadcast to [items, heads, queries, keys].
private struct MaskForm: Sendable {
    private let source: FloatSource
    private let isBoolean: Bool
    private let strides: (batch: Int, head: Int, query: Int, key: Int)

    /// `nil` when the mask's axes do not reduce to the four, or its type is unknown to the kernel.
    init?(_ buffer: KernelRequest.Buffer?, batch: (items: Int, heads: Int)) {
        isBoolean = buffer?.scalarType == .bool
        guard let buffer else {
            source = .absent
            strides = (0, 0, 0, 0)
            return
        }
        if isBoolean {
            source = .operand(3)
        } else if buffer.scalarType == .float32 {
            source = .operand(3)
        } else if let constant = buffer.constant, buffer.scalarType == .float16 {
            source = .copy(constant.converted(to: .float32))
        } else {
            return nil
        }
        let shape = [Int](repeating: 1, count: Swift.max(4 - buffer.logicalShape.count, 0)) + buffer.logicalShape
        let lead = shape.dropLast(3)
        let items = lead.reduce(1, *)
        // More than four axes reduce to four only when all or none of the leading ones are repeated.
        guard items == 1 || items == batch.items else { return nil }
        let (heads, queries, keys) = (shape[shape.count - 3], shape[shape.count - 2], shape[shape.count - 1])
        strides = (
            items == 1 ? 0 : heads * queries * keys,
            heads == 1 ? 0 : queries * keys,
            queries == 1 ? 0 : keys,
            keys == 1 ? 0 : 1
        )
    }

    func mask(_ context: KernelContext) -> AttentionKernel.Mask? {
        if isBoolean {
            return AttentionKernel.Mask(
                .keep(context.bytes(3)),
                strides: strides
            )
        }
        return source.pointer(context).map { AttentionKernel.Mask(.added($0), strides: strides) }
    }
}

/// The memory layout of an attention's heads; strides and offsets count elements.
struct AttentionGeometry: Sendable {
    /// One head of one item of the batch.
    struct Item: Sendable {
        var q: Int
        var k: Int
        var v: Int
        var mask: Int
        var result: Int
    }

    /// The strides of an operand's batch axes, whose last one counts heads, and of its tokens.
    struct Layout: Sendable {
        let batch: [Int]
        let position: Int

        /// The strides of batch item, head and token; batch axes before the last lie one behind the other.
        var strides: (batch: Int, head: Int, position: Int) {
            (batch.count > 1 ? batch[batch.count - 2] : 0, batch.last ?? 0, position)
        }
    }

    /// The extents of the queries' batch axes, whose last one counts heads.
    let batch: [Int]
    let keyHeads: Int
    let queries: Int
    let keys: Int
    let depth: Int
    let valueDepth: Int
    let q: Layout
    let k: Layout
    let v: Layout
    let result: Layout
    let maskStrides: (row: Int, column: Int)
    private let mask: [Int]

    init(_ op: ScaledDotProductAttention, q: [Int], k: [Int], v: [Int], mask: [Int]?) {
        let rank = q.count
        let merged = rank == 3 ? op.heads : nil
        let (axes, keyAxes) = (op.axes(rank: rank, ofKeys: false), op.axes(rank: rank, ofKeys: true))
        func layout(_ shape: [Int], _ axes: (batch: [Int], tokens: Int)) -> Layout {
            if let merged { return Layout(batch: [shape[1] * shape[2], shape[2] / merged], position: shape[2]) }
            let strides = StridedView(dense: shape).strides
            return Layout(batch: axes.batch.map { strides[$0] }, position: strides[axes.tokens])
        }
        queries = q[axes.tokens]
        keys = k[keyAxes.tokens]
        depth = q[rank - 1] / (merged ?? 1)
        valueDepth = v[rank - 1] / (merged ?? 1)
        batch = merged.map { [q[0], $0] } ?? axes.batch.map { q[$0] }
        keyHeads = merged ?? keyAxes.batch.last.map { k[$0] } ?? 1
        self.q = layout(q, axes)
        self.k = layout(k, keyAxes)
        self.v = layout(v, keyAxes)
        result = layout(q.dropLast() + [v[rank - 1]], axes)
        self.mask = mask ?? []
        let matrix = self.mask.suffix(2)
        let columns = matrix.last ?? 1
        maskStrides = (matrix.count < 2 || matrix.first == 1 ? 0 : columns, columns == 1 ? 0 : 1)
    }

    /// Every head of every item of the batch.
    var items: [Item] {
        let positions = broadcastOffsets(of: Array(mask.dropLast(2)), in: batch)
        let size = mask.suffix(2).reduce(1, *)
        return (0..<batch.elementCount).map { number in
            var indices: [Int] = []
            var rest = number
            for extent in batch.reversed() {
                indices.append(rest % extent)
                rest /= extent
            }
            indices.reverse()
            func offset(_ layout: Layout, _ indices: [Int]) -> Int {
                zip(layout.batch, indices).reduce(0) { $0 + $1.0 * $1.1 }
            }
            var shared = indices
            if let head = shared.popLast() { shared.append(head * keyHeads / (batch.last ?? 1)) }
            return Item(
                q: offset(q, indices),
                k: offset(k, shared),
                v: offset(v, shared),
                mask: positions[number] * size,
                result: offset(result, indices)
            )
        }
    }
}

extension ScaledDotProductAttention {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        // With shared keys the axis of heads must stay the last but two.
        guard !sharesKeys || context.rank() == 4 else { return nil }
        let rank = heads == nil ? context.rank() : 4
        guard context.has(3), rank >= 3, let items = context.shape().first else {
            return try context.rows(self, along: [0, 1, 2])
        }
        // A mask of one item is repeated for all of an example's, which only works where there is one.
        let isWhole = context.rank(3) == rank && context.shape(3)[0] == items
        guard context.isBatched(3) || isWhole && items > 1 else { return try context.rows(self, along: [0, 1, 2]) }
        guard isWhole || items == 1 else { return nil }
        var operands: [ValueID?] = []
        for index in 0..<3 {
            guard context.shape(index).first == items else { return nil }
            operands.append(try context.joined(index))
        }
        operands.append(try context.joined(3, rank: rank))
        return try context.finish(self, operands)
    }
}
