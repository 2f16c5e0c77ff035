import Glibc
package import MLGraph
package import MLKernels
package import MLNumerics
import MLSpecification

package struct Abs: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["abs"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { Swift.abs(x) }
    package static var layers: [LayerRule] { [LayerRule("unary", \.unary, LayerContext.lowerUnary)] }
    package var kernel: UnaryFunction? { .abs }
    package var integerKernel: ElementwiseKernel.IntegerFunction? { .absolute }
    package func derivative(at x: Double, value y: Double) -> Double { x > 0 ? 1 : x < 0 ? -1 : 0 }
}

package struct Acos: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["acos"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { acos(x) }
    package static var layers: [LayerRule] { [.unary("acos", \.acos) { _ in Acos() }] }
    package var kernel: UnaryFunction? { .acos }
    package func derivative(at x: Double, value y: Double) -> Double { -1 / (1 - x * x).squareRoot() }
}

/// The inverse hyperbolic cosine; only neural networks have it.
package struct Acosh: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = []
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { acosh(x) }
    package static var layers: [LayerRule] { [.unary("acosh", \.acosh) { _ in Acosh() }] }
    package var kernel: UnaryFunction? { .acosh }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (x * x - 1).squareRoot() }
}

package struct Asin: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["asin"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { asin(x) }
    package static var layers: [LayerRule] { [.unary("asin", \.asin) { _ in Asin() }] }
    package var kernel: UnaryFunction? { .asin }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (1 - x * x).squareRoot() }
}

/// The inverse hyperbolic sine; only neural networks have it.
package struct Asinh: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = []
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { asinh(x) }
    package static var layers: [LayerRule] { [.unary("asinh", \.asinh) { _ in Asinh() }] }
    package var kernel: UnaryFunction? { .asinh }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (x * x + 1).squareRoot() }
}

package struct Atan: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["atan"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { atan(x) }
    package static var layers: [LayerRule] { [.unary("atan", \.atan) { _ in Atan() }] }
    package var kernel: UnaryFunction? { .atan }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (1 + x * x) }
}

package struct Atanh: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["atanh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { atanh(x) }
    package static var layers: [LayerRule] { [.unary("atanh", \.atanh) { _ in Atanh() }] }
    package var kernel: UnaryFunction? { .atanh }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (1 - x * x) }
}

package struct Ceil: ParameterlessFunction {
    package static let names: [MILName] = ["ceil"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.up) }
    package static var layers: [LayerRule] { [.unary("ceil", \.ceil) { _ in Ceil() }] }
    package var kernel: UnaryFunction? { .ceil }
}

/// `min(max(x, lower), upper)`.
package struct Clip: ScalarFunction, DifferentiableFunction {
    package static let names: [MILName] = ["clip"]
    package var lower: Double
    package var upper: Double

    package init(lower: Double, upper: Double) {
        self.lower = lower
        self.upper = upper
    }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        lower = try arguments.float("alpha")
        upper = try arguments.float("beta")
    }
    package func callAsFunction(_ x: Double) -> Double { x.isNaN ? x : min(max(x, lower), upper) }

    package static var layers: [LayerRule] {
        [.unary("clip", \.clip) { Clip(lower: Double($0.minVal), upper: Double($0.maxVal)) }]
    }

    package var kernel: UnaryFunction? { .clip(low: Float(lower), high: Float(upper)) }
    package func derivative(at x: Double, value y: Double) -> Double { x >= lower && x <= upper ? 1 : 0 }
}

package struct Cos: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["cos"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { cos(x) }
    package static var layers: [LayerRule] { [.unary("cos", \.cos) { _ in Cos() }] }
    package var kernel: UnaryFunction? { .cos }
    package func derivative(at x: Double, value y: Double) -> Double { -sin(x) }
}

