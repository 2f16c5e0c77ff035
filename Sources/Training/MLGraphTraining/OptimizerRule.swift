import MLKernels
import MLNumerics

/// The optimisers' update formulas; they are defined nowhere else.
///
/// With g the gradient of the mean loss, w the parameter and t the number of the step, from 1 on, as in PyTorch:
///
/// - SGD: v = momentum · v + g; w = w − rate · v, without dampening;
/// - Adam: m = β₁ · m + (1 − β₁) · g; v = β₂ · v + (1 − β₂) · g²; w = w − rate · m̂ / (√v̂ + eps) with m̂ = m / (1 −
///   β₁ᵗ) and v̂ = v / (1 − β₂ᵗ).
///
/// Every state starts at 0.
struct OptimizerRule {
    let optimizer: Optimizer
    let learningRate: Double
    /// The number of the step, from 1.
    let step: Int

    /// The number of state tensors that the optimiser keeps for each parameter.
    static func stateCount(_ optimizer: Optimizer) -> Int {
        switch optimizer {
        case .sgd(let momentum): momentum == 0 ? 0 : 1
        case .adam: 2
        }
    }

    /// Updates `parameter` and its state; all have the scalar type of the gradient, float32 or float64.
    func apply(_ gradient: Tensor, to parameter: inout Tensor, state: inout [Tensor]) {
        if parameter.scalarType == .float64 {
            apply(gradient, to: &parameter, state: &state, Double.self)
        } else {
            apply(gradient, to: &parameter, state: &state, Float.self)
        }
    }

    private func apply<Scalar: BinaryFloatingPoint & BitwiseCopyable>(
        _ gradient: Tensor,
        to parameter: inout Tensor,
        state: inout [Tensor],
        _: Scalar.Type
    ) {
        let count = parameter.count
        var moments: [UnsafeMutablePointer<Scalar>] = []
        for index in state.indices {
            state[index].withMutableElements(of: Scalar.self) { elements in
                if let address = elements.baseAddress { moments.append(address) }
            }
        }
        let states = moments
        gradient.withElements(of: Scalar.self) { gradient in
            parameter.withMutableElements(of: Scalar.self) { parameter in
                guard let g = gradient.baseAddress, let w = parameter.baseAddress else { return }
                let grain = 1 << 14
                Workers.parallelFor((count + grain - 1) / grain) { part, _ in
                    let range = part * grain..<min((part + 1) * grain, count)
                    switch optimizer {
                    case .sgd(let momentum): descend(w, g, states.first, Scalar(momentum), range)
                    case .adam(let beta1, let beta2, let eps):
                        guard states.count == 2 else { return }
                        adapt(w, g, states[0], states[1], beta1, beta2, eps, range)
                    }
                }
            }
        }
    }

    private func descend<Scalar: BinaryFloatingPoint>(
        _ w: UnsafeMutablePointer<Scalar>,
        _ g: UnsafePointer<Scalar>,
        _ v: UnsafeMutablePointer<Scalar>?,
        _ momentum: Scalar,
        _ range: Range<Int>
    ) {
        let rate = Scalar(learningRate)
        guard let v else {
            for index in range { w[index] -= rate * g[index] }
            return
        }
        for index in range {
            v[index] = momentum * v[index] + g[index]
            w[index] -= rate * v[index]
        }
    }

    private func adapt<Scalar: BinaryFloatingPoint>(
        _ w: UnsafeMutablePointer<Scalar>,
        _ g: UnsafePointer<Scalar>,
        _ m: UnsafeMutablePointer<Scalar>,
        _ v: UnsafeMutablePointer<Scalar>,
        _ beta1: Double,
        _ beta2: Double,
        _ eps: Double,
        _ range: Range<Int>
    ) {
        let (b1, b2, epsilon) = (Scalar(beta1), Scalar(beta2), Scalar(eps))
        let (c1, c2) = (Scalar(1 - beta1), Scalar(1 - beta2))
        let rate = Scalar(learningRate / (1 - power(beta1)))
        let root = Scalar((1 - power(beta2)).squareRoot())
        for index in range {
            let gradient = g[index]
            let first = b1 * m[index] + c1 * gradient
            let second = b2 * v[index] + c2 * gradient * gradient
            m[index] = first
            v[index] = second
            w[index] -= rate * first / (second.squareRoot() / root + epsilon)
        }
    }

    /// `base` to the power of the step.
    private func power(_ base: Double) -> Double {
        var (result, factor, exponent) = (1.0, base, step)
        while exponent > 0 {
            if exponent & 1 == 1 { result *= factor }
            factor *= factor
            exponent >>= 1
        }
        return result
    }
}
