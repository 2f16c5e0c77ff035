import Glibc
import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// One function of one number, beside an independent formula for it.
struct UnaryCase: Sendable, CustomTestStringConvertible {
    var op: any Operator
    var range: ClosedRange<Double> = -3...3
    var formula: @Sendable (Double) -> Double
    var testDescription: String { "\(op.displayName) \(op)" }

    static let all: [UnaryCase] = [
        UnaryCase(op: Unary(Abs())) { Swift.max($0, -$0) },
        UnaryCase(op: Unary(Acos()), range: -1...1) { atan2((1 - $0 * $0).squareRoot(), $0) },
        UnaryCase(op: Unary(Acosh()), range: 1...9) { log($0 + ($0 * $0 - 1).squareRoot()) },
        UnaryCase(op: Unary(Asin()), range: -1...1) { atan2($0, (1 - $0 * $0).squareRoot()) },
        UnaryCase(op: Unary(Asinh())) { log($0 + ($0 * $0 + 1).squareRoot()) },
        UnaryCase(op: Unary(Atan())) { atan2($0, 1) },
        UnaryCase(op: Unary(Atanh()), range: -0.9...0.9) { 0.5 * log((1 + $0) / (1 - $0)) },
        UnaryCase(op: Unary(Ceil())) { -floor(-$0) },
        UnaryCase(op: Unary(Clip(lower: -1, upper: 2))) { $0 < -1 ? -1 : $0 > 2 ? 2 : $0 },
        UnaryCase(op: Unary(Cos())) { sin($0 + Double.pi / 2) },
        UnaryCase(op: Unary(Cosh())) { (exp($0) + exp(-$0)) / 2 },
        UnaryCase(op: Unary(Erf())) { 1 - erfc($0) },
        UnaryCase(op: Unary(Exp())) { pow(M_E, $0) },
        UnaryCase(op: Unary(Exp2())) { pow(2, $0) },
        UnaryCase(op: Unary(Floor())) { -ceil(-$0) },
        UnaryCase(op: Unary(Inverse(epsilon: 0.5)), range: 0...3) { pow($0 + 0.5, -1) },
        UnaryCase(op: Unary(Log(epsilon: 0.5)), range: 0...3) { log1p($0 - 0.5) },
        UnaryCase(op: Unary(Round())) { rint($0) },
        UnaryCase(op: Unary(Rsqrt(epsilon: 0.5)), range: 0...3) { pow($0 + 0.5, -0.5) },
        UnaryCase(op: Unary(Sign())) { $0 > 0 ? 1 : $0 < 0 ? -1 : 0 },
        UnaryCase(op: Unary(Sin())) { cos($0 - Double.pi / 2) },
        UnaryCase(op: Unary(Sinh())) { (exp($0) - exp(-$0)) / 2 },
        UnaryCase(op: Unary(Sqrt()), range: 0...9) { pow($0, 0.5) },
        UnaryCase(op: Unary(Square())) { pow($0, 2) },
        UnaryCase(op: Unary(Tan()), range: -1...1) { sin($0) / cos($0) },
        UnaryCase(op: Unary(Tanh())) { 1 - 2 / (exp(2 * $0) + 1) },
        UnaryCase(op: Unary(Threshold(alpha: 0.5))) { $0 < 0.5 ? 0.5 : $0 },
        UnaryCase(op: Unary(Relu())) { $0 > 0 ? $0 : 0 },
        UnaryCase(op: Unary(Relu6()), range: -3...9) { $0 > 6 ? 6 : $0 > 0 ? $0 : 0 },
        UnaryCase(op: Unary(LeakyRelu(alpha: 0.1))) { $0 > 0 ? $0 : $0 * 0.1 },
        UnaryCase(op: Unary(ClampedRelu(alpha: 0.5, beta: 2))) { $0 >= 0 ? ($0 < 2 ? $0 : 2) : $0 * 0.5 },
        UnaryCase(op: Unary(Elu(alpha: 0.7))) { $0 > 0 ? $0 : 0.7 * (exp($0) - 1) },
        UnaryCase(op: Unary(Gelu(mode: .exact))) { $0 * erfc(-$0 / 2.0.squareRoot()) / 2 },
        UnaryCase(op: Unary(Gelu(mode: .tanh))) { x in
            x / (1 + exp(-2 * (2 / Double.pi).squareRoot() * (x + 0.044715 * pow(x, 3))))
        },
        UnaryCase(op: Unary(Gelu(mode: .sigmoid))) { $0 / (1 + exp(-1.702 * $0)) },
        UnaryCase(op: Unary(LinearActivation(alpha: 2, beta: -1))) { 2 * $0 - 1 },
        UnaryCase(op: Unary(ScaledTanh(alpha: 2, beta: 0.5))) { 2 - 4 / (exp($0) + 1) },
        UnaryCase(op: Unary(Sigmoid())) { 0.5 + tanh($0 / 2) / 2 },
        UnaryCase(op: Unary(HardSigmoid(alpha: 0.3, beta: 0.4))) { fmax(0, fmin(1, 0.3 * $0 + 0.4)) },
        UnaryCase(op: Unary(HardSwish(alpha: 0.3, beta: 0.4))) { $0 * fmax(0, fmin(1, 0.3 * $0 + 0.4)) },
        UnaryCase(op: Unary(Silu())) { $0 * (0.5 + tanh($0 / 2) / 2) },
        UnaryCase(op: Unary(Softplus())) { log(1 + exp($0)) },
        UnaryCase(op: Unary(Softsign())) { $0 > 0 ? $0 / (1 + $0) : $0 / (1 - $0) },
        UnaryCase(op: Unary(ThresholdedRelu(alpha: 1))) { $0 >= 1 ? $0 : 0 },
    ]
}

