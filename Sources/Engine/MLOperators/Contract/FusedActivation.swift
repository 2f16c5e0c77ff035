#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A function of one variable that an operator applies to its result before storing it.
///
/// The parameters are those of MIL's operations of the same names.
package enum Activation: Hashable, Sendable {
    case none
    case relu
    /// min(max(x, low), high)
    case clip(low: Double, high: Double)
    /// x < 0 ? alpha · x : x
    case leakyRelu(alpha: Double)
    case sigmoid
    case tanh
    /// x · sigmoid(x)
    case silu
    /// x/2 · (1 + erf(x/√2))
    case geluErf
    /// x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
    case geluTanh
    /// x · sigmoid(1.702 x)
    case geluSigmoid
    /// min(max(alpha · x + beta, 0), 1)
    case hardSigmoid(alpha: Double, beta: Double)
    /// x · min(max(alpha · x + beta, 0), 1)
    case hardSwish(alpha: Double, beta: Double)
    /// x < 0 ? alpha · (exp(x) − 1) : x
    case elu(alpha: Double)
    /// log(1 + exp(x))
    case softplus
    /// x / (1 + |x|)
    case softsign
    /// alpha · tanh(beta · x)
    case scaledTanh(alpha: Double, beta: Double)
    /// alpha · x + beta
    case linear(alpha: Double, beta: Double)
    /// x < alpha ? 0 : x
    case thresholdedRelu(alpha: Double)

    /// The value at `x`.
    package func apply(_ x: Double) -> Double {
        switch self {
        case .none: x
        case .relu: Swift.max(x, 0)
        case .clip(let low, let high): Swift.min(Swift.max(x, low), high)
        case .leakyRelu(let alpha): x < 0 ? alpha * x : x
        case .sigmoid: Self.logistic(x)
        case .tanh: tanhOf(x)
        case .silu: x * Self.logistic(x)
        case .geluErf: x * 0.5 * (1 + erf(x * 0.5.squareRoot()))
        case .geluTanh: x * 0.5 * (1 + tanhOf((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
        case .geluSigmoid: x * Self.logistic(1.702 * x)
        case .hardSigmoid(let alpha, let beta): Swift.min(Swift.max(alpha * x + beta, 0), 1)
        case .hardSwish(let alpha, let beta): x * Swift.min(Swift.max(alpha * x + beta, 0), 1)
        case .elu(let alpha): x < 0 ? alpha * expm1(x) : x
        case .softplus: Swift.max(x, 0) + log1p(exp(-abs(x)))
        case .softsign: x / (1 + abs(x))
        case .scaledTanh(let alpha, let beta): alpha * tanhOf(beta * x)
        case .linear(let alpha, let beta): alpha * x + beta
        case .thresholdedRelu(let alpha): x < alpha ? 0 : x
        }
    }

    private static func logistic(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
}

/// The hyperbolic tangent, under a name that `Activation.tanh` does not hide.
private func tanhOf(_ x: Double) -> Double { tanh(x) }
