import MLGraph
import MLNumerics
import MLOperators
import MLTraining
import TestSupport
import Testing

private typealias P = GradientProblem

/// Every operator that declares a gradient, against differences.
@Suite struct GradientTests {
    @Test(arguments: UInt64(1)...3)
    func functionsOfOneNumber(seed: UInt64) {
        let wide: [any Operator] = [
            Unary(Abs()), Unary(Asinh()), Unary(Atan()), Unary(Clip(lower: -0.5, upper: 0.7)), Unary(Cos()),
            Unary(Cosh()), Unary(Erf()), Unary(Exp()), Unary(Exp2()), Unary(Sin()), Unary(Sinh()), Unary(Square()),
            Unary(Tan()), Unary(Tanh()), Unary(Threshold(alpha: 0.2)), Unary(Relu()), Unary(LeakyRelu(alpha: 0.3)),
            Unary(LeakyRelu(alpha: -0.3)), Unary(ClampedRelu(alpha: 0.4, beta: 0.6)), Unary(Elu(alpha: 1.3)),
            Unary(Gelu(mode: .exact)), Unary(Gelu(mode: .tanh)), Unary(Gelu(mode: .sigmoid)),
            Unary(LinearActivation(alpha: 2, beta: 1)), Unary(ScaledTanh(alpha: 1.7, beta: 0.6)), Unary(Sigmoid()),
            Unary(HardSigmoid(alpha: 0.8, beta: 0.5)), Unary(HardSwish(alpha: 0.8, beta: 0.5)), Unary(Silu()),
            Unary(Softplus()), Unary(Softsign()), Unary(ThresholdedRelu(alpha: 0.3)),
        ]
        for op in wide { #expect(P("", op, [.real([3, 7])], seed: seed).failures() == []) }
        let positive: [any Operator] = [
            Unary(Inverse(epsilon: 0.1)), Unary(Log(epsilon: 0.1)), Unary(Rsqrt(epsilon: 0.1)), Unary(Sqrt()),
        ]
        for op in positive { #expect(P("", op, [.real([3, 7], in: 0.2...2)], seed: seed).failures() == []) }
        let narrow: [any Operator] = [Unary(Acos()), Unary(Asin()), Unary(Atanh())]
        for op in narrow { #expect(P("", op, [.real([3, 7], in: -0.9...0.9)], seed: seed).failures() == []) }
        #expect(P("", Unary(Acosh()), [.real([5], in: 1.2...3)], seed: seed).failures() == [])
        #expect(P("", Unary(Relu6()), [.real([4, 9], in: -3...9)], seed: seed).failures() == [])
        #expect(P("", Unary(Relu()), [.real([3, 20_000])], seed: seed).failures() == [])
        #expect(P("", PRelu(), [.real([2, 3, 4]), .real([3])], seed: seed).failures() == [])
        #expect(P("", ParametricSoftplus(), [.real([2, 3, 4]), .real([3]), .real([3])], seed: seed).failures() == [])
        for axis in [-1, 0, 1] { #expect(P("", Softmax(axis: axis), [.real([3, 4, 2])], seed: seed).failures() == []) }
    }

    @Test(arguments: [([3, 4], [3, 4]), ([3, 1], [4]), ([2, 3, 4], [3, 1]), ([], [2, 2]), ([1, 4], [3, 4])])
    func functionsOfTwoNumbers(_ x: [Int], _ y: [Int]) {
        let ops: [any Operator] = [Binary<Add>(), Binary<Sub>(), Binary<Mul>(), Binary<Max>(), Binary<Min>()]
        for op in ops { #expect(P("", op, [.real(x), .real(y)]).failures() == []) }
        #expect(P("", Binary<RealDiv>(), [.real(x), .real(y, in: 0.5...2)]).failures() == [])
        #expect(P("", Binary<Pow>(), [.real(x, in: 0.5...2), .real(y)]).failures() == [])
        #expect(P("", Binary<Mod>(), [.real(x, in: 3.1...3.6), .real(y, in: 1.6...2)]).failures() == [])
        let condition = Tensor(values: [1, 0, 0, 1], scalarType: .bool, shape: [4])
        if x.last ?? 1 == 4 || y.last == 4 {
            #expect(P("", Select(), [.fixed(condition), .real(x), .real(y)]).failures() == [])
        }
    }

    @Test func onePlaceTwice() {
        // A constant to one side, and what a square of a sum needs: equal operands.
        #expect(P("", Binary<Pow>(), [.real([5], in: -2...2), .fixed(Tensor(scalar: 3, .float64))]).failures() == [])
    }

    /// Between floating-point types the gradient is converted back.
    @Test func conversions() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [3]))
        let wide = try builder.add(Cast(to: .float64), x)
        let loss = try builder.add(Reduction<SumOfSquares>(axes: nil, keepsDimensions: false), wide)
        let objective = Objective(builder.finished(outputs: [("loss", loss)]), parameters: ["x"])
        let values = Tensor([1, -2, 3] as [Float], shape: [3])
        let (_, gradients) = try GradientProgram(objective).run([], [values])
        #expect(gradients[0].scalarType == .float32)
        #expect(gradients[0].values == [2, -4, 6])
        CensusRecord.shared?.noteGradient(Cast(to: .float64))
    }

    @Test(arguments: UInt64(1)...2)
    func reductions(seed: UInt64) {
        for axes: [Int]? in [nil, [0], [-1], [0, 2], [1]] {
            for keeps in [false, true] {
                let ops: [any Operator] = [
                    Reduction<SumOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<MeanOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<LargestElement>(axes: axes, keepsDimensions: keeps),
                    Reduction<SmallestElement>(axes: axes, keepsDimensions: keeps),
                    Reduction<ProductOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<L1NormOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<L2NormOfElements>(axes: axes, keepsDimensions: keeps),
                    Reduction<SumOfSquares>(axes: axes, keepsDimensions: keeps),
                    Reduction<LogOfSumOfExponentials>(axes: axes, keepsDimensions: keeps),
                ]
                for op in ops { #expect(P("\(axes ?? [])", op, [.real([2, 3, 4])], seed: seed).failures() == []) }
                let log = Reduction<LogOfSum>(axes: axes, keepsDimensions: keeps)
                #expect(P("", log, [.real([2, 3, 4], in: 0.5...2)], seed: seed).failures() == [])
            }
        }
        for isExclusive in [false, true] {
            for isReversed in [false, true] {
                let op = CumulativeSum(axis: 1, isExclusive: isExclusive, isReversed: isReversed)
                #expect(P("", op, [.real([2, 5, 3])], seed: seed).failures() == [])
            }
        }
    }

    @Test func products() {
        #expect(P("", Linear(), [.real([5, 4]), .real([3, 4]), .real([3])]).failures() == [])
        #expect(P("no bias", Linear(), [.real([2, 3, 4]), .real([6, 4]), .none]).failures() == [])
        #expect(P("vector", Linear(), [.real([4]), .real([6, 4]), .real([6])]).failures() == [])
        for transposeX in [false, true] {
            for transposeY in [false, true] {
                let op = MatMul(transposeX: transposeX, transposeY: transposeY)
                let (x, y) = (transposeX ? [4, 3] : [3, 4], transposeY ? [5, 4] : [4, 5])
                #expect(P("", op, [.real(x), .real(y)]).failures() == [])
                #expect(P("stacks", op, [.real([2, 1] + x), .real([3] + y)]).failures() == [])
                #expect(P("row", op, [.real([4]), .real([2] + y)]).failures() == [])
                #expect(P("column", op, [.real([2] + x), .real([4])]).failures() == [])
            }
        }
        #expect(P("vectors", MatMul(), [.real([4]), .real([4])]).failures() == [])
        #expect(P("", Einsum("abc,acd->abd"), [.real([2, 3, 4]), .real([2, 4, 5])]).failures() == [])
        #expect(P("", Einsum("nchw,nwhu->nchu"), [.real([2, 3, 4, 5]), .real([2, 5, 4, 3])]).failures() == [])
        #expect(P("sum", Einsum("abc->b"), [.real([2, 3, 4])]).failures() == [])
    }

    @Test func normalizations() {
        #expect(
            P(
                "",
                BatchNorm(epsilon: 1e-3),
                [.real([2, 3, 4, 5]), .real([3]), .real([3], in: 0.5...2), .real([3]), .real([3])]
            ).failures() == []
        )
        #expect(
            P("plain", BatchNorm(), [.real([4, 3]), .real([3]), .real([3], in: 0.5...2), .none, .none]).failures()
                == []
        )
        #expect(P("", InstanceNorm(epsilon: 1e-3), [.real([2, 3, 4, 5]), .real([3]), .real([3])]).failures() == [])
        for axes: [Int]? in [[-1], [1, 2], [0], nil] {
            let shape = (axes ?? [0, 1, 2]).map { [2, 3, 4][($0 + 3) % 3] }
            let op = LayerNorm(axes: axes, epsilon: 1e-3)
            #expect(P("", op, [.real([2, 3, 4]), .real(shape), .real(shape)]).failures() == [])
        }
        #expect(P("", L2Norm(epsilon: 1e-3), [.real([2, 3, 4, 5])]).failures() == [])
        for size in [1, 2, 3, 5] {
            let op = LocalResponseNorm(size: size, alpha: 0.5, beta: 0.75, k: 1.5)
            #expect(P("\(size)", op, [.real([2, 5, 3, 2])]).failures() == [])
        }
    }
}
