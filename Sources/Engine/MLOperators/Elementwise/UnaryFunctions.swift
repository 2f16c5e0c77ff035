import Glibc
package import MLGraph
package import MLKernels
package import MLNumerics

package struct Abs: ParameterlessFunction {
    package static let names: [MILName] = ["abs"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { Swift.abs(x) }
    package var kernel: UnaryFunction? { .abs }
}

package struct Acos: ParameterlessFunction {
    package static let names: [MILName] = ["acos"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { acos(x) }
    package var kernel: UnaryFunction? { .acos }
}

/// The inverse hyperbolic cosine; only neural networks have it.
package struct Acosh: ParameterlessFunction {
    package static let names: [MILName] = []
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { acosh(x) }
    package var kernel: UnaryFunction? { .acosh }
}

package struct Asin: ParameterlessFunction {
    package static let names: [MILName] = ["asin"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { asin(x) }
    package var kernel: UnaryFunction? { .asin }
}

/// The inverse hyperbolic sine; only neural networks have it.
package struct Asinh: ParameterlessFunction {
    package static let names: [MILName] = []
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { asinh(x) }
    package var kernel: UnaryFunction? { .asinh }
}

package struct Atan: ParameterlessFunction {
    package static let names: [MILName] = ["atan"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { atan(x) }
    package var kernel: UnaryFunction? { .atan }
}

package struct Atanh: ParameterlessFunction {
    package static let names: [MILName] = ["atanh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { atanh(x) }
    package var kernel: UnaryFunction? { .atanh }
}

package struct Ceil: ParameterlessFunction {
    package static let names: [MILName] = ["ceil"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.up) }
    package var kernel: UnaryFunction? { .ceil }
}

/// `min(max(x, lower), upper)`.
package struct Clip: ScalarFunction {
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
    package var kernel: UnaryFunction? { .clip(low: Float(lower), high: Float(upper)) }
}

package struct Cos: ParameterlessFunction {
    package static let names: [MILName] = ["cos"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { cos(x) }
    package var kernel: UnaryFunction? { .cos }
}

package struct Cosh: ParameterlessFunction {
    package static let names: [MILName] = ["cosh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { cosh(x) }
    package var kernel: UnaryFunction? { .cosh }
}

package struct Erf: ParameterlessFunction {
    package static let names: [MILName] = ["erf"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { erf(x) }
    package var kernel: UnaryFunction? { .erf }
}

package struct Exp: ParameterlessFunction {
    package static let names: [MILName] = ["exp"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { exp(x) }
    package var kernel: UnaryFunction? { .exp }
}

package struct Exp2: ParameterlessFunction {
    package static let names: [MILName] = ["exp2"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { exp2(x) }
    package var kernel: UnaryFunction? { .exp2 }
}

package struct Floor: ParameterlessFunction {
    package static let names: [MILName] = ["floor"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.down) }
    package var kernel: UnaryFunction? { .floor }
}

/// `1 / (x + epsilon)`.
package struct Inverse: ScalarFunction {
    package static let names: [MILName] = ["inverse"]
    package var epsilon: Double

    package init(epsilon: Double = 0) { self.epsilon = epsilon }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        epsilon = try arguments.float("epsilon", default: 1e-4)
    }
    package func callAsFunction(_ x: Double) -> Double { 1 / (x + epsilon) }
    package var kernel: UnaryFunction? { .inverse(epsilon: Float(epsilon)) }
}

/// `log(x + epsilon)`.
package struct Log: ScalarFunction {
    package static let names: [MILName] = ["log"]
    package var epsilon: Double

    package init(epsilon: Double = 0) { self.epsilon = epsilon }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        epsilon = try arguments.float("epsilon", default: Double(Float.leastNonzeroMagnitude))
    }
    package func callAsFunction(_ x: Double) -> Double { log(x + epsilon) }
    package var kernel: UnaryFunction? { .log(epsilon: Float(epsilon)) }
}

/// Rounds to the nearest integer, halves to the even one.
package struct Round: ParameterlessFunction {
    package static let names: [MILName] = ["round"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.toNearestOrEven) }
    package var kernel: UnaryFunction? { .round }
}

/// `1 / √(x + epsilon)`.
package struct Rsqrt: ScalarFunction {
    package static let names: [MILName] = ["rsqrt"]
    package var epsilon: Double

    package init(epsilon: Double = 0) { self.epsilon = epsilon }
    package init(reading arguments: inout Arguments) throws(ModelError) {
        epsilon = try arguments.float("epsilon", default: 1e-12)
    }
    package func callAsFunction(_ x: Double) -> Double { 1 / (x + epsilon).squareRoot() }
    package var kernel: UnaryFunction? { .rsqrt(epsilon: Float(epsilon)) }
}

/// −1, 0 or 1.
package struct Sign: ParameterlessFunction {
    package static let names: [MILName] = ["sign"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x > 0 ? 1 : x < 0 ? -1 : x }
    package var kernel: UnaryFunction? { .sign }
}

package struct Sin: ParameterlessFunction {
    package static let names: [MILName] = ["sin"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { sin(x) }
    package var kernel: UnaryFunction? { .sin }
}

package struct Sinh: ParameterlessFunction {
    package static let names: [MILName] = ["sinh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { sinh(x) }
    package var kernel: UnaryFunction? { .sinh }
}

package struct Sqrt: ParameterlessFunction {
    package static let names: [MILName] = ["sqrt"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.squareRoot() }
    package var kernel: UnaryFunction? { .sqrt }
}

package struct Square: ParameterlessFunction {
    package static let names: [MILName] = ["square"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x * x }
    package var kernel: UnaryFunction? { .square }
}

package struct Tan: ParameterlessFunction {
    package static let names: [MILName] = ["tan"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { tan(x) }
    package var kernel: UnaryFunction? { .tan }
}

package struct Tanh: ParameterlessFunction {
    package static let names: [MILName] = ["tanh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { tanh(x) }
    package var kernel: UnaryFunction? { .tanh }
}

/// `max(x, alpha)`.
package struct Threshold: ScalarFunction {
    package static let names: [MILName] = ["threshold"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x.isNaN ? x : max(x, alpha) }
    package var kernel: UnaryFunction? { .threshold(alpha: Float(alpha)) }
}

/// `x == 0`, of truth values.
package struct LogicalNot: ParameterlessFunction {
    package static let names: [MILName] = ["logical_not"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x == 0 ? 1 : 0 }
}
