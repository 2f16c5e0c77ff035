import Glibc

extension Abs: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { x > 0 ? 1 : x < 0 ? -1 : 0 }
}

extension Acos: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { -1 / (1 - x * x).squareRoot() }
}

extension Acosh: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (x * x - 1).squareRoot() }
}

extension Asin: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (1 - x * x).squareRoot() }
}

extension Asinh: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (x * x + 1).squareRoot() }
}

extension Atan: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (1 + x * x) }
}

extension Atanh: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (1 - x * x) }
}

extension Clip: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { x >= lower && x <= upper ? 1 : 0 }
}

extension Cos: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { -sin(x) }
}

extension Cosh: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { sinh(x) }
}

extension Erf: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 2 / Double.pi.squareRoot() * exp(-x * x) }
}

extension Exp: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y }
}

extension Exp2: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y * log(2.0) }
}

extension Inverse: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { -y * y }
}

extension Log: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (x + epsilon) }
}

extension Rsqrt: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { -y * y * y / 2 }
}

extension Sin: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { cos(x) }
}

extension Sinh: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { cosh(x) }
}

extension Sqrt: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (2 * y) }
}

extension Square: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 2 * x }
}

extension Tan: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { 1 + y * y }
}

extension Tanh: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { 1 - y * y }
    package var derivativeForm: DerivativeForm? { .tanh }
}

extension Threshold: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { x > alpha ? 1 : 0 }
}
