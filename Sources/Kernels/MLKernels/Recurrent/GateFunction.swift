/// A function of a recurrent cell with its derivative.
package struct GateFunction: Sendable {
    /// The derivative as a function of argument and value.
    package enum Derivative: Sendable {
        /// 1
        case identity
        /// 1 where the value is positive, else 0.
        case step
        /// y · (1 − y)
        case sigmoid
        /// 1 − y²
        case tanh
        /// A function of the argument.
        case general(@Sendable (_ x: Double) -> Double)
    }

    let kernel: UnaryFunction
    let plain: @Sendable (Double) -> Double
    private let slope: Derivative

    /// A function in its three forms.
    ///
    /// - Parameters:
    ///   - kernel: The function in single precision.
    ///   - plain: The function in double precision.
    ///   - derivative: Its derivative.
    package init(
        _ kernel: UnaryFunction,
        plain: @escaping @Sendable (Double) -> Double,
        derivative: Derivative
    ) {
        self.kernel = kernel
        self.plain = plain
        slope = derivative
    }

    /// The derivatives at `x`, where the function is `y`.
    ///
    /// `slopes` may be `x` or `y`.
    func derivatives<Scalar: BinaryFloatingPoint>(
        _ x: UnsafePointer<Scalar>,
        _ y: UnsafePointer<Scalar>,
        into slopes: UnsafeMutablePointer<Scalar>,
        count: Int
    ) {
        switch slope {
        case .sigmoid: for index in 0..<count { slopes[index] = y[index] * (1 - y[index]) }
        case .tanh: for index in 0..<count { slopes[index] = 1 - y[index] * y[index] }
        case .identity, .step, .general:
            for index in 0..<count { slopes[index] = derivative(x[index], y[index]) }
        }
    }

    /// The derivative at `x`, where the function is `y`.
    func derivative<Scalar: BinaryFloatingPoint>(_ x: Scalar, _ y: Scalar) -> Scalar {
        switch slope {
        case .sigmoid: y * (1 - y)
        case .tanh: 1 - y * y
        case .identity: 1
        case .step: y > 0 ? 1 : 0
        case .general(let derivative): Scalar(derivative(Double(x)))
        }
    }
}
