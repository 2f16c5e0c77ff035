import MLGraph
import MLNumerics
import MLOperators
import Testing
import TestSupport

@Suite struct LinearKernelTests {
    @Test(arguments: [[19], [1, 19], [3, 19], [2, 9, 19]], [Set([1, 2]), []])
    func linear(shape: [Int], constants: Set<Int>) {
        var random = RandomTensors(seed: 3)
        let operands: [Tensor?] = [
            random.tensor(shape), random.tensor([37, 19]), random.tensor([37]), random.tensor(shape.dropLast() + [37]),
        ]
        let full = OperatorProblem(
            "all",
            Linear(activation: .geluErf),
            operands,
            constants: constants,
            tolerance: 1e-4,
            seed: 3
        )
        #expect(full.failures() == [])
        let bare = OperatorProblem(
            "bare",
            Linear(),
            Array(operands.prefix(2)),
            constants: constants.intersection([1]),
            tolerance: 1e-4
        )
        #expect(bare.failures() == [])
    }

    @Test(arguments: MatMulTests.problems, [Set<Int>(), [1]]) func matMul(
        problem: MatMulTests.Problem,
        constants: Set<Int>
    ) {
        var random = RandomTensors(seed: 4)
        let trial = OperatorProblem(
            "product",
            MatMul(transposeX: problem.transposes.0, transposeY: problem.transposes.1),
            [random.tensor(problem.x), random.tensor(problem.y)],
            constants: constants,
            tolerance: 1e-4,
            seed: 4
        )
        #expect(trial.failures() == [])
    }

    static let equations: [(String, [Int], [Int])] = [
        ("nchw,nwhu->nchu", [2, 3, 5, 4], [2, 4, 5, 6]), ("nchw,nwhu->nchu", [2, 3, 1, 4], [1, 4, 5, 6]),
        ("chw,whr->chr", [3, 5, 4], [4, 5, 2]), ("bhid,bhjd->bhij", [2, 3, 4, 5], [2, 3, 6, 5]), ("i,j->ij", [3], [4]),
        ("ij,ij->", [3, 4], [3, 4]), ("ij,jk->k", [3, 4], [4, 2]),
    ]

    @Test(arguments: equations) func einsum(equation: String, x: [Int], y: [Int]) {
        var random = RandomTensors(seed: 5)
        let trial = OperatorProblem(
            equation,
            Einsum(equation),
            [random.tensor(x), random.tensor(y)],
            tolerance: 1e-4,
            seed: 5
        )
        #expect(trial.failures() == [])
    }
}
