package import MLGraph
import MLKernels
import MLNumerics

extension Linear {
    package var halfPrecisionOperands: [Int] { [1] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let weight = request.operand(1),
            let bias = FloatSource(request, 2), let result = request.results.first, x.count > 0, result.count > 0,
            x.layout == .rowMajor, result.layout == .rowMajor
        else { return [] }
        if let residual = request.operand(3) {
            guard residual.scalarType == .float32, residual.logicalShape == result.logicalShape else { return [] }
        }
        let terms = weight.logicalShape[weightAxes.terms]
        let columns = weight.logicalShape[weightAxes.columns]
        let strides = transposesWeight ? (term: columns, column: 1) : (term: 1, column: terms)
        let layout: PackedWeights.Layout = transposesWeight ? .termsByColumns : .columnsByTerms
        let rows = x.count / terms
        let function = activation.kernelFunction
        guard let constant = weight.constant else {
            guard weight.scalarType == .float32 else { return [] }
            return [
                Kernel("gemm, packing") { context in
                    MatMulKernel.multiply(
                        context.floats(0),
                        MatMulKernel.RightHandSide(
                            address: context.floats(1),
                            termStride: strides.term,
                            columnStride: strides.column
                        ),
                        into: context.resultFloats(),
                        rows: rows,
                        terms: terms,
                        columns: columns,
                        epilogue: Epilogue(
                            bias: bias.pointer(context),
                            residual: context.optionalOperand(3)?.assumingMemoryBound(to: Float.self),
                            function: function
                        )
                    )
                }
            ]
        }
        guard constant.isPackable else { return [] }
        return [
            Kernel("gemm \(constant.scalarType.milName)", packedOperands: [1]) {
                guard let weights = packedMatrix(constant, terms: terms, columns: columns, layout: layout) else {
                    return nil
                }
                return { context in
                    MatMulKernel.multiply(
                        context.floats(0),
                        rows: rows,
                        by: weights,
                        into: context.resultFloats(),
                        epilogue: Epilogue(
                            bias: bias.pointer(context),
                            residual: context.optionalOperand(3)?.assumingMemoryBound(to: Float.self),
                            function: function
                        )
                    )
                }
            }
        ]
    }
}

/// A constant matrix packed for the micro-kernels, shared between plans.
func packedMatrix(_ tensor: Tensor, terms: Int, columns: Int, layout: PackedWeights.Layout) -> PackedWeights? {
    PackedConstants.packed(tensor, form: "matrix \(terms) \(columns) \(layout) \(InstructionSet.current)") { memory in
        PackedWeights(
            stored: memory,
            isHalf: tensor.scalarType == .float16,
            terms: terms,
            columns: columns,
            layout: layout
        )
    } make: {
        let rowByteCount = tensor.scalarType.byteCount(of: layout == .columnsByTerms ? terms : columns)
        return PackedWeights(
            isHalf: tensor.scalarType == .float16,
            terms: terms,
            columns: columns,
            layout: layout
        ) { rows, body in
            let bytes = rows.lowerBound * rowByteCount..<rows.upperBound * rowByteCount
            tensor.storage.withPassingBytes(from: tensor.byteOffset + bytes.lowerBound, count: bytes.count, body)
            tensor.letGo(bytes)
        }
    }
}
