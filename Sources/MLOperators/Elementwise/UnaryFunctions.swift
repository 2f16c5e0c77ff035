import Glibc
package import MLGraph
package import MLNumerics

package struct Abs: PlainFunction {
    package static let names: [MILName] = ["abs"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { Swift.abs(x) }
}

package struct Acos: PlainFunction {
    package static let names: [MILName] = ["acos"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { acos(x) }
}

/// The inverse hyperbolic cosine; only neural networks have it.
package struct Acosh: PlainFunction {
    package static let names: [MILName] = []
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { acosh(x) }
}

package struct Asin: PlainFunction {
    package static let names: [MILName] = ["asin"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { asin(x) }
}

/// The inverse hyperbolic sine; only neural networks have it.
package struct Asinh: PlainFunction {
    package static let names: [MILName] = []
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { asinh(x) }
}

package struct Atan: PlainFunction {
    package static let names: [MILName] = ["atan"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { atan(x) }
}

package struct Atanh: PlainFunction {
    package static let names: [MILName] = ["atanh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { atanh(x) }
}

package struct Ceil: PlainFunction {
    package static let names: [MILName] = ["ceil"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.up) }
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
}

package struct Cos: PlainFunction {
    package static let names: [MILName] = ["cos"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { cos(x) }
}

package struct Cosh: PlainFunction {
    package static let names: [MILName] = ["cosh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { cosh(x) }
}

package struct Erf: PlainFunction {
    package static let names: [MILName] = ["erf"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { erf(x) }
}

package struct Exp: PlainFunction {
    package static let names: [MILName] = ["exp"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { exp(x) }
}

package struct Exp2: PlainFunction {
    package static let names: [MILName] = ["exp2"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { exp2(x) }
}

package struct Floor: PlainFunction {
    package static let names: [MILName] = ["floor"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.down) }
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
}

/// Rounds to the nearest integer, halves to the even one.
package struct Round: PlainFunction {
    package static let names: [MILName] = ["round"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.rounded(.toNearestOrEven) }
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
}

/// −1, 0 or 1.
package struct Sign: PlainFunction {
    package static let names: [MILName] = ["sign"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x > 0 ? 1 : x < 0 ? -1 : x }
}

package struct Sin: PlainFunction {
    package static let names: [MILName] = ["sin"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { sin(x) }
}

package struct Sinh: PlainFunction {
    package static let names: [MILName] = ["sinh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { sinh(x) }
}

package struct Sqrt: PlainFunction {
    package static let names: [MILName] = ["sqrt"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x.squareRoot() }
}

package struct Square: PlainFunction {
    package static let names: [MILName] = ["square"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x * x }
}

package struct Tan: PlainFunction {
    package static let names: [MILName] = ["tan"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { tan(x) }
}

package struct Tanh: PlainFunction {
    package static let names: [MILName] = ["tanh"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { tanh(x) }
}

/// `max(x, alpha)`.
package struct Threshold: ScalarFunction {
    package static let names: [MILName] = ["threshold"]
    package var alpha: Double

    package init(alpha: Double) { self.alpha = alpha }
    package init(reading arguments: inout Arguments) throws(ModelError) { alpha = try arguments.float("alpha") }
    package func callAsFunction(_ x: Double) -> Double { x.isNaN ? x : max(x, alpha) }
}

/// `x == 0`, of truth values.
package struct LogicalNot: PlainFunction {
    package static let names: [MILName] = ["logical_not"]
    package init() {}
    package func callAsFunction(_ x: Double) -> Double { x == 0 ? 1 : 0 }
}
