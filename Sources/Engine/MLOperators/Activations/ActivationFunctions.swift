import Glibc
package import MLGraph
package import MLKernels
package import MLNumerics
import MLSpecification

/// `max(x, 0)`.
package struct Relu: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["relu"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x < 0 ? 0 : x }

    package static var layers: [LayerRule] {
        [
            LayerRule("activation", \.activation) { parameters, context throws(ModelError) in
                try context.finish(try context.activation(parameters, of: context.input()))
            }
        ]
    }

    package var kernel: UnaryFunction? { .relu }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y > 0 ? 1 : 0 }
    package var derivativeForm: DerivativeForm? { .step(slope: 0) }
}

/// `min(max(x, 0), 6)`.
package struct Relu6: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["relu6"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x < 0 ? 0 : x > 6 ? 6 : x }
    package var kernel: UnaryFunction? { .clip(low: 0, high: 6) }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y > 0 && y < 6 ? 1 : 0 }
    package var derivativeForm: DerivativeForm? { .window(low: 0, high: 6) }
}

/// `x` where it is not negative, otherwise `alpha · x`.
package struct LeakyRelu: ScalarFunction, DifferentiableFunction {
    package static let names: [MILName] = ["leaky_relu"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x < 0 ? alpha * x : x }
    package var kernel: UnaryFunction? { .leakyRelu(alpha: Float(alpha)) }
    package func derivative(at x: Double, value y: Double) -> Double { x > 0 ? 1 : alpha }
}

/// `min(x, beta)` where `x` is not negative, otherwise `min(alpha · x, beta)`.
package struct ClampedRelu: ScalarFunction, DifferentiableFunction {
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

    package static var layers: [LayerRule] {
        [.unary("clampedReLU", \.clampedReLu) { ClampedRelu(alpha: Double($0.alpha), beta: Double($0.beta)) }]
    }

    package var kernel: UnaryFunction? { .clampedRelu(alpha: Float(alpha), beta: Float(beta)) }

    package func derivative(at x: Double, value y: Double) -> Double {
        let slope = x > 0 ? 1 : alpha
        return slope * x < beta ? slope : 0
    }
}

/// `x` where it is not negative, otherwise `alpha · (eˣ − 1)`.
package struct Elu: ScalarFunction, DifferentiableFunction {
    package static let names: [MILName] = ["elu"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x < 0 ? alpha * expm1(x) : x }
    package var kernel: UnaryFunction? { .elu(alpha: Float(alpha)) }
    package func derivative(at x: Double, value y: Double) -> Double { x > 0 ? 1 : alpha * exp(x) }
}

/// The Gaussian error linear unit, exact or by one of two approximations.
package struct Gelu: ScalarFunction, DifferentiableFunction {
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
                "'\(name)' is not a mode of gelu; use EXACT, TANH_APPROXIMATION or SIGMOID_APPROXIMATION"
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

    package static var layers: [LayerRule] {
        [
            LayerRule("gelu", \.gelu) { parameters, context throws(ModelError) in
                let mode: Mode
                switch parameters.mode {
                case .exact: mode = .exact
                case .tanhApproximation: mode = .tanh
                case .sigmoidApproximation: mode = .sigmoid
                case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "gelu mode \(value) is not known")
                }
                try context.finish(try context.add(Unary(Gelu(mode: mode)), context.input()))
            }
        ]
    }

    package var kernel: UnaryFunction? {
        switch mode {
        case .exact: .gelu
        case .tanh: .geluTanh
        case .sigmoid: .geluSigmoid
        }
    }

    package func derivative(at x: Double, value y: Double) -> Double {
        switch mode {
        case .exact:
            let density = exp(-x * x / 2) / (2 * Double.pi).squareRoot()
            return (1 + erf(x / 2.0.squareRoot())) / 2 + x * density
        case .tanh:
            let scale = (2 / Double.pi).squareRoot()
            let inner = Glibc.tanh(scale * (x + 0.044715 * x * x * x))
            return (1 + inner) / 2 + x / 2 * (1 - inner * inner) * scale * (1 + 3 * 0.044715 * x * x)
        case .sigmoid:
            let gate = 1 / (1 + exp(-1.702 * x))
            return gate + 1.702 * x * gate * (1 - gate)
        }
    }
}

/// `alpha · x + beta`.
package struct LinearActivation: ScalarFunction, DifferentiableFunction {
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
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { alpha }
}

/// `alpha · tanh(beta · x)`.
package struct ScaledTanh: ScalarFunction, DifferentiableFunction {
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

    package func derivative(at x: Double, value y: Double) -> Double {
        let inner = tanh(beta * x)
        return alpha * beta * (1 - inner * inner)
    }
}

/// `1 / (1 + e⁻ˣ)`.
package struct Sigmoid: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["sigmoid"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
    package var kernel: UnaryFunction? { .sigmoid }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y * (1 - y) }
    package var derivativeForm: DerivativeForm? { .sigmoid }
}

/// `min(max(alpha · x + beta, 0), 1)`.
package struct HardSigmoid: ScalarFunction, DifferentiableFunction {
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
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y > 0 && y < 1 ? alpha : 0 }
}

/// `x · min(max(alpha · x + beta, 0), 1)`; passes make it of `mul` and `sigmoid_hard`.
package struct HardSwish: ScalarFunction, DifferentiableFunction {
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

    package func derivative(at x: Double, value y: Double) -> Double {
        let gate = alpha * x + beta
        return gate <= 0 ? 0 : gate >= 1 ? 1 : gate + alpha * x
    }
}

/// `x · sigmoid(x)`.
package struct Silu: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["silu"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x / (1 + exp(-x)) }
    package var kernel: UnaryFunction? { .silu }

    package func derivative(at x: Double, value y: Double) -> Double {
        let gate = 1 / (1 + exp(-x))
        return gate + x * gate * (1 - gate)
    }
}

/// `log(1 + eˣ)`.
package struct Softplus: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["softplus"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { log1p(exp(-Swift.abs(x))) + max(x, 0) }
    package var kernel: UnaryFunction? { .softplus }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (1 + exp(-x)) }
}

/// `x / (1 + |x|)`.
package struct Softsign: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["softsign"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x / (1 + Swift.abs(x)) }
    package var kernel: UnaryFunction? { .softsign }

    package func derivative(at x: Double, value y: Double) -> Double {
        let length = 1 + Swift.abs(x)
        return 1 / (length * length)
    }
}

/// `x` where it is at least `alpha`, otherwise 0.
package struct ThresholdedRelu: ScalarFunction, DifferentiableFunction {
    package static let names: [MILName] = ["thresholded_relu"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x < alpha ? 0 : x }
    package var kernel: UnaryFunction? { .thresholdedRelu(alpha: Float(alpha)) }
    package func derivative(at x: Double, value y: Double) -> Double { x < alpha ? 0 : 1 }
}
