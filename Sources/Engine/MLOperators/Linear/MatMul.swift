package import MLGraph
package import MLNumerics
import MLKernels

/// The product of two stacks of matrices: z[…, m, n] = Σ x[…, m, k] · y[…, k, n]; the axes before the last two are
/// broadcast.
///
/// An operand of rank 1 is a row (x) or a column (y), and its axis is removed from the result.
///
/// Operands: x, y. Result: of the scalar type of the operand that is not a constant, otherwise of x's.
package struct MatMul: Operator {
    package static let names: [MILName] = ["matmul"]

    /// Whether the last two axes of x are swapped first.
    package var transposeX: Bool
    /// Whether the last two axes of y are swapped first.
    package var transposeY: Bool

    package init(transposeX: Bool = false, transposeY: Bool = false) {
        self.transposeX = transposeX
        self.transposeY = transposeY
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("y")
        transposeX = try arguments.bool("transpose_x", default: false)
        transposeY = try arguments.bool("transpose_y", default: false)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let y = try operands.type(1)
        guard x.rank > 0, y.rank > 0 else {
            throw ModelError(.invalidModel, "matmul needs operands of rank 1 or more, not \(x) and \(y)")
        }
        let left = Self.matrix(x.shape, transposed: transposeX, isRow: true)
        let right = Self.matrix(y.shape, transposed: transposeY, isRow: false)
        if let k = left.columns.count, let rows = right.rows.count, k != rows {
            throw ModelError(
                .invalidModel,
                "matmul sums over \(k) elements of x \(x.shape) but \(rows) of y \(y.shape)"
            )
        }
        var shape = try broadcast(left.batch, right.batch)
        if x.rank > 1 { shape.append(left.rows) }
        if y.rank > 1 { shape.append(right.columns) }
        let isLeftConstant = operands.constant(0) != nil && operands.constant(1) == nil
        return [ValueType(isLeftConstant ? y.scalarType : x.scalarType, shape)]
    }

    /// The batch axes and the extents of the (transposed) matrix of an operand.
    static func matrix<Extent: ExpressibleByIntegerLiteral>(
        _ shape: [Extent],
        transposed: Bool,
        isRow: Bool
    ) -> (batch: [Extent], rows: Extent, columns: Extent) {
        if shape.count == 1 { return isRow ? ([], 1, shape[0]) : ([], shape[0], 1) }
        let (a, b) = (shape[shape.count - 2], shape[shape.count - 1])
        return (Array(shape.dropLast(2)), transposed ? b : a, transposed ? a : b)
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let product = MatrixProduct(self, x: operands[0].shape, y: operands[1].shape, result: operands.shape())
        let x = operands[0].values
        let y = operands[1].values
        var result: [Double] = []
        result.reserveCapacity(operands.shape().elementCount)
        for (a, b) in zip(product.xOffsets, product.yOffsets) {
            for row in 0..<product.rows {
                for column in 0..<product.columns {
                    var sum = 0.0
                    for k in 0..<product.depth {
                        sum +=
                            x[a + row * product.xStrides.row + k * product.xStrides.column]
                            * y[b + k * product.yStrides.row + column * product.yStrides.column]
                    }
                    result.append(sum)
                }
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: operands.shape())]
    }
}

extension MatMul {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let x = request.operand(0), let y = request.operand(1), x.count > 0, y.count > 0,
            (request.operands + request.results.map(Optional.some)).allSatisfy({ $0?.layout == .rowMajor })
        else { return [] }
        let product = MatrixProduct(
            self,
            x: x.logicalShape,
            y: y.logicalShape,
            result: request.results[0].logicalShape
        )
        return [product.xStrides.column == 1 ? product.direct(y.constant) : product.transposing(x.logicalShape)]
    }
}

/// A `MatMul` over concrete shapes: extents, strides in elements, and the offset of each matrix of the stack.
package struct MatrixProduct: Sendable {
    package let rows: Int
    package let columns: Int
    package let depth: Int
    package let xStrides: (row: Int, column: Int)
    package let yStrides: (row: Int, column: Int)
    package let xOffsets: [Int]
    package let yOffsets: [Int]

    package init(_ op: MatMul, x: [Int], y: [Int], result: [Int]) {
        let left = MatMul.matrix(x, transposed: op.transposeX, isRow: true)
        let right = MatMul.matrix(y, transposed: op.transposeY, isRow: false)
        rows = left.rows
        columns = right.columns
        depth = left.columns
        let batch = Array(result.dropLast((x.count > 1 ? 1 : 0) + (y.count > 1 ? 1 : 0)))
        let isTransposedX = op.transposeX && x.count > 1
        let isTransposedY = op.transposeY && y.count > 1
        xStrides = isTransposedX ? (1, rows) : (depth, 1)
        yStrides = isTransposedY ? (1, depth) : (columns, 1)
        let (xCount, yCount) = (rows * depth, depth * columns)
        xOffsets = broadcastOffsets(of: left.batch, in: batch).map { $0 * xCount }
        yOffsets = broadcastOffsets(of: right.batch, in: batch).map { $0 * yCount }
    }
}