@Suite struct UnaryTests {
    @Test(arguments: UnaryCase.all) func formula(_ unary: UnaryCase) {
        var random = RandomTensors(seed: 3)
        for shape in [[], [1], [33], [2, 3, 4, 5], [2, 3, 5]] {
            let x = random.tensor(shape, in: unary.range)
            let expected = Tensor(values: x.values.map(unary.formula), scalarType: .float32, shape: shape)
            let problem = OperatorProblem("", unary.op, [x], expected: [expected], tolerance: 2e-5, seed: 3)
            #expect(problem.failures() == [])
        }
    }

    @Test func halvesRoundToEven() throws {
        let x = Tensor([0.5, 1.5, 2.5, -0.5, -1.5] as [Float], shape: [5])
        let expected = Tensor([0, 2, 2, 0, -2] as [Float], shape: [5])
        #expect(OperatorProblem("", Unary(Round()), [x], expected: [expected]).failures() == [])
    }

    @Test func integersAndTruthValues() throws {
        let x = Tensor([-3, 0, 4] as [Int32], shape: [3])
        for (op, expected) in [(Unary(Abs()) as any Operator, [3, 0, 4]), (Unary(Square()), [9, 0, 16])] {
            let problem = OperatorProblem("", op, [x], expected: [Tensor(expected.map(Int32.init), shape: [3])])
            #expect(problem.failures() == [])
        }
        let truths = Tensor(values: [0, 1], scalarType: .bool, shape: [2])
        let turned = Tensor(values: [1, 0], scalarType: .bool, shape: [2])
        #expect(OperatorProblem("", Unary(LogicalNot()), [truths], expected: [turned]).failures() == [])
    }

    @Test func epsilonDefaults() throws {
        let x = Tensor([0] as [Float], shape: [1])
        #expect(try OperatorTrial.program(Unary<Inverse>.self, ["x": x])[0].values[0].rounded() == 10_000)
        #expect(try abs(OperatorTrial.program(Unary<Rsqrt>.self, ["x": x])[0].values[0] - 1e6) < 1)
        #expect(try abs(OperatorTrial.program(Unary<Log>.self, ["x": x])[0].values[0] + 103.2789) < 1e-3)
    }

    @Test func casts() throws {
        let x = Tensor([-1.7, 0, 2.9, 300] as [Float], shape: [4])
        func cast(_ tensor: Tensor, _ type: ScalarType) -> OperatorProblem {
            OperatorProblem("", Cast(to: type), [tensor], expected: [tensor.converted(to: type)])
        }
        for type in [ScalarType.int32, .int8, .uint8, .bool, .float16, .float32] {
            #expect(cast(x, type).failures() == [])
            #expect(cast(x.converted(to: .int32), type).failures() == [])
        }
        #expect(x.converted(to: .uint8).values == [0, 0, 2, 255])
        #expect(
            try OperatorTrial.program(Cast.self, ["x": x, "dtype": OperatorTrial.string("int32")])[0].values == [
                -1, 0, 2, 300,
            ]
        )
    }
}
