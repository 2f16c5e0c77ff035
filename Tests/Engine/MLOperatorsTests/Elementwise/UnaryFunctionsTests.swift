import Glibc
import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct UnaryFunctionsTests {
    static let cases: [UnaryCase] = [
        UnaryCase(op: Unary(Abs()), layer: { $0.unary.type = .abs }) { Swift.max($0, -$0) },
        UnaryCase(op: Unary(Acos()), range: -1...1, layer: { $0.acos = .init() }) {
            atan2((1 - $0 * $0).squareRoot(), $0)
        },
        UnaryCase(op: Unary(Acosh()), range: 1...9, layer: { $0.acosh = .init() }) {
            log($0 + ($0 * $0 - 1).squareRoot())
        },
        UnaryCase(op: Unary(Asin()), range: -1...1, layer: { $0.asin = .init() }) {
            atan2($0, (1 - $0 * $0).squareRoot())
        },
        UnaryCase(op: Unary(Asinh()), layer: { $0.asinh = .init() }) { log($0 + ($0 * $0 + 1).squareRoot()) },
        UnaryCase(op: Unary(Atan()), layer: { $0.atan = .init() }) { atan2($0, 1) },
        UnaryCase(op: Unary(Atanh()), range: -0.9...0.9, layer: { $0.atanh = .init() }) {
            0.5 * log((1 + $0) / (1 - $0))
        },
        UnaryCase(op: Unary(Ceil()), layer: { $0.ceil = .init() }) { -floor(-$0) },
        UnaryCase(
            op: Unary(Clip(lower: -1, upper: 2)),
            layer: {
                $0.clip.minVal = -1; $0.clip.maxVal = 2
            }
        ) { $0 < -1 ? -1 : $0 > 2 ? 2 : $0 },
        UnaryCase(op: Unary(Cos()), layer: { $0.cos = .init() }) { sin($0 + Double.pi / 2) },
        UnaryCase(op: Unary(Cosh()), layer: { $0.cosh = .init() }) { (exp($0) + exp(-$0)) / 2 },
        UnaryCase(op: Unary(Erf()), layer: { $0.erf = .init() }) { 1 - erfc($0) },
        UnaryCase(op: Unary(Exp()), layer: { $0.unary.type = .exp }) { pow(M_E, $0) },
        UnaryCase(op: Unary(Exp2()), layer: { $0.exp2 = .init() }) { pow(2, $0) },
        UnaryCase(op: Unary(Floor()), layer: { $0.floor = .init() }) { -ceil(-$0) },
        UnaryCase(
            op: Unary(Inverse(epsilon: 0.5)),
            range: 0...3,
            layer: {
                $0.unary.type = .inverse; $0.unary.epsilon = 0.5
            }
        ) { pow($0 + 0.5, -1) },
        UnaryCase(
            op: Unary(Log(epsilon: 0.5)),
            range: 0...3,
            layer: {
                $0.unary.type = .log; $0.unary.epsilon = 0.5
            }
        ) { log1p($0 - 0.5) },
        UnaryCase(op: Unary(Round()), layer: { $0.round = .init() }) { rint($0) },
        UnaryCase(
            op: Unary(Rsqrt(epsilon: 0.5)),
            range: 0...3,
            layer: {
                $0.unary.type = .rsqrt; $0.unary.epsilon = 0.5
            }
        ) { pow($0 + 0.5, -0.5) },
        UnaryCase(op: Unary(Sign()), layer: { $0.sign = .init() }) { $0 > 0 ? 1 : $0 < 0 ? -1 : 0 },
        UnaryCase(op: Unary(Sin()), layer: { $0.sin = .init() }) { cos($0 - Double.pi / 2) },
        UnaryCase(op: Unary(Sinh()), layer: { $0.sinh = .init() }) { (exp($0) - exp(-$0)) / 2 },
        UnaryCase(op: Unary(Sqrt()), range: 0...9, layer: { $0.unary.type = .sqrt }) { pow($0, 0.5) },
        UnaryCase(op: Unary(Square())) { pow($0, 2) },
        UnaryCase(op: Unary(Tan()), range: -1...1, layer: { $0.tan = .init() }) { sin($0) / cos($0) },
        UnaryCase(op: Unary(Tanh()), layer: { $0.tanh = .init() }) { 1 - 2 / (exp(2 * $0) + 1) },
        UnaryCase(
            op: Unary(Threshold(alpha: 0.5)),
            layer: {
                $0.unary.type = .threshold; $0.unary.alpha = 0.5
            }
        ) { $0 < 0.5 ? 0.5 : $0 },
    ]

    @Test(arguments: cases) func formula(_ unary: UnaryCase) { #expect(unary.failures() == []) }

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

    /// The ends of the ranges of integers.
    static let ends: [Double] = [
        -2_147_483_648, 2_147_483_647, -1, 0, 1, 46_340, 46_341, -46_341, 127, 128, -129, 255, 256, 65_535, 65_536, -7,
    ]

    @Test func integerKernels() {
        let x = Tensor(values: Self.ends, scalarType: .int32, shape: [4, 4])
        for op: any Operator in [Unary(Abs()), Unary(Sign()), Unary(Square()), Unary(Threshold(alpha: 3))] {
            #expect(OperatorProblem("", op, [x], tolerance: 0).failures() == [])
        }
        var random = RandomTensors(seed: 51)
        let truth = random.tensor([3, 700], .bool)
        #expect(OperatorProblem("", Unary(LogicalNot()), [truth], tolerance: 0).failures() == [])
    }

    @Test func epsilonDefaults() throws {
        let x = Tensor([0] as [Float], shape: [1])
        #expect(try OperatorTrial.program(Unary<Inverse>.self, ["x": x])[0].values[0].rounded() == 10_000)
        #expect(try abs(OperatorTrial.program(Unary<Rsqrt>.self, ["x": x])[0].values[0] - 1e6) < 1)
        #expect(try abs(OperatorTrial.program(Unary<Log>.self, ["x": x])[0].values[0] + 103.2789) < 1e-3)
    }

    static let layers: [LayerProblem] = [
        LayerProblem([OperatorTrial.floats([0, 3, -1])], expected: [OperatorTrial.floats([1, 0, 0])]) {
            $0.logicalNot = .init()
        },
        LayerProblem([OperatorTrial.floats([1, 2])], expected: [OperatorTrial.floats([9, 25])]) {
            $0.unary.type = .power
            $0.unary.alpha = 2
            $0.unary.scale = 2
            $0.unary.shift = 1
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: UInt64(1)...3) func gradient(seed: UInt64) {
        let wide: [any Operator] = [
            Unary(Abs()), Unary(Asinh()), Unary(Atan()), Unary(Clip(lower: -0.5, upper: 0.7)), Unary(Cos()),
            Unary(Cosh()), Unary(Erf()), Unary(Exp()), Unary(Exp2()), Unary(Sin()), Unary(Sinh()), Unary(Square()),
            Unary(Tan()), Unary(Tanh()), Unary(Threshold(alpha: 0.2)),
        ]
        for op in wide { #expect(GradientProblem("", op, [.real([3, 7])], seed: seed).failures() == []) }
        let positive: [any Operator] = [
            Unary(Inverse(epsilon: 0.1)), Unary(Log(epsilon: 0.1)), Unary(Rsqrt(epsilon: 0.1)), Unary(Sqrt()),
        ]
        for op in positive {
            #expect(GradientProblem("", op, [.real([3, 7], in: 0.2...2)], seed: seed).failures() == [])
        }
        let narrow: [any Operator] = [Unary(Acos()), Unary(Asin()), Unary(Atanh())]
        for op in narrow {
            #expect(GradientProblem("", op, [.real([3, 7], in: -0.9...0.9)], seed: seed).failures() == [])
        }
        #expect(GradientProblem("", Unary(Acosh()), [.real([5], in: 1.2...3)], seed: seed).failures() == [])
    }
}
