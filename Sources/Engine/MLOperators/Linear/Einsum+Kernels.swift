package import MLGraph
import MLKernels
import MLNumerics

extension Einsum {
    /// Two operands whose summed axes occur in both and not in the result: copied to stacks of matrices, multiplied,
    /// and copied to the result's order of axes.
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), request.operands.count == 2, let terms = try? terms(),
            let plan = EinsumProduct(terms.operands, terms.result, request)
        else { return [] }
        return [
            Kernel("gemm of copies", scratchByteCount: plan.scratchByteCount) { context in plan.run(context) }
        ]
    }
}

/// An einsum of two operands as copies around one stack of matrix products.
private struct EinsumProduct: Sendable {
    private let left: MLKernels.StridedCopy
    private let right: MLKernels.StridedCopy
    private let result: MLKernels.StridedCopy
    private let batch: Int
    private let rows: Int
    private let columns: Int
    private let depth: Int

    private static let alignment = 16
    private var leftCount: Int { aligned(batch * rows * depth) }
    private var rightCount: Int { aligned(batch * depth * columns) }
    var scratchByteCount: Int { (leftCount + rightCount + batch * rows * columns) * 4 }

    private func aligned(_ count: Int) -> Int { (count + Self.alignment - 1) / Self.alignment * Self.alignment }

    init?(_ operands: [[Character]], _ letters: [Character], _ request: KernelRequest) {
        guard operands.count == 2, operands.allSatisfy({ Set($0).count == $0.count }),
            let x = request.operand(0), let y = request.operand(1), x.count > 0, y.count > 0
        else { return nil }
        let (a, b) = (operands[0], operands[1])
        let shared = a.filter { b.contains($0) }
        let stacked = shared.filter { letters.contains($0) }
        let summed = shared.filter { !letters.contains($0) }
        let leftOnly = a.filter { !b.contains($0) }
        let rightOnly = b.filter { !a.contains($0) }
        guard (leftOnly + rightOnly).allSatisfy({ letters.contains($0) }) else { return nil }
        var extents: [Character: Int] = [:]
        for (names, shape) in [(a, x.logicalShape), (b, y.logicalShape)] {
            for (name, extent) in zip(names, shape) { extents[name] = Swift.max(extents[name] ?? 1, extent) }
        }
        func sizes(_ names: [Character]) -> [Int] { names.map { extents[$0] ?? 1 } }
        func steps(_ names: [Character], in operand: [Character], _ shape: [Int]) -> [Int] {
            let strides = shape.rowMajorStrides
            return names.map { name in
                guard let axis = operand.firstIndex(of: name), shape[axis] != 1 else { return 0 }
                return strides[axis]
            }
        }
        guard [a, b, letters].allSatisfy({ $0.count <= 8 }), letters.count <= 8,
            (stacked + leftOnly + summed).count <= 8, (stacked + summed + rightOnly).count <= 8
        else { return nil }
        let leftOrder = stacked + leftOnly + summed
        left = MLKernels.StridedCopy(
            extents: sizes(leftOrder),
            sourceStrides: steps(leftOrder, in: a, x.logicalShape),
            targetStrides: sizes(leftOrder).rowMajorStrides,
            elementByteCount: 4
        )
        let rightOrder = stacked + summed + rightOnly
        right = MLKernels.StridedCopy(
            extents: sizes(rightOrder),
            sourceStrides: steps(rightOrder, in: b, y.logicalShape),
            targetStrides: sizes(rightOrder).rowMajorStrides,
            elementByteCount: 4
        )
        let productOrder = stacked + leftOnly + rightOnly
        let product = sizes(productOrder)
        result = MLKernels.StridedCopy(
            extents: sizes(letters),
            sourceStrides: steps(letters, in: productOrder, product),
            targetStrides: sizes(letters).rowMajorStrides,
            elementByteCount: 4
        )
        batch = sizes(stacked).elementCount
        rows = sizes(leftOnly).elementCount
        columns = sizes(rightOnly).elementCount
        depth = sizes(summed).elementCount
    }

    func run(_ context: KernelContext) {
        let x = context.scratch.assumingMemoryBound(to: Float.self)
        let y = x + leftCount
        let z = y + rightCount
        left.run(context.operand(0), x)
        right.run(context.operand(1), y)
        MatMulKernel.multiply(
            x,
            MatMulKernel.RightHandSide(address: y, termStride: columns, columnStride: 1),
            into: z,
            rows: rows,
            terms: depth,
            columns: columns,
            aOffsets: (0..<batch).map { $0 * rows * depth },
            bOffsets: (0..<batch).map { $0 * depth * columns },
            cOffsets: (0..<batch).map { $0 * rows * columns }
        )
        result.run(z, context.result())
    }
}
