import MLKernels

extension Activation {
    /// The form of recurrent kernels.
    var gateFunction: GateFunction {
        let derivative: GateFunction.Derivative =
            switch self {
            case .sigmoid: .sigmoid
            case .tanh: .tanh
            case .none: .identity
            case .relu: .step
            default: .general { slope($0) }
            }
        return GateFunction(kernelFunction, plain: { apply($0) }, derivative: derivative)
    }

    private func slope(_ x: Double) -> Double {
        switch self {
        case .none: 1
        case .relu: Relu().derivative(at: x, value: apply(x))
        case .clip(let low, let high): Clip(lower: low, upper: high).derivative(at: x, value: 0)
        case .leakyRelu(let alpha): LeakyRelu(alpha: alpha).derivative(at: x, value: 0)
        case .sigmoid: Sigmoid().derivative(at: x, value: apply(x))
        case .tanh: Tanh().derivative(at: x, value: apply(x))
        case .silu: Silu().derivative(at: x, value: 0)
        case .geluErf: Gelu(mode: .exact).derivative(at: x, value: 0)
        case .geluTanh: Gelu(mode: .tanh).derivative(at: x, value: 0)
        case .geluSigmoid: Gelu(mode: .sigmoid).derivative(at: x, value: 0)
        case .hardSigmoid(let alpha, let beta): HardSigmoid(alpha: alpha, beta: beta).derivative(at: x, value: apply(x))
        case .hardSwish(let alpha, let beta): HardSwish(alpha: alpha, beta: beta).derivative(at: x, value: 0)
        case .elu(let alpha): Elu(alpha: alpha).derivative(at: x, value: 0)
        case .softplus: Softplus().derivative(at: x, value: 0)
        case .softsign: Softsign().derivative(at: x, value: 0)
        case .scaledTanh(let alpha, let beta): ScaledTanh(alpha: alpha, beta: beta).derivative(at: x, value: 0)
        case .linear(let alpha, _): alpha
        case .thresholdedRelu(let alpha): ThresholdedRelu(alpha: alpha).derivative(at: x, value: 0)
        }
    }
}
