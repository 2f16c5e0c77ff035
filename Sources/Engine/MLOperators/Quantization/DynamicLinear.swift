import MLKernels
package import MLGraph
package import MLNumerics

/// A dense layer whose input is rounded to 8 bits when it runs: y[…, n] = s[…] · Σ round(x[…, k] / s[…]) · weight[n, k],
/// with s = max |x| / 127 over the last axis.
///
/// Operands: x […, K], weight [N, K]. Result: […, N]. The field `int8DynamicQuantize` of the format's inner products and
/// matrix products asks for it. Few rows, and weights that are not 8-bit integers, are `RoundRows` and `Linear`.
package struct DynamicLinear: Operator {
    /// From this number of rows on, products of integers take less time than those of floats with 8-bit weights, which
    /// take half of their memory.
    static let minimumRows = 8

    package init() {}

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        try Linear().resultTypes(of: operands)
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let rounded = try RoundRows().reference(
            ReferenceOperands([x], resultTypes: [ValueType(x.scalarType, Shape(x.shape))])
        )
        return try Linear().reference(ReferenceOperands(rounded + [operands[1]], resultTypes: operands.resultTypes))
    }

    package func expansion(_ operands: [ValueID?], in builder: inout GraphBuilder) throws(ModelError) -> [ValueID]? {
        guard let x = operands[0], let weight = operands[1] else { return nil }
        let shape = builder.shape(of: x).counts ?? []
        if let constant = builder.constant(weight), builder.type(of: x).scalarType == .float32,
            let terms = shape.last, terms > 0, shape.elementCount / terms >= Self.minimumRows,
            Self.integers(constant) != nil
        {
            return nil
        }
        return [try builder.add(Linear(), builder.add(RoundRows(), x), weight)]
    }

    /// The weight as integers that products of integers take.
    private static func integers(_ weight: Tensor) -> IntegerMatrix? {
        guard weight.shape.count == 2, let matrix = IntegerMatrix(weight, resultAxis: 0),
            IntegerProduct.isExact(terms: weight.shape[1], taps: 1, reach: 127, weights: matrix.range)
        else { return nil }
        return matrix
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let weight = request.operand(1)?.constant,
            let result = request.results.first, x.count > 0, result.count > 0, x.layout == .rowMajor,
            result.layout == .rowMajor, let matrix = Self.integers(weight)
        else { return [] }
        let (terms, columns) = (weight.shape[1], weight.shape[0])
        let rows = x.count / terms
        let scales = matrix.scales
        let filled = scales.count == columns ? scales : [Double](repeating: scales[0], count: columns)
        let scale = Tensor(values: filled, scalarType: .float32, shape: [columns])
        let zero = matrix.zeros.map { Int16(clamping: $0) }
        let zeros = zero.count == 1 ? [Int16](repeating: zero[0], count: columns) : zero
        let shape = IntegerWeights.Shape(terms: terms, columns: columns)
        // The steps, then the integers.
        let stepCount = (rows + 15) / 16 * 16
        return [
            Kernel(
                "integer gemm, dynamic",
                scratchByteCount: stepCount * 4 + rows * terms * 2,
                packedOperands: [1]
            ) {
                guard let weights = packedIntegers(matrix.codes, zero: zeros, shape: shape) else { return nil }
                return { context in
                    let (steps, y) = (context.scratchFloats, context.resultFloats())
                    let x = (context.scratch + stepCount * 4).assumingMemoryBound(to: Int16.self)
                    RowQuantizer.quantize(context.floats(0), rows: rows, terms: terms, into: x, steps: steps)
                    withExtendedLifetime(scale) {
                        IntegerKernel.multiply(
                            QuantizedIntegers(x, areBytes: false),
                            rows: rows,
                            by: weights,
                            into: y,
                            pipeline: IntegerKernel.OutputPipeline(
                                scale: scale.address.assumingMemoryBound(to: Float.self)
                            )
                        )
                    }
                    ElementwiseKernel.scaleShift(
                        y,
                        into: y,
                        outer: 1,
                        channels: rows,
                        inner: columns,
                        scale: steps,
                        shift: nil
                    )
                }
            }
        ]
    }

    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        context.rank() > 1 ? try context.rows(self) : try context.shifted(self)
    }
}
