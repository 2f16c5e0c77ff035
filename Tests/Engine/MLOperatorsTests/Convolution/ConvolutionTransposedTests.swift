import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct ConvolutionTransposedTests {
    struct Problem: Sendable {
        var x: [Int]
        var weight: [Int]
        var op: ConvolutionTransposed
        var result: [Int]
    }

    static let problems: [Problem] = [
        Problem(x: [1, 1, 3], weight: [1, 1, 2], op: .init(strides: [2]), result: [1, 1, 6]),
        Problem(
            x: [1, 4, 3, 4],
            weight: [4, 2, 3, 2],
            op: .init(strides: [2, 3], padding: .custom(before: [1, 0], after: [0, 1]), groups: 2),
            result: [1, 4, 6, 10]
        ),
        Problem(
            x: [2, 2, 3, 3],
            weight: [2, 3, 3, 3],
            op: .init(strides: [2, 2], padding: .same, dilations: [1, 2]),
            result: [2, 3, 6, 6]
        ),
        Problem(
            x: [1, 2, 3, 3],
            weight: [2, 1, 4, 4],
            op: .init(strides: [2, 2], padding: .custom(before: [1, 1], after: [1, 1]), outputExtents: [7, 6]),
            result: [1, 1, 7, 6]
        ),
        Problem(
            x: [1, 2, 2, 3, 2],
            weight: [2, 2, 2, 2, 2],
            op: .init(strides: [2, 1, 2]),
            result: [1, 2, 4, 4, 4]
        ),
    ]

    /// Σ y · T(x) must be Σ x · C(y), where C is the convolution with the same window.
    @Test(arguments: problems) func isTheAdjointOfAConvolution(problem: Problem) throws {
        let op = problem.op
        let x = OperatorTrial.noise(problem.x)
        let weight = OperatorTrial.noise(problem.weight, seed: 2)
        let spread = try OperatorTrial.reference(op, x, weight)[0]
        #expect(spread.shape == problem.result)
        let y = OperatorTrial.noise(problem.result, seed: 3)
        let geometry = op.geometry(problem.x, problem.weight, problem.result)
        let rank = geometry.input.count
        let after = (0..<rank).map { axis -> Int in
            let reach: Int = (geometry.output[axis] - 1) * geometry.strides[axis]
            let window: Int = (geometry.kernel[axis] - 1) * geometry.dilations[axis] + 1
            return max(reach + window - geometry.before[axis] - geometry.input[axis], 0)
        }
        let gathering = Convolution(
            strides: op.strides,
            padding: .custom(before: geometry.before, after: after),
            dilations: op.dilations,
            groups: op.groups
        )
        let gathered = try OperatorTrial.reference(gathering, y, weight)[0]
        #expect(gathered.shape == problem.x)
        let left = zip(y.values, spread.values).map { $0 * $1 }.reduce(0, +)
        let right = zip(x.values, gathered.values).map { $0 * $1 }.reduce(0, +)
        #expect(abs(left - right) < 1e-4)
    }

    @Test func spreadsOneElement() throws {
        let result = try OperatorTrial.program(
            ConvolutionTransposed.self,
            [
                "x": OperatorTrial.floats([1, 10], [1, 1, 2]), "weight": OperatorTrial.floats([1, 2, 3], [1, 1, 3]),
                "bias": OperatorTrial.floats([0.5]), "strides": OperatorTrial.integers([2]),
                "pad_type": OperatorTrial.string("valid"),
            ]
        )[0]
        #expect(result.values == [1.5, 2.5, 13.5, 20.5, 30.5])
    }

    static let kernelProblems: [ConvolutionTests.KernelProblem] = [
        ConvolutionTests.KernelProblem(
            name: "1-D",
            x: [1, 4, 5],
            weight: [4, 3, 4],
            op: .init(strides: [2]),
            result: []
        ),
        ConvolutionTests.KernelProblem(
            name: "2-D",
            x: [2, 6, 4, 3],
            weight: [6, 5, 3, 3],
            op: .init(strides: [2, 2], padding: .same),
            result: []
        ),
        ConvolutionTests.KernelProblem(
            name: "grouped",
            x: [1, 8, 4, 5],
            weight: [8, 3, 4, 3],
            op: .init(
                strides: [2, 1],
                padding: .custom(before: [1, 1], after: [1, 0]),
                dilations: [1, 2],
                groups: 2
            ),
            result: []
        ),
        ConvolutionTests.KernelProblem(
            name: "depthwise",
            x: [1, 6, 4, 4],
            weight: [6, 1, 4, 4],
            op: .init(strides: [2, 2], padding: .custom(before: [1, 1], after: [1, 1]), groups: 6),
            result: []
        ),
    ]

    @Test(arguments: kernelProblems) func agreesWithThePlainEvaluation(problem: ConvolutionTests.KernelProblem) {
        var random = RandomTensors(seed: 8)
        let op = ConvolutionTransposed(
            strides: problem.op.strides,
            padding: problem.op.padding,
            dilations: problem.op.dilations,
            groups: problem.op.groups,
            activation: .tanh
        )
        let bias = random.tensor([problem.weight[1] * problem.op.groups])
        let trial = OperatorProblem(
            problem.name,
            op,
            [random.tensor(problem.x), random.tensor(problem.weight), bias],
            constants: [1, 2],
            tolerance: 1e-4,
            seed: 8
        )
        #expect(trial.failures() == [])
    }

    @Test(arguments: UInt64(1)...2) func gradient(seed: UInt64) {
        let problems = [
            GradientProblem(
                "transposed",
                ConvolutionTransposed(strides: [2, 2]),
                [.real([2, 3, 4, 3]), .real([3, 2, 3, 3]), .real([2])]
            ),
            GradientProblem(
                "transposed with groups",
                ConvolutionTransposed(
                    strides: [2, 1],
                    padding: .custom(before: [1, 0], after: [0, 1]),
                    dilations: [1, 2],
                    groups: 2
                ),
                [.real([2, 4, 4, 5]), .real([4, 3, 3, 2]), .real([6])]
            ),
            GradientProblem(
                "transposed to an extent",
                ConvolutionTransposed(strides: [3], padding: .same, outputExtents: [11]),
                [.real([1, 2, 4]), .real([2, 3, 2]), .none]
            ),
        ]
        for var problem in problems {
            problem.seed = seed
            #expect(problem.failures() == [])
        }
    }
}
