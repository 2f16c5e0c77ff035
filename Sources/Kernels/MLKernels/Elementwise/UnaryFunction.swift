import CMLKernels

/// A function of one number, as kernels and their epilogues apply it.
package enum UnaryFunction: Hashable, Sendable {
    case identity
    /// max(x, 0)
    case relu
    /// min(max(x, low), high)
    case clip(low: Float, high: Float)
    /// x < 0 ? alpha·x : x
    case leakyRelu(alpha: Float)
    /// min(x < 0 ? alpha·x : x, beta)
    case clampedRelu(alpha: Float, beta: Float)
    /// x < 0 ? slope[column]·x : x; only in epilogues, with `Epilogue.slope`
    case prelu
    /// x/2·(1 + erf(x/√2))
    case gelu
    /// x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
    case geluTanh
    /// x·sigmoid(1.702·x)
    case geluSigmoid
    case sigmoid
    /// x·sigmoid(x)
    case silu
    case tanh
    /// x·min(max(alpha·x + beta, 0), 1); MIL's hard swish has 1/6 and 1/2
    case hardSwish(alpha: Float, beta: Float)
    /// min(max(alpha·x + beta, 0), 1)
    case hardSigmoid(alpha: Float, beta: Float)
    /// x < 0 ? alpha·(eˣ − 1) : x
    case elu(alpha: Float)
    /// log(1 + eˣ)
    case softplus
    /// alpha·log(1 + e^(beta·x))
    case scaledSoftplus(alpha: Float, beta: Float)
    /// x/(1 + |x|)
    case softsign
    /// alpha·x + beta
    case linear(alpha: Float, beta: Float)
    /// alpha·tanh(beta·x)
    case scaledTanh(alpha: Float, beta: Float)
    /// x ≥ alpha ? x : 0
    case thresholdedRelu(alpha: Float)
    case abs
    case negate
    case exp
    case exp2
    /// eˣ − 1
    case expm1
    /// log(x + epsilon)
    case log(epsilon: Float)
    case sqrt
    /// 1/√(x + epsilon)
    case rsqrt(epsilon: Float)
    /// 1/(x + epsilon)
    case inverse(epsilon: Float)
    case square
    case erf
    case sin
    case cos
    case tan
    case asin
    case acos
    case atan
    case sinh
    case cosh
    case asinh
    case acosh
    case atanh
    case ceil
    case floor
    /// to the nearest integer, halves to even
    case round
    /// −1, 0 or 1
    case sign
    /// max(x, alpha)
    case threshold(alpha: Float)
    /// x = 0 ? 1 : 0
    case logicalNot

    /// The C function with its parameters.
    var lowered: (function: cml_unary, alpha: Float, beta: Float) {
        switch self {
        case .identity: (CML_IDENTITY, 0, 0)
        case .relu: (CML_RELU, 0, 0)
        case .clip(let low, let high): (CML_CLIP, low, high)
        case .leakyRelu(let alpha): (CML_LEAKY_RELU, alpha, 0)
        case .clampedRelu(let alpha, let beta): (CML_CLAMPED_RELU, alpha, beta)
        case .prelu: (CML_PRELU, 0, 0)
        case .gelu: (CML_GELU_ERF, 0, 0)
        case .geluTanh: (CML_GELU_TANH, 0, 0)
        case .geluSigmoid: (CML_GELU_SIGMOID, 0, 0)
        case .sigmoid: (CML_SIGMOID, 0, 0)
        case .silu: (CML_SILU, 0, 0)
        case .tanh: (CML_TANH, 0, 0)
        case .hardSwish(let alpha, let beta): (CML_HARD_SWISH, alpha, beta)
        case .hardSigmoid(let alpha, let beta): (CML_HARD_SIGMOID, alpha, beta)
        case .elu(let alpha): (CML_ELU, alpha, 0)
        case .softplus: (CML_SOFTPLUS, 0, 0)
        case .scaledSoftplus(let alpha, let beta): (CML_SOFTPLUS_SCALED, alpha, beta)
        case .softsign: (CML_SOFTSIGN, 0, 0)
        case .linear(let alpha, let beta): (CML_LINEAR, alpha, beta)
        case .scaledTanh(let alpha, let beta): (CML_SCALED_TANH, alpha, beta)
        case .thresholdedRelu(let alpha): (CML_THRESHOLDED_RELU, alpha, 0)
        case .abs: (CML_ABS, 0, 0)
        case .negate: (CML_NEGATE, 0, 0)
        case .exp: (CML_EXP, 0, 0)
        case .exp2: (CML_EXP2, 0, 0)
        case .expm1: (CML_EXPM1, 0, 0)
        case .log(let epsilon): (CML_LOG, epsilon, 0)
        case .sqrt: (CML_SQRT, 0, 0)
        case .rsqrt(let epsilon): (CML_RSQRT, epsilon, 0)
        case .inverse(let epsilon): (CML_INVERSE, epsilon, 0)
        case .square: (CML_SQUARE, 0, 0)
        case .erf: (CML_ERF, 0, 0)
        case .sin: (CML_SIN, 0, 0)
        case .cos: (CML_COS, 0, 0)
        case .tan: (CML_TAN, 0, 0)
        case .asin: (CML_ASIN, 0, 0)
        case .acos: (CML_ACOS, 0, 0)
        case .atan: (CML_ATAN, 0, 0)
        case .sinh: (CML_SINH, 0, 0)
        case .cosh: (CML_COSH, 0, 0)
        case .asinh: (CML_ASINH, 0, 0)
        case .acosh: (CML_ACOSH, 0, 0)
        case .atanh: (CML_ATANH, 0, 0)
        case .ceil: (CML_CEIL, 0, 0)
        case .floor: (CML_FLOOR, 0, 0)
        case .round: (CML_ROUND, 0, 0)
        case .sign: (CML_SIGN, 0, 0)
        case .threshold(let alpha): (CML_THRESHOLD, alpha, 0)
        case .logicalNot: (CML_LOGICAL_NOT, 0, 0)
        }
    }
}
