package import MLGraph
import MLKernels
import MLNumerics

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
                    query: placed(context.floats(0), qs),
                    key: placed(context.floats(1), ks),
                    value: placed(context.floats(2), vs),
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
                .keep(context.operand(3).assumingMemoryBound(to: UInt8.self)),
                strides: strides
            )
        }
        return source.pointer(context).map { AttentionKernel.Mask(.added($0), strides: strides) }
    }
}

private func placed(
    _ address: UnsafePointer<Float>,
    _ strides: (batch: Int, head: Int, position: Int)
) -> AttentionKernel.Operand {
    AttentionKernel.Operand(
        address: address,
        batchStride: strides.batch,
        headStride: strides.head,
        positionStride: strides.position
    )
}
