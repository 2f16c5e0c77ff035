package import MLGraph
import MLKernels
import MLNumerics

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

extension MatrixProduct {
    private var resultOffsets: [Int] { xOffsets.indices.map { $0 * rows * columns } }

    /// Whether a single matrix y multiplies all rows of x, which are contiguous.
    private var isOneProduct: Bool {
        yOffsets.allSatisfy { $0 == 0 } && xOffsets.enumerated().allSatisfy { $1 == $0 * rows * depth }
    }

    /// Rows of x are contiguous.
    fileprivate func direct(_ constant: Tensor?) -> Kernel {
        guard isOneProduct else {
            return Kernel("gemm, batched") { context in
                run(context.floats(0), aStride: xStrides.row, aOffsets: xOffsets, context)
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
            let x = context.scratch.assumingMemoryBound(to: Float.self)
            Transposition.run(context.floats(0), x, batch: count / (rows * depth), rows: depth, columns: rows)
            run(x, aStride: depth, aOffsets: xOffsets, context)
        }
    }

    private func run(
        _ x: UnsafePointer<Float>,
        aStride: Int,
        aOffsets: [Int],
        _ context: KernelContext
    ) {
        MatMulKernel.multiply(
            x,
            rightHandSide(context),
            into: context.resultFloats(),
            rows: rows,
            terms: depth,
            columns: columns,
            aStride: aStride,
            aOffsets: aOffsets,
            bOffsets: yOffsets,
            cOffsets: resultOffsets
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
