import CTraining
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

    private func apply<Scalar: OptimizedScalar>(
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
                        Scalar.adapt(
                            AdamTensors(parameters: w, gradient: g, first: states[0], second: states[1]),
                            range,
                            AdamFactors(beta1, beta2, eps, rate: learningRate, step: step)
                        )
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
}

/// The factors of a step of Adam.
private struct AdamFactors {
    let beta1: Double
    let beta2: Double
    /// 1 − β₁ and 1 − β₂.
    let shares: (Double, Double)
    /// The learning rate over 1 − β₁ᵗ.
    let rate: Double
    /// √(1 − β₂ᵗ).
    let root: Double
    let eps: Double

    init(_ beta1: Double, _ beta2: Double, _ eps: Double, rate: Double, step: Int) {
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        shares = (1 - beta1, 1 - beta2)
        self.rate = rate / (1 - Self.power(beta1, step))
        root = (1 - Self.power(beta2, step)).squareRoot()
    }

    private static func power(_ base: Double, _ step: Int) -> Double {
        var (result, factor, exponent) = (1.0, base, step)
        while exponent > 0 {
            if exponent & 1 == 1 { result *= factor }
            factor *= factor
            exponent >>= 1
        }
        return result
    }
}

/// The elements of a parameter, of its gradient, and of the means of the gradient and of its square.
private struct AdamTensors<Scalar> {
    let parameters: UnsafeMutablePointer<Scalar>
    let gradient: UnsafePointer<Scalar>
    let first: UnsafeMutablePointer<Scalar>
    let second: UnsafeMutablePointer<Scalar>
}

/// The scalar types of parameters.
private protocol OptimizedScalar: BinaryFloatingPoint, BitwiseCopyable {
    /// A step of Adam for some of the elements.
    static func adapt(_ tensors: AdamTensors<Self>, _ range: Range<Int>, _ by: AdamFactors)
}

extension Float: OptimizedScalar {
    fileprivate static func adapt(_ tensors: AdamTensors<Float>, _ range: Range<Int>, _ by: AdamFactors) {
        var factors = ctraining_adam(
            beta1: Float(by.beta1),
            beta2: Float(by.beta2),
            share1: Float(by.shares.0),
            share2: Float(by.shares.1),
            rate: Float(by.rate),
            root: Float(by.root),
            epsilon: Float(by.eps)
        )
        let start = range.lowerBound
        ctraining_adam(
            tensors.parameters + start,
            tensors.gradient + start,
            tensors.first + start,
            tensors.second + start,
            range.count,
            &factors,
            1
        )
    }
}

extension Double: OptimizedScalar {
    fileprivate static func adapt(_ tensors: AdamTensors<Double>, _ range: Range<Int>, _ by: AdamFactors) {
        let (w, g, m, v) = (tensors.parameters, tensors.gradient, tensors.first, tensors.second)
        for index in range {
            let gradient = g[index]
            m[index] = by.beta1 * m[index] + by.shares.0 * gradient
            v[index] = by.beta2 * v[index] + by.shares.1 * gradient * gradient
            w[index] -= by.rate * m[index] / (v[index].squareRoot() / by.root + by.eps)
        }
    }
}
