import MLKernels

extension Activation {
    /// The kernels' name for the function.
    var kernelFunction: UnaryFunction {
        switch self {
        case .none: .identity
        case .relu: .relu
        case .clip(let low, let high): .clip(low: Float(low), high: Float(high))
        case .leakyRelu(let alpha): .leakyRelu(alpha: Float(alpha))
        case .sigmoid: .sigmoid
        case .tanh: .tanh
        case .silu: .silu
        case .geluErf: .gelu
        case .geluTanh: .geluTanh
        case .geluSigmoid: .geluSigmoid
        case .hardSigmoid(let alpha, let beta): .hardSigmoid(alpha: Float(alpha), beta: Float(beta))
        case .hardSwish(let alpha, let beta): .hardSwish(alpha: Float(alpha), beta: Float(beta))
        case .elu(let alpha): .elu(alpha: Float(alpha))
        case .softplus: .softplus
        case .softsign: .softsign
        case .scaledTanh(let alpha, let beta): .scaledTanh(alpha: Float(alpha), beta: Float(beta))
        case .linear(let alpha, let beta): .linear(alpha: Float(alpha), beta: Float(beta))
        case .thresholdedRelu(let alpha): .thresholdedRelu(alpha: Float(alpha))
        }
    }
}
