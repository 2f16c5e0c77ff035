#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import MLKernels

/// The number type of the recurrent operators' gradients: plain loops in double precision, kernels in single precision.
protocol BackwardScalar: BinaryFloatingPoint, BitwiseCopyable {
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
        _ function: Activation,
        _ x: UnsafePointer<Self>,
        into y: UnsafeMutablePointer<Self>,
        count: Int
    )
}

extension Double: BackwardScalar {
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

    static func apply(
        _ function: Activation,
        _ x: UnsafePointer<Double>,
        into y: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        for index in 0..<count { y[index] = function.apply(x[index]) }
    }
}

extension Float: BackwardScalar {
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

    static func apply(
        _ function: Activation,
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        ElementwiseKernel.map(function.kernelFunction, x, into: y, count: count)
    }
}

extension Activation {
    /// The derivative at `x`, where the function is `y`.
    func derivative<Scalar: BinaryFloatingPoint>(_ x: Scalar, _ y: Scalar) -> Scalar {
        switch self {
        case .sigmoid: y * (1 - y)
        case .tanh: 1 - y * y
        case .none: 1
        case .relu: y > 0 ? 1 : 0
        default: Scalar(slope(Double(x)))
        }
    }

    private func slope(_ x: Double) -> Double {
        switch self {
        case .none: 1
        case .relu: Relu().derivative(at: x, value: apply(x))
        case .clip(let low, let high): Clip(lower: low, upper: high).derivative(at: x, value: 0)
        case .leakyRelu(let alpha): LeakyRelu(alpha: alpha).derivative(at: x, value: 0)
        case .sigmoid: Sigmoid().derivative(at: x, value: apply(x))
        case .tanh: Tanh().derivative(at: x, value: apply(x))
        case .silu: Silu().derivative(at: x, value: 0)
        case .geluErf: Gelu(mode: .exact).derivative(at: x, value: 0)
        case .geluTanh: Gelu(mode: .tanh).derivative(at: x, value: 0)
        case .geluSigmoid: Gelu(mode: .sigmoid).derivative(at: x, value: 0)
        case .hardSigmoid(let alpha, let beta): HardSigmoid(alpha: alpha, beta: beta).derivative(at: x, value: apply(x))
        case .hardSwish(let alpha, let beta): HardSwish(alpha: alpha, beta: beta).derivative(at: x, value: 0)
        case .elu(let alpha): Elu(alpha: alpha).derivative(at: x, value: 0)
        case .softplus: Softplus().derivative(at: x, value: 0)
        case .softsign: Softsign().derivative(at: x, value: 0)
        case .scaledTanh(let alpha, let beta): ScaledTanh(alpha: alpha, beta: beta).derivative(at: x, value: 0)
        case .linear(let alpha, _): alpha
        case .thresholdedRelu(let alpha): ThresholdedRelu(alpha: alpha).derivative(at: x, value: 0)
        }
    }
}
