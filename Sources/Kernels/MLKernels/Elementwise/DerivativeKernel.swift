import CMLKernels

/// A function of one number whose derivative is known.
package protocol DerivableFunction {
    /// The derivative at `x`, where the function is `y`; `x` is NaN when the derivative follows from `y`.
    func derivative(at x: Double, value y: Double) -> Double
}

/// The gradients of functions of one number: dx = f′(x) · dy, element by element.
package enum DerivativeKernel {
    /// `dx[i] = f′(x[i]) · dy[i]` in double precision, where y = f(x).
    ///
    /// - Parameters:
    ///   - function: The function f.
    ///   - x: The arguments [count]; `nil` when the derivative follows from the values.
    ///   - y: The values [count].
    ///   - dy: The gradient of the values [count].
    ///   - dx: The result [count]; may be an operand.
    ///   - count: The number of elements.
    package static func run(
        _ function: some DerivableFunction,
        _ x: UnsafePointer<Float>?,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        inParts(count) { part in
            for index in part {
                let argument = x.map { Double($0[index]) } ?? .nan
                dx[index] = Float(function.derivative(at: argument, value: Double(y[index])) * Double(dy[index]))
            }
        }
    }

    /// `dx[i] = f′ · dy[i]`, where f′ follows from y[i].
    ///
    /// - Parameters:
    ///   - form: The derivative as a function of the value.
    ///   - y: The values [count].
    ///   - dy: The gradient of the values [count].
    ///   - dx: The result [count]; may be an operand.
    ///   - count: The number of elements.
    package static func run(
        _ form: DerivativeForm,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        let (form, low, high) = form.lowered
        cml_derivative_map(cml_isa_current(), form, low, high, y, dy, dx, count)
    }

    private static func inParts(_ count: Int, _ body: (Range<Int>) -> Void) {
        let size = 1 << 14
        guard count > size else { return body(0..<count) }
        Workers.parallelFor((count + size - 1) / size) { part, _ in
            body(part * size..<min((part + 1) * size, count))
        }
    }
}

/// The derivatives that follow from values and are common enough to be computed in single precision.
package enum DerivativeForm: Hashable, Sendable {
    /// 1 where y > 0, else `slope`.
    case step(slope: Float)
    /// 1 where low < y < high, else 0.
    case window(low: Float, high: Float)
    /// y · (1 − y)
    case sigmoid
    /// 1 − y²
    case tanh

    fileprivate var lowered: (form: cml_derivative, low: Float, high: Float) {
        switch self {
        case .step(let slope): (CML_DERIVATIVE_STEP, slope, 0)
        case .window(let low, let high): (CML_DERIVATIVE_WINDOW, low, high)
        case .sigmoid: (CML_DERIVATIVE_SIGMOID, 0, 0)
        case .tanh: (CML_DERIVATIVE_TANH, 0, 0)
        }
    }
}
