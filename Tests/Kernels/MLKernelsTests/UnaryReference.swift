import Glibc
import MLKernels

/// The function in double precision.
func reference(_ function: UnaryFunction, _ x: Double) -> Double {
    func sigmoid(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
    func softplus(_ x: Double) -> Double { x > 30 ? x : log1p(exp(x)) }
    func keepingNaN(_ y: Double) -> Double { x.isNaN ? x : y }
    switch function {
    case .identity, .prelu: return x
    case .relu: return keepingNaN(max(x, 0))
    case .clip(let low, let high): return keepingNaN(min(max(x, Double(low)), Double(high)))
    case .leakyRelu(let alpha): return x < 0 ? Double(alpha) * x : x
    case .clampedRelu(let alpha, let beta): return keepingNaN(min(x < 0 ? Double(alpha) * x : x, Double(beta)))
    case .gelu: return x == -.infinity ? .nan : x / 2 * (1 + erf(x / 2.0.squareRoot()))
    case .geluTanh:
        return x == -.infinity ? .nan : x / 2 * (1 + tanh((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
    case .geluSigmoid: return x * sigmoid(1.702 * x)
    case .sigmoid: return sigmoid(x)
    case .silu: return x * sigmoid(x)
    case .tanh: return tanh(x)
    case .hardSwish(let alpha, let beta): return x * min(max(Double(alpha) * x + Double(beta), 0), 1)
    case .hardSigmoid(let alpha, let beta): return keepingNaN(min(max(Double(alpha) * x + Double(beta), 0), 1))
    case .elu(let alpha): return x < 0 ? Double(alpha) * expm1(x) : x
    case .softplus: return softplus(x)
    case .scaledSoftplus(let alpha, let beta): return Double(alpha) * softplus(Double(beta) * x)
    case .softsign: return x / (1 + abs(x))
    case .linear(let alpha, let beta): return Double(alpha) * x + Double(beta)
    case .scaledTanh(let alpha, let beta): return Double(alpha) * tanh(Double(beta) * x)
    case .thresholdedRelu(let alpha): return x >= Double(alpha) ? x : 0
    case .abs: return abs(x)
    case .negate: return -x
    case .exp: return exp(x)
    case .exp2: return exp2(x)
    case .expm1: return expm1(x)
    case .log(let epsilon): return log(Double(Float(x) + epsilon))
    case .sqrt: return x.squareRoot()
    case .rsqrt(let epsilon): return 1 / Double(Float(x) + epsilon).squareRoot()
    case .inverse(let epsilon): return 1 / Double(Float(x) + epsilon)
    case .square: return x * x
    case .erf: return erf(x)
    case .sin: return sin(x)
    case .cos: return cos(x)
    case .tan: return tan(x)
    case .asin: return asin(x)
    case .acos: return acos(x)
    case .atan: return atan(x)
    case .sinh: return sinh(x)
    case .cosh: return cosh(x)
    case .asinh: return asinh(x)
    case .acosh: return acosh(x)
    case .atanh: return atanh(x)
    case .ceil: return ceil(x)
    case .floor: return floor(x)
    case .round: return x.rounded(.toNearestOrEven)
    case .sign: return x > 0 ? 1 : x < 0 ? -1 : x
    case .threshold(let alpha): return keepingNaN(max(x, Double(alpha)))
    case .logicalNot: return x == 0 ? 1 : 0
    }
}

/// x to the power y in double precision.
func power(_ x: Double, _ y: Double) -> Double { pow(x, y) }