package struct Cosh: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["cosh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { cosh(x) }
    package static var layers: [LayerRule] { [.unary("cosh", \.cosh) { _ in Cosh() }] }
    package var kernel: UnaryFunction? { .cosh }
    package func derivative(at x: Double, value y: Double) -> Double { sinh(x) }
}

package struct Erf: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["erf"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { erf(x) }
    package static var layers: [LayerRule] { [.unary("erf", \.erf) { _ in Erf() }] }
    package var kernel: UnaryFunction? { .erf }
    package func derivative(at x: Double, value y: Double) -> Double { 2 / Double.pi.squareRoot() * exp(-x * x) }
}

package struct Exp: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["exp"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { exp(x) }
    package var kernel: UnaryFunction? { .exp }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y }
}

package struct Exp2: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["exp2"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { exp2(x) }
    package static var layers: [LayerRule] { [.unary("exp2", \.exp2) { _ in Exp2() }] }
    package var kernel: UnaryFunction? { .exp2 }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y * log(2.0) }
}

package struct Floor: ParameterlessFunction {
    package static let names: [MILName] = ["floor"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.down) }
    package static var layers: [LayerRule] { [.unary("floor", \.floor) { _ in Floor() }] }
    package var kernel: UnaryFunction? { .floor }
}

/// `1 / (x + epsilon)`.
package struct Inverse: ScalarFunction, DifferentiableFunction {
    package static let names: [MILName] = ["inverse"]
    package var epsilon: Double

    package init(epsilon: Double = 0) { self.epsilon = epsilon }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        epsilon = try arguments.float("epsilon", default: 1e-4)
    }
    package func callAsFunction(_ x: Double) -> Double { 1 / (x + epsilon) }
    package var kernel: UnaryFunction? { .inverse(epsilon: Float(epsilon)) }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { -y * y }
}

/// `log(x + epsilon)`.
package struct Log: ScalarFunction, DifferentiableFunction {
    package static let names: [MILName] = ["log"]
    package var epsilon: Double

    package init(epsilon: Double = 0) { self.epsilon = epsilon }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        epsilon = try arguments.float("epsilon", default: Double(Float.leastNonzeroMagnitude))
    }
    package func callAsFunction(_ x: Double) -> Double { log(x + epsilon) }
    package var kernel: UnaryFunction? { .log(epsilon: Float(epsilon)) }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (x + epsilon) }
}

/// Rounds to the nearest integer, halves to the even one.
package struct Round: ParameterlessFunction {
    package static let names: [MILName] = ["round"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.toNearestOrEven) }
    package static var layers: [LayerRule] { [.unary("round", \.round) { _ in Round() }] }
    package var kernel: UnaryFunction? { .round }
}

/// `1 / √(x + epsilon)`.
package struct Rsqrt: ScalarFunction, DifferentiableFunction {
    package static let names: [MILName] = ["rsqrt"]
    package var epsilon: Double

    package init(epsilon: Double = 0) { self.epsilon = epsilon }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        epsilon = try arguments.float("epsilon", default: 1e-12)
    }
    package func callAsFunction(_ x: Double) -> Double { 1 / (x + epsilon).squareRoot() }
    package var kernel: UnaryFunction? { .rsqrt(epsilon: Float(epsilon)) }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { -y * y * y / 2 }
}

/// −1, 0 or 1.
package struct Sign: ParameterlessFunction {
    package static let names: [MILName] = ["sign"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x > 0 ? 1 : x < 0 ? -1 : x }
    package static var layers: [LayerRule] { [.unary("sign", \.sign) { _ in Sign() }] }
    package var kernel: UnaryFunction? { .sign }
    package var integerKernel: ElementwiseKernel.IntegerFunction? { .sign }
}

package struct Sin: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["sin"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { sin(x) }
    package static var layers: [LayerRule] { [.unary("sin", \.sin) { _ in Sin() }] }
    package var kernel: UnaryFunction? { .sin }
    package func derivative(at x: Double, value y: Double) -> Double { cos(x) }
}

