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
package struct ScaledDotProductAttention: Operator {
    package static let names: [MILName] = [MILName("scaled_dot_product_attention", .iOS18 ... .newest)]

    /// The factor of the products; 1 / √E when `nil`.
    package var scale: Double?
    /// Query l of L looks at keys 0…l + S − L only, so that the last query sees all keys.
    package var isCausal: Bool
    /// The number of heads, when the heads lie inside or behind the tokens.
    package var heads: Int?

    package init(scale: Double? = nil, isCausal: Bool = false, heads: Int? = nil) {
        self.scale = scale
        self.isCausal = isCausal
        self.heads = heads
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("query")
        try arguments.operand("key")
        try arguments.operand("value")
        arguments.optionalOperand("attn_mask")
        self.init()
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let q = try operands.type(0)
        let shapes = [q.shape, try operands.shape(1), try operands.shape(2)]
        let rank = q.rank
        guard rank >= 3, shapes.allSatisfy({ $0.count == rank }) else {
            throw ModelError(.invalidModel, "query, key and value must have one rank of 3 or more, not \(shapes)")
        }
        let tokens = heads == nil || rank == 3 ? rank - 2 : 1
        if let heads {
            for shape in shapes {
                let count = rank == 3 ? shape[2].map { $0 % heads } : shape[2].map { $0 - heads }
                guard heads > 0, rank <= 4, (count.count ?? 0) == 0 else {
                    throw ModelError(.invalidModel, "\(heads) heads do not fit shape \(shape)")
                }
            }
        }
        func agree(_ a: Dimension, _ b: Dimension) -> Bool { a == b || !a.isKnown || !b.isKnown }
        let batch = (0..<rank - 1).filter { $0 != tokens }
        guard batch.allSatisfy({ agree(shapes[0][$0], shapes[1][$0]) && agree(shapes[0][$0], shapes[2][$0]) }),
            agree(shapes[0][rank - 1], shapes[1][rank - 1]), agree(shapes[1][tokens], shapes[2][tokens])
        else {
            throw ModelError(
                .invalidModel,
                "query \(shapes[0]), key \(shapes[1]) and value \(shapes[2]) disagree in batch, depth or tokens"
            )
        }
        if operands.has(3) {
            var scores = batch.map { shapes[0][$0] }
            if heads != nil, rank == 3 { scores.append(Dimension(heads ?? 1)) }
            scores += [shapes[0][tokens], shapes[1][tokens]]
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
            heads: heads,
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
                        sum += q[item.q + row * geometry.qStride + e] * k[item.k + column * geometry.kStride + e]
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
                        sum += weights[column] * v[item.v + column * geometry.vStride + f]
                    }
                    result[item.result + row * geometry.resultStride + f] = sum / total
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
            k.scalarType == .float32, v.scalarType == .float32,
            (request.operands + [y]).allSatisfy({ $0 == nil || $0?.layout == .rowMajor })
        else { return [] }
        let mask = request.operand(3)
        guard let mask = MaskForm(mask, batch: batch(q.logicalShape)) else { return [] }
        let geometry = AttentionGeometry(
            heads: heads,
            q: q.logicalShape,
            k: k.logicalShape,
            v: v.logicalShape,
            mask: request.operand(3)?.logicalShape
        )
        let (items, lanes) = batch(q.logicalShape)
        let shape = AttentionKernel.Shape(
            batch: items,
            heads: lanes,
            queries: geometry.queries,
            keys: geometry.keys,
            size: geometry.depth,
            valueSize: geometry.valueDepth
        )
        /// Strides of batch item, head and position for rows of `row` elements, one row for each token and head.
        func strides(_ tokens: Int, _ row: Int) -> (batch: Int, head: Int, position: Int) {
            heads == nil
                ? (lanes * tokens * row, tokens * row, row)
                : (tokens * lanes * row, row, lanes * row)
        }
        let (qs, ks) = (strides(geometry.queries, geometry.depth), strides(geometry.keys, geometry.depth))
        let (vs, ys) = (strides(geometry.keys, geometry.valueDepth), strides(geometry.queries, geometry.valueDepth))
        let factor = Float(scale ?? 1 / Double(geometry.depth).squareRoot())
        return [
            Kernel("attention") { context in
                AttentionKernel.attend(
                    shape,
                    query: AttentionKernel.Operand(context.floats(0), strides: qs),
                    key: AttentionKernel.Operand(context.floats(1), strides: ks),
                    value: AttentionKernel.Operand(context.floats(2), strides: vs),
                    into: context.resultFloats(),
                    strides: ys,
                    scale: factor,
                    mask: mask.mask(context),
                    isCausal: isCausal
                )
            }
        ]
    }

    /// The batch items and heads in the axes before the matrices.
    private func batch(_ q: [Int]) -> (items: Int, heads: Int) {
        if let heads { return (q[0], heads) }
        let lead = q.dropLast(2)
        return (lead.dropLast().reduce(1, *), lead.last ?? 1)
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
package struct AttentionGeometry: Sendable {
    /// One head of one item of the batch.
    package struct Item: Sendable {
        package var q: Int
        package var k: Int
        package var v: Int
        package var mask: Int
        package var result: Int
    }

    package let queries: Int
    package let keys: Int
    package let depth: Int
    package let valueDepth: Int
    /// From one token to the next.
    package let qStride: Int
    package let kStride: Int
    package let vStride: Int
    package let resultStride: Int
    package let maskStrides: (row: Int, column: Int)
    package let items: [Item]

    package init(heads: Int?, q: [Int], k: [Int], v: [Int], mask: [Int]?) {
        let rank = q.count
        let tokens = heads == nil || rank == 3 ? rank - 2 : 1
        let inside = heads ?? 1
        let isMerged = heads != nil && rank == 3
        queries = q[tokens]
        keys = k[tokens]
        depth = isMerged ? q[2] / inside : q[rank - 1]
        valueDepth = isMerged ? v[2] / inside : v[rank - 1]
        qStride = inside * depth
        kStride = inside * depth
        vStride = inside * valueDepth
        resultStride = inside * valueDepth
        let batch = heads == nil ? Array(q.dropLast(2)) : [q[0], inside]
        let matrix = mask.map { Array($0.suffix(2)) } ?? []
        let columns = matrix.last ?? 1
        maskStrides = (matrix.count < 2 || matrix[0] == 1 ? 0 : columns, columns == 1 ? 0 : 1)
        let positions = broadcastOffsets(of: Array((mask ?? []).dropLast(2)), in: batch)
        let size = matrix.elementCount
        var items: [Item] = []
        for index in 0..<batch.elementCount {
            let (n, h) = heads == nil ? (index, 0) : (index / inside, index % inside)
            items.append(
                Item(
                    q: n * queries * qStride + h * depth,
                    k: n * keys * kStride + h * depth,
                    v: n * keys * vStride + h * valueDepth,
                    mask: positions[index] * size,
                    result: n * queries * resultStride + h * valueDepth
                )
            )
        }
        self.items = items
    }
}

extension ScaledDotProductAttention {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
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
