import Glibc
package import MLGraph
package import MLKernels
package import MLNumerics

/// `max(x, 0)`.
package struct Relu: ParameterlessFunction {
    package static let names: [MILName] = ["relu"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x < 0 ? 0 : x }
    package var kernel: UnaryFunction? { .relu }
}

/// `min(max(x, 0), 6)`.
package struct Relu6: ParameterlessFunction {
    package static let names: [MILName] = ["relu6"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x < 0 ? 0 : x > 6 ? 6 : x }
    package var kernel: UnaryFunction? { .clip(low: 0, high: 6) }
}

/// `x` where it is not negative, otherwise `alpha · x`.
package struct LeakyRelu: ScalarFunction {
    package static let names: [MILName] = ["leaky_relu"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x < 0 ? alpha * x : x }
    package var kernel: UnaryFunction? { .leakyRelu(alpha: Float(alpha)) }
}

/// `min(x, beta)` where `x` is not negative, otherwise `min(alpha · x, beta)`.
package struct ClampedRelu: ScalarFunction {
    package static let names: [MILName] = ["clamped_relu"]
    package var alpha: Double
    package var beta: Double

    package init(alpha: Double, beta: Double) {
        self.alpha = alpha
        self.beta = beta
    }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        alpha = try arguments.float("alpha")
        beta = try arguments.float("beta")
    }
    package func callAsFunction(_ x: Double) -> Double { min(x < 0 ? alpha * x : x, beta) }
    package var kernel: UnaryFunction? { .clampedRelu(alpha: Float(alpha), beta: Float(beta)) }
}

/// `x` where it is not negative, otherwise `alpha · (eˣ − 1)`.
package struct Elu: ScalarFunction {
    package static let names: [MILName] = ["elu"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x < 0 ? alpha * expm1(x) : x }
    package var kernel: UnaryFunction? { .elu(alpha: Float(alpha)) }
}

/// The Gaussian error linear unit, exact or by one of two approximations.
package struct Gelu: ScalarFunction {
    package enum Mode: String, Hashable, Sendable, Codable {
        /// `x/2 · (1 + erf(x/√2))`
        case exact = "EXACT"
        /// `x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))`
        case tanh = "TANH_APPROXIMATION"
        /// `x · sigmoid(1.702 x)`
        case sigmoid = "SIGMOID_APPROXIMATION"
    }

    package static let names: [MILName] = ["gelu"]
    package var mode: Mode

    package init(mode: Mode) { self.mode = mode }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        let name = try arguments.string("mode", default: Mode.exact.rawValue)
        guard let mode = Mode(rawValue: name) else {
            throw ModelError(
                .invalidModel,
                "'\(name)' is no mode of gelu; use EXACT, TANH_APPROXIMATION or SIGMOID_APPROXIMATION"
            )
        }
        self.mode = mode
    }
    package func callAsFunction(_ x: Double) -> Double {
        switch mode {
        case .exact: x / 2 * (1 + erf(x / 2.0.squareRoot()))
        case .tanh: x / 2 * (1 + Glibc.tanh((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
        case .sigmoid: x / (1 + exp(-1.702 * x))
        }
    }
    package var kernel: UnaryFunction? {
        switch mode {
        case .exact: .gelu
        case .tanh: .geluTanh
        case .sigmoid: .geluSigmoid
        }
    }
}

/// `alpha · x + beta`.
package struct LinearActivation: ScalarFunction {
    package static let names: [MILName] = ["linear_activation"]
    package var alpha: Double
    package var beta: Double

    package init(alpha: Double, beta: Double) {
        self.alpha = alpha
        self.beta = beta
    }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        alpha = try arguments.float("alpha")
        beta = try arguments.float("beta")
    }
    package func callAsFunction(_ x: Double) -> Double { alpha * x + beta }
    package var kernel: UnaryFunction? { .linear(alpha: Float(alpha), beta: Float(beta)) }
}

/// `alpha · tanh(beta · x)`.
package struct ScaledTanh: ScalarFunction {
    package static let names: [MILName] = ["scaled_tanh"]
    package var alpha: Double
    package var beta: Double

    package init(alpha: Double, beta: Double) {
        self.alpha = alpha
        self.beta = beta
    }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        alpha = try arguments.float("alpha")
        beta = try arguments.float("beta")
    }
    package func callAsFunction(_ x: Double) -> Double { alpha * tanh(beta * x) }
    package var kernel: UnaryFunction? { .scaledTanh(alpha: Float(alpha), beta: Float(beta)) }
}

/// `1 / (1 + e⁻ˣ)`.
package struct Sigmoid: ParameterlessFunction {
    package static let names: [MILName] = ["sigmoid"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
    package var kernel: UnaryFunction? { .sigmoid }
}

/// `min(max(alpha · x + beta, 0), 1)`.
package struct HardSigmoid: ScalarFunction {
    package static let names: [MILName] = ["sigmoid_hard"]
    package var alpha: Double
    package var beta: Double

    package init(alpha: Double, beta: Double) {
        self.alpha = alpha
        self.beta = beta
    }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        alpha = try arguments.float("alpha")
        beta = try arguments.float("beta")
    }
    package func callAsFunction(_ x: Double) -> Double { min(max(alpha * x + beta, 0), 1) }
    package var kernel: UnaryFunction? { .hardSigmoid(alpha: Float(alpha), beta: Float(beta)) }
}

/// `x · min(max(alpha · x + beta, 0), 1)`; passes make it of `mul` and `sigmoid_hard`.
package struct HardSwish: ScalarFunction {
    package static let names: [MILName] = []
    package var alpha: Double
    package var beta: Double

    package init(alpha: Double, beta: Double) {
        self.alpha = alpha
        self.beta = beta
    }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        throw ModelError(.unsupported, "hard swish cannot be read from an ML program")
    }
    package func callAsFunction(_ x: Double) -> Double { x * min(max(alpha * x + beta, 0), 1) }
    package var kernel: UnaryFunction? { .hardSwish(alpha: Float(alpha), beta: Float(beta)) }
}

/// `x · sigmoid(x)`.
package struct Silu: ParameterlessFunction {
    package static let names: [MILName] = ["silu"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x / (1 + exp(-x)) }
    package var kernel: UnaryFunction? { .silu }
}

/// `log(1 + eˣ)`.
package struct Softplus: ParameterlessFunction {
    package static let names: [MILName] = ["softplus"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { log1p(exp(-Swift.abs(x))) + max(x, 0) }
    package var kernel: UnaryFunction? { .softplus }
}

/// `x / (1 + |x|)`.
package struct Softsign: ParameterlessFunction {
    package static let names: [MILName] = ["softsign"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x / (1 + Swift.abs(x)) }
    package var kernel: UnaryFunction? { .softsign }
}

/// `x` where it is at least `alpha`, otherwise 0.
package struct ThresholdedRelu: ScalarFunction {
    package static let names: [MILName] = ["thresholded_relu"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x < alpha ? 0 : x }
    package var kernel: UnaryFunction? { .thresholdedRelu(alpha: Float(alpha)) }
}