package struct Sinh: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["sinh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { sinh(x) }
    package static var layers: [LayerRule] { [.unary("sinh", \.sinh) { _ in Sinh() }] }
    package var kernel: UnaryFunction? { .sinh }
    package func derivative(at x: Double, value y: Double) -> Double { cosh(x) }
}

package struct Sqrt: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["sqrt"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.squareRoot() }
    package var kernel: UnaryFunction? { .sqrt }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (2 * y) }
}

package struct Square: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["square"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x * x }
    package var kernel: UnaryFunction? { .square }
    package var integerKernel: ElementwiseKernel.IntegerFunction? { .square }
    package func derivative(at x: Double, value y: Double) -> Double { 2 * x }
}

package struct Tan: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["tan"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { tan(x) }
    package static var layers: [LayerRule] { [.unary("tan", \.tan) { _ in Tan() }] }
    package var kernel: UnaryFunction? { .tan }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { 1 + y * y }
}

package struct Tanh: ParameterlessFunction, DifferentiableFunction {
    package static let names: [MILName] = ["tanh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { tanh(x) }
    package static var layers: [LayerRule] { [.unary("tanh", \.tanh) { _ in Tanh() }] }
    package var kernel: UnaryFunction? { .tanh }
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { 1 - y * y }
    package var derivativeForm: DerivativeForm? { .tanh }
}

/// `max(x, alpha)`.
package struct Threshold: ScalarFunction, DifferentiableFunction {
    package static let names: [MILName] = ["threshold"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x.isNaN ? x : max(x, alpha) }
    package var kernel: UnaryFunction? { .threshold(alpha: Float(alpha)) }

    package var integerKernel: ElementwiseKernel.IntegerFunction? {
        alpha == alpha.rounded() ? .threshold(Int32(saturating: alpha)) : nil
    }

    package func derivative(at x: Double, value y: Double) -> Double { x > alpha ? 1 : 0 }
}

/// `x == 0`, of Booleans.
package struct LogicalNot: ParameterlessFunction {
    package static let names: [MILName] = ["logical_not"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x == 0 ? 1 : 0 }

    package static var layers: [LayerRule] {
        [
            LayerRule("logicalNot", \.logicalNot) { _, context throws(ModelError) in
                let x = try context.booleans(context.input())
                try context.finish(try context.add(Unary<LogicalNot>(), x))
            }
        ]
    }
}

extension LayerContext {
    /// `f(scale · x + shift)` for one of eight functions; a scale of 0 means not set and stands for 1.
    fileprivate static let lowerUnary:
        @Sendable (SpecUnaryFunctionLayerParams, inout LayerContext) throws(ModelError) -> Void = {
            parameters,
            context throws(ModelError) in
            let scale = parameters.scale == 0 ? 1 : Double(parameters.scale)
            let epsilon = stated(parameters.epsilon, or: 1e-6)
            var x = try context.input()
            if scale != 1 || parameters.shift != 0 {
                x = try context.add(Unary(LinearActivation(alpha: scale, beta: Double(parameters.shift))), x)
            }
            switch parameters.type {
            case .sqrt: x = try context.add(Unary(Sqrt()), x)
            case .rsqrt: x = try context.add(Unary(Rsqrt(epsilon: epsilon)), x)
            case .inverse: x = try context.add(Unary(Inverse(epsilon: epsilon)), x)
            case .power: x = try context.add(Binary<Pow>(), x, context.constant(parameters.alpha))
            case .exp: x = try context.add(Unary(Exp()), x)
            case .log: x = try context.add(Unary(Log(epsilon: Double(parameters.epsilon))), x)
            case .abs: x = try context.add(Unary(Abs()), x)
            case .threshold: x = try context.add(Unary(Threshold(alpha: Double(parameters.alpha))), x)
            case .UNRECOGNIZED(let value):
                throw ModelError(.unsupported, "unary function \(value) is not known")
            }
            try context.finish(x)
        }
}
