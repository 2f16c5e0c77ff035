import Glibc
package import MLGraph
package import MLNumerics

extension Relu: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y > 0 ? 1 : 0 }
    package var derivativeForm: DerivativeForm? { .step(slope: 0) }
}

extension Relu6: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y > 0 && y < 6 ? 1 : 0 }
    package var derivativeForm: DerivativeForm? { .window(low: 0, high: 6) }
}

extension LeakyRelu: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { x > 0 ? 1 : alpha }
}

extension ClampedRelu: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double {
        let slope = x > 0 ? 1 : alpha
        return slope * x < beta ? slope : 0
    }
}

extension Elu: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { x > 0 ? 1 : alpha * exp(x) }
}

extension Gelu: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double {
        switch mode {
        case .exact:
            let density = exp(-x * x / 2) / (2 * Double.pi).squareRoot()
            return (1 + erf(x / 2.0.squareRoot())) / 2 + x * density
        case .tanh:
            let scale = (2 / Double.pi).squareRoot()
            let inner = Glibc.tanh(scale * (x + 0.044715 * x * x * x))
            return (1 + inner) / 2 + x / 2 * (1 - inner * inner) * scale * (1 + 3 * 0.044715 * x * x)
        case .sigmoid:
            let gate = 1 / (1 + exp(-1.702 * x))
            return gate + 1.702 * x * gate * (1 - gate)
        }
    }
}

extension LinearActivation: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { alpha }
}

extension ScaledTanh: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double {
        let inner = tanh(beta * x)
        return alpha * beta * (1 - inner * inner)
    }
}

extension Sigmoid: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y * (1 - y) }
    package var derivativeForm: DerivativeForm? { .sigmoid }
}

extension HardSigmoid: DifferentiableFunction {
    package static var derivesFromValue: Bool { true }
    package func derivative(at x: Double, value y: Double) -> Double { y > 0 && y < 1 ? alpha : 0 }
}

extension HardSwish: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double {
        let gate = alpha * x + beta
        return gate <= 0 ? 0 : gate >= 1 ? 1 : gate + alpha * x
    }
}

extension Silu: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double {
        let gate = 1 / (1 + exp(-x))
        return gate + x * gate * (1 - gate)
    }
}

extension Softplus: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { 1 / (1 + exp(-x)) }
}

extension Softsign: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double {
        let length = 1 + Swift.abs(x)
        return 1 / (length * length)
    }
}

extension ThresholdedRelu: DifferentiableFunction {
    package func derivative(at x: Double, value y: Double) -> Double { x < alpha ? 0 : 1 }
}

extension PRelu {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand()
        let dy = try context.resultGradient()
        let shape = try context.extents(x)
        let isNegative = try context.add(Binary<Less>(), x, context.scalar(0, like: x))
        if context.isNeeded(0) {
            let alpha = try context.channels(context.operand(1), rank: shape.count)
            let dx = try context.add(Select(), isNegative, context.product(dy, alpha), dy)
            context.setGradient(ofOperand: 0, to: dx)
        }
        if context.isNeeded(1) {
            let each = try context.kept(context.product(dy, x), where: isNegative)
            let axes = shape.indices.filter { $0 != 1 }
            context.setGradient(ofOperand: 1, to: try context.summed(each, axes: axes, keepsDimensions: false))
        }
    }
}

extension ParametricSoftplus {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand()
        let dy = try context.resultGradient()
        let shape = try context.extents(x)
        let alpha = try context.channels(context.operand(1), rank: shape.count)
        let beta = try context.channels(context.operand(2), rank: shape.count)
        let scaled = try context.product(x, beta)
        let gate = try context.product(context.add(Unary(Sigmoid()), scaled), alpha)
        let axes = shape.indices.filter { $0 != 1 }
        if context.isNeeded(0) {
            context.setGradient(ofOperand: 0, to: try context.product(dy, context.product(gate, beta)))
        }
        if context.isNeeded(1) {
            let each = try context.product(dy, context.add(Unary(Softplus()), scaled))
            context.setGradient(ofOperand: 1, to: try context.summed(each, axes: axes, keepsDimensions: false))
        }
        if context.isNeeded(2) {
            let each = try context.product(dy, context.product(gate, x))
            context.setGradient(ofOperand: 2, to: try context.summed(each, axes: axes, keepsDimensions: false))
        }
    }
}

extension Softmax {
    /// dx = y · (dy − Σ dy · y)
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let y = context.results[0]
        let dy = try context.resultGradient()
        let total = try context.summed(context.product(dy, y), axes: [axis], keepsDimensions: true)
        context.setGradient(ofOperand: 0, to: try context.product(y, context.difference(dy, total)))
    }
}
