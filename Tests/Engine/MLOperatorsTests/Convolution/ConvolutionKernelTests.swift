import MLNumerics
import MLOperators
import Testing
import TestSupport

@Suite struct ConvolutionKernelTests {
    struct Problem: Sendable {
        var name: String
        var x: [Int]
        var weight: [Int]
        var op: Convolution
        var result: [Int]
        var hasResidual = false
        var constants: Set<Int> = [1, 2]
    }

    static let problems: [Problem] = [
        Problem(
            name: "1-D",
            x: [2, 5, 9],
            weight: [7, 5, 3],
            op: .init(strides: [2], padding: .same),
            result: [2, 7, 5]
        ),
        Problem(
            name: "dense",
            x: [2, 17, 9, 8],
            weight: [35, 17, 3, 3],
            op: .init(strides: [1, 1], padding: .same, activation: .relu),
            result: [2, 35, 9, 8],
            hasResidual: true
        ),
        Problem(
            name: "pointwise",
            x: [1, 24, 5, 7],
            weight: [40, 24, 1, 1],
            op: .init(strides: [1, 1], activation: .silu),
            result: [1, 40, 5, 7]
        ),
        Problem(
            name: "stem",
            x: [1, 3, 15, 15],
            weight: [16, 3, 7, 7],
            op: .init(strides: [2, 2], padding: .custom(before: [3, 3], after: [3, 3])),
            result: [1, 16, 8, 8]
        ),
        Problem(
            name: "depthwise",
            x: [1, 19, 8, 9],
            weight: [19, 1, 3, 3],
            op: .init(strides: [2, 1], padding: .same, groups: 19, activation: .clip(low: 0, high: 6)),
            result: [1, 19, 4, 9]
        ),
        Problem(
            name: "grouped and dilated",
            x: [1, 12, 9, 9],
            weight: [8, 3, 3, 2],
            op: .init(
                strides: [1, 2],
                padding: .custom(before: [2, 1], after: [0, 2]),
                dilations: [2, 3],
                groups: 4
            ),
            result: [1, 8, 7, 5]
        ),
        Problem(
            name: "3-D",
            x: [1, 4, 5, 6, 4],
            weight: [6, 4, 2, 3, 2],
            op: .init(strides: [1, 2, 1], padding: .same),
            result: [1, 6, 5, 3, 4]
        ),
        Problem(
            name: "weight at run time",
            x: [2, 3, 6, 5],
            weight: [4, 3, 3, 3],
            op: .init(strides: [1, 1], padding: .same),
            result: [2, 4, 6, 5],
            hasResidual: true,
            constants: []
        ),
    ]

    @Test(arguments: problems) func agreesWithThePlainEvaluation(problem: Problem) {
        var random = RandomTensors(seed: 7)
        let operands: [Tensor?] = [
            random.tensor(problem.x), random.tensor(problem.weight), random.tensor([problem.weight[0]]),
            problem.hasResidual ? random.tensor(problem.result) : nil,
        ]
        let trial = OperatorProblem(
            problem.name,
            problem.op,
            operands,
            constants: problem.constants,
            tolerance: 1e-4,
            seed: 7
        )
        #expect(trial.failures() == [])
    }

    static let transposed: [Problem] = [
        Problem(name: "1-D", x: [1, 4, 5], weight: [4, 3, 4], op: .init(strides: [2]), result: []),
        Problem(
            name: "2-D",
            x: [2, 6, 4, 3],
            weight: [6, 5, 3, 3],
            op: .init(strides: [2, 2], padding: .same),
            result: []
        ),
        Problem(
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
        Problem(
            name: "depthwise",
            x: [1, 6, 4, 4],
            weight: [6, 1, 4, 4],
            op: .init(strides: [2, 2], padding: .custom(before: [1, 1], after: [1, 1]), groups: 6),
            result: []
        ),
    ]

    @Test(arguments: transposed) func transposedAgrees(problem: Problem) {
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
}
