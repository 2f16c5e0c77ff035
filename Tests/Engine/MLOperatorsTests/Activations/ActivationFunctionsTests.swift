import Glibc
import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ActivationFunctionsTests {
    static let cases: [UnaryCase] = [
        UnaryCase(op: Unary(Relu()), layer: { $0.activation.reLu = .init() }) { $0 > 0 ? $0 : 0 },
        UnaryCase(op: Unary(Relu6()), range: -3...9) { $0 > 6 ? 6 : $0 > 0 ? $0 : 0 },
        UnaryCase(op: Unary(LeakyRelu(alpha: 0.1)), layer: { $0.activation.leakyReLu.alpha = 0.1 }) {
            $0 > 0 ? $0 : $0 * 0.1
        },
        UnaryCase(
            op: Unary(ClampedRelu(alpha: 0.5, beta: 2)),
            layer: {
                $0.clampedReLu.alpha = 0.5; $0.clampedReLu.beta = 2
            }
        ) { $0 >= 0 ? ($0 < 2 ? $0 : 2) : $0 * 0.5 },
        UnaryCase(op: Unary(Elu(alpha: 0.7)), layer: { $0.activation.elu.alpha = 0.7 }) {
            $0 > 0 ? $0 : 0.7 * (exp($0) - 1)
        },
        UnaryCase(op: Unary(Gelu(mode: .exact)), layer: { $0.gelu.mode = .exact }) {
            $0 * erfc(-$0 / 2.0.squareRoot()) / 2
        },
        UnaryCase(op: Unary(Gelu(mode: .tanh)), layer: { $0.gelu.mode = .tanhApproximation }) { x in
            x / (1 + exp(-2 * (2 / Double.pi).squareRoot() * (x + 0.044715 * pow(x, 3))))
        },
        UnaryCase(op: Unary(Gelu(mode: .sigmoid)), layer: { $0.gelu.mode = .sigmoidApproximation }) {
            $0 / (1 + exp(-1.702 * $0))
        },
        UnaryCase(
            op: Unary(LinearActivation(alpha: 2, beta: -1)),
            layer: {
                $0.activation.linear.alpha = 2; $0.activation.linear.beta = -1
            }
        ) { 2 * $0 - 1 },
        UnaryCase(
            op: Unary(ScaledTanh(alpha: 2, beta: 0.5)),
            layer: {
                $0.activation.scaledTanh.alpha = 2; $0.activation.scaledTanh.beta = 0.5
            }
        ) { 2 - 4 / (exp($0) + 1) },
        UnaryCase(op: Unary(Sigmoid()), layer: { $0.activation.sigmoid = .init() }) { 0.5 + tanh($0 / 2) / 2 },
        UnaryCase(
            op: Unary(HardSigmoid(alpha: 0.3, beta: 0.4)),
            layer: {
                $0.activation.sigmoidHard.alpha = 0.3; $0.activation.sigmoidHard.beta = 0.4
            }
        ) { fmax(0, fmin(1, 0.3 * $0 + 0.4)) },
        UnaryCase(op: Unary(HardSwish(alpha: 0.3, beta: 0.4))) { $0 * fmax(0, fmin(1, 0.3 * $0 + 0.4)) },
        UnaryCase(op: Unary(Silu())) { $0 * (0.5 + tanh($0 / 2) / 2) },
        UnaryCase(op: Unary(Softplus()), layer: { $0.activation.softplus = .init() }) { log(1 + exp($0)) },
        UnaryCase(op: Unary(Softsign()), layer: { $0.activation.softsign = .init() }) {
            $0 > 0 ? $0 / (1 + $0) : $0 / (1 - $0)
        },
        UnaryCase(op: Unary(ThresholdedRelu(alpha: 1)), layer: { $0.activation.thresholdedReLu.alpha = 1 }) {
            $0 >= 1 ? $0 : 0
        },
    ]

    @Test(arguments: cases) func formula(_ unary: UnaryCase) { #expect(unary.failures() == []) }

    @Test(arguments: UInt64(1)...3) func gradient(seed: UInt64) {
        let wide: [any Operator] = [
            Unary(Relu()), Unary(LeakyRelu(alpha: 0.3)), Unary(LeakyRelu(alpha: -0.3)),
            Unary(ClampedRelu(alpha: 0.4, beta: 0.6)), Unary(Elu(alpha: 1.3)), Unary(Gelu(mode: .exact)),
            Unary(Gelu(mode: .tanh)), Unary(Gelu(mode: .sigmoid)), Unary(LinearActivation(alpha: 2, beta: 1)),
            Unary(ScaledTanh(alpha: 1.7, beta: 0.6)), Unary(Sigmoid()), Unary(HardSigmoid(alpha: 0.8, beta: 0.5)),
            Unary(HardSwish(alpha: 0.8, beta: 0.5)), Unary(Silu()), Unary(Softplus()), Unary(Softsign()),
            Unary(ThresholdedRelu(alpha: 0.3)),
        ]
        for op in wide { #expect(GradientProblem("", op, [.real([3, 7])], seed: seed).failures() == []) }
        #expect(GradientProblem("", Unary(Relu6()), [.real([4, 9], in: -3...9)], seed: seed).failures() == [])
        #expect(GradientProblem("", Unary(Relu()), [.real([3, 20_000])], seed: seed).failures() == [])
    }
}
