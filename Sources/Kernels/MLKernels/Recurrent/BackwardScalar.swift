/// The number type of the recurrent operators' gradients: plain loops in double precision, kernels in single precision.
protocol BackwardScalar: BinaryFloatingPoint, BitwiseCopyable {
    /// A second factor that is prepared once for the products of all steps.
    associatedtype Factor

    /// Prepares `b[terms, columns]`, whose element (k, n) is at k · termStride + n · columnStride; one of the strides is 1.
    static func factor(
        _ b: UnsafePointer<Self>,
        terms: Int,
        columns: Int,
        termStride: Int,
        columnStride: Int
    ) -> Factor

    /// `c[rows, columns] = a[rows, terms] · b`, added to the previous contents when `adds`.
    static func multiply(
        _ a: UnsafePointer<Self>,
        _ b: Factor,
        into c: UnsafeMutablePointer<Self>,
        rows: Int,
        adds: Bool
    )

    /// `c[rows, columns] = a[rows, terms] · b`, added to the previous contents when `adds`; element (k, n) of b is at k
    /// · termStride + n · columnStride.
    static func multiply(
        _ a: UnsafePointer<Self>,
        _ b: UnsafePointer<Self>,
        termStride: Int,
        columnStride: Int,
        into c: UnsafeMutablePointer<Self>,
        rows: Int,
        terms: Int,
        columns: Int,
        adds: Bool
    )

    /// `y = function(x)`
    static func apply(
        _ function: GateFunction,
        _ x: UnsafePointer<Self>,
        into y: UnsafeMutablePointer<Self>,
        count: Int
    )

    /// One step of an LSTM's backward pass.
    static func stepBack(_ step: LSTMStepBack<Self>)
}

extension Double: BackwardScalar {
    /// A matrix in place.
    struct Factor {
        let address: UnsafePointer<Double>
        let terms: Int
        let columns: Int
        let termStride: Int
        let columnStride: Int
    }

    static func factor(
        _ b: UnsafePointer<Double>,
        terms: Int,
        columns: Int,
        termStride: Int,
        columnStride: Int
    ) -> Factor {
        Factor(address: b, terms: terms, columns: columns, termStride: termStride, columnStride: columnStride)
    }

    static func multiply(
        _ a: UnsafePointer<Double>,
        _ b: Factor,
        into c: UnsafeMutablePointer<Double>,
        rows: Int,
        adds: Bool
    ) {
        multiply(
            a,
            b.address,
            termStride: b.termStride,
            columnStride: b.columnStride,
            into: c,
            rows: rows,
            terms: b.terms,
            columns: b.columns,
            adds: adds
        )
    }

    static func multiply(
        _ a: UnsafePointer<Double>,
        _ b: UnsafePointer<Double>,
        termStride: Int,
        columnStride: Int,
        into c: UnsafeMutablePointer<Double>,
        rows: Int,
        terms: Int,
        columns: Int,
        adds: Bool
    ) {
        for row in 0..<rows {
            for column in 0..<columns {
                var sum = adds ? c[row * columns + column] : 0
                for k in 0..<terms { sum += a[row * terms + k] * b[k * termStride + column * columnStride] }
                c[row * columns + column] = sum
            }
        }
    }

    static func stepBack(_ step: LSTMStepBack<Double>) { step.run() }

    static func apply(
        _ function: GateFunction,
        _ x: UnsafePointer<Double>,
        into y: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        for index in 0..<count { y[index] = function.plain(x[index]) }
    }
}

extension Float: BackwardScalar {
    static func factor(
        _ b: UnsafePointer<Float>,
        terms: Int,
        columns: Int,
        termStride: Int,
        columnStride: Int
    ) -> PackedWeights {
        PackedWeights(
            b,
            terms: terms,
            columns: columns,
            layout: columnStride == 1 ? .termsByColumns : .columnsByTerms,
            rowStride: max(termStride, columnStride)
        )
    }

    static func multiply(
        _ a: UnsafePointer<Float>,
        _ b: PackedWeights,
        into c: UnsafeMutablePointer<Float>,
        rows: Int,
        adds: Bool
    ) {
        MatMulKernel.multiply(
            a,
            rows: rows,
            by: b,
            into: c,
            epilogue: Epilogue(residual: adds ? UnsafePointer(c) : nil)
        )
    }

    static func multiply(
        _ a: UnsafePointer<Float>,
        _ b: UnsafePointer<Float>,
        termStride: Int,
        columnStride: Int,
        into c: UnsafeMutablePointer<Float>,
        rows: Int,
        terms: Int,
        columns: Int,
        adds: Bool
    ) {
        MatMulKernel.multiply(
            a,
            MatMulKernel.RightHandSide(address: b, termStride: termStride, columnStride: columnStride),
            into: c,
            rows: rows,
            terms: terms,
            columns: columns,
            epilogue: Epilogue(residual: adds ? UnsafePointer(c) : nil)
        )
    }

    static func stepBack(_ step: LSTMStepBack<Float>) { step.runByVectors() }

    static func apply(
        _ function: GateFunction,
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        ElementwiseKernel.map(function.kernel, x, into: y, count: count)
    }
}