extension MatrixProduct {
    /// Whether a single matrix y multiplies all rows of x, which are contiguous.
    private var isOneProduct: Bool {
        yOffsets.allSatisfy { $0 == 0 } && xOffsets.enumerated().allSatisfy { $1 == $0 * rows * depth }
    }

    /// Rows of x are contiguous.
    fileprivate func direct(_ constant: Tensor?) -> Kernel {
        guard isOneProduct else {
            return Kernel("gemm, batched") { context in
                batch(aStride: xStrides.row).multiply(
                    context.floats(0),
                    rightHandSide(context),
                    into: context.resultFloats()
                )
            }
        }
        let allRows = rows * xOffsets.count
        if let constant {
            let layout: PackedWeights.Layout = yStrides.column == 1 ? .termsByColumns : .columnsByTerms
            return Kernel("gemm \(constant.scalarType.milName)", packedOperands: [1]) {
                guard let weights = packedMatrix(constant, terms: depth, columns: columns, layout: layout) else {
                    return nil
                }
                return { context in
                    MatMulKernel.multiply(context.floats(0), rows: allRows, by: weights, into: context.resultFloats())
                }
            }
        }
        return Kernel("gemm, packing") { context in
            MatMulKernel.multiply(
                context.floats(0),
                rightHandSide(context),
                into: context.resultFloats(),
                rows: allRows,
                terms: depth,
                columns: columns
            )
        }
    }

    /// Transposes x in scratch memory first.
    fileprivate func transposing(_ shape: [Int]) -> Kernel {
        let count = shape.elementCount
        return Kernel("gemm, transposing", scratchByteCount: count * 4) { context in
            let x = context.scratchFloats
            Transposition.run(context.floats(0), x, batch: count / (rows * depth), rows: depth, columns: rows)
            batch(aStride: depth).multiply(x, rightHandSide(context), into: context.resultFloats())
        }
    }

    private func batch(aStride: Int) -> MatMulKernel.Batch {
        MatMulKernel.Batch(
            rows: rows,
            terms: depth,
            columns: columns,
            aStride: aStride,
            aOffsets: xOffsets,
            bOffsets: yOffsets,
            cOffsets: xOffsets.indices.map { $0 * rows * columns }
        )
    }

    private func rightHandSide(_ context: KernelContext) -> MatMulKernel.RightHandSide {
        MatMulKernel.RightHandSide(
            address: context.floats(1),
            termStride: yStrides.row,
            columnStride: yStrides.column
        )
    }
}

extension MatMul: DifferentiableOperator {
    /// With x and y as stacks of matrices: dx = dz · yᵀ, dy = xᵀ · dz, summed over the broadcast axes.
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let (first, second) = (try context.operand(0), try context.operand(1))
        let (a, b) = (try context.extents(first), try context.extents(second))
        let x = a.count == 1 ? try context.reshaped(first, to: [1] + a) : first
        let y = b.count == 1 ? try context.reshaped(second, to: b + [1]) : second
        let isTransposedX = transposeX && a.count > 1
        let isTransposedY = transposeY && b.count > 1
        var shape = try context.extents(context.results[0])
        if b.count == 1 { shape.append(1) }
        if a.count == 1 { shape.insert(1, at: shape.count - 1) }
        let dz = try context.reshaped(context.resultGradient(), to: shape)
        if context.isNeeded(0) {
            let dx =
                isTransposedX
                ? try context.add(MatMul(transposeX: isTransposedY, transposeY: true), y, dz)
                : try context.add(MatMul(transposeY: !isTransposedY), dz, y)
            let summed = try context.summed(dx, toShape: context.extents(x))
            context.setGradient(ofOperand: 0, to: try context.reshaped(summed, to: a))
        }
        if context.isNeeded(1) {
            let dy =
                isTransposedY
                ? try context.add(MatMul(transposeX: true, transposeY: isTransposedX), dz, x)
                : try context.add(MatMul(transposeX: !isTransposedX), x, dz)
            let summed = try context.summed(dy, toShape: context.extents(y))
            context.setGradient(ofOperand: 1, to: try context.reshaped(summed, to: b))
        }
    }
}

extension MatMul {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        let ranks = [context.rank(0), context.rank(1)]
        guard let rank = ranks.max(), ranks.allSatisfy({ $0 >= 2 }) else { return nil }
        if !context.isBatched(1), ranks == [2, 2], !transposeX { return try context.rows(self) }
        let lead = rank > 2 ? context.resultTypes[0].shape[0].count : nil
        return try context.broadcasting(self, rank: rank, lead: lead)
    }
}
