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

    /// The coefficients of the derivative as a polynomial of the value, constant term first; `nil` when it is none.
    var polynomialSlope: (Float, Float, Float)? {
        switch slope {
        case .identity: (1, 0, 0)
        case .sigmoid: (0, 1, -1)
        case .tanh: (1, 0, -1)
        case .step, .general: nil
        }
    }

    /// The derivative at `x`, where the function is `y`; `x` matters only for `general`.
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
