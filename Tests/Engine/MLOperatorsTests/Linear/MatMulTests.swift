import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct MatMulTests {
    struct Problem: Sendable {
        var x: [Int]
        var y: [Int]
        var transposes: (Bool, Bool) = (false, false)
        var result: [Int]
    }

    static let problems: [Problem] = [
        Problem(x: [4, 3], y: [3, 2], result: [4, 2]),
        Problem(x: [3], y: [3], result: []),
        Problem(x: [4], y: [5, 4, 3], result: [5, 3]),
        Problem(x: [5, 3, 4], y: [4], result: [5, 3]),
        Problem(x: [5, 4, 3], y: [2, 5, 3, 2], result: [2, 5, 4, 2]),
        Problem(x: [2, 1, 4, 3], y: [5, 3, 2], result: [2, 5, 4, 2]),
        Problem(x: [2, 3, 4], y: [2, 3, 5], transposes: (true, false), result: [2, 4, 5]),
        Problem(x: [2, 4, 3], y: [5, 3], transposes: (false, true), result: [2, 4, 5]),
        Problem(x: [3, 4], y: [5, 3], transposes: (true, true), result: [4, 5]),
    ]

    static func expected(_ problem: Problem, _ x: Tensor, _ y: Tensor) -> [Double] {
        let xShape = problem.x.count == 1 ? [1] + problem.x : problem.x
        let yShape = problem.y.count == 1 ? problem.y + [1] : problem.y
        func element(_ tensor: Tensor, _ shape: [Int], _ batch: [Int], _ row: Int, _ column: Int, _ swap: Bool)
            -> Double
        {
            let lead = shape.count - 2
            var index = 0
            for axis in 0..<lead {
                let place = batch[batch.count - lead + axis]
                index = index * shape[axis] + (shape[axis] == 1 ? 0 : place)
            }
            index = (index * shape[lead] + (swap ? column : row)) * shape[lead + 1] + (swap ? row : column)
            return tensor.values[index]
        }
        let m = problem.transposes.0 ? xShape[xShape.count - 1] : xShape[xShape.count - 2]
        let k = problem.transposes.0 ? xShape[xShape.count - 2] : xShape[xShape.count - 1]
        let n = problem.transposes.1 ? yShape[yShape.count - 2] : yShape[yShape.count - 1]
        let batch = Array(problem.result.dropLast((problem.x.count > 1 ? 1 : 0) + (problem.y.count > 1 ? 1 : 0)))
        let places = batch.reduce([[]] as [[Int]]) { list, extent in
            list.flatMap { place in (0..<extent).map { place + [$0] } }
        }
        var result: [Double] = []
        for place in places {
            for row in 0..<m {
                for column in 0..<n {
                    result.append(
                        (0..<k).reduce(0) {
                            $0 + element(x, xShape, place, row, $1, problem.transposes.0)
                                * element(y, yShape, place, $1, column, problem.transposes.1)
                        }
                    )
                }
            }
        }
        return result
    }

    @Test(arguments: problems) func followsTheDefinition(problem: Problem) throws {
        let x = OperatorTrial.noise(problem.x)
        let y = OperatorTrial.noise(problem.y, seed: 2)
        let result = try OperatorTrial.program(
            MatMul.self,
            [
                "x": x, "y": y, "transpose_x": OperatorTrial.bool(problem.transposes.0),
                "transpose_y": OperatorTrial.bool(problem.transposes.1),
            ]
        )[0]
        #expect(result.shape == problem.result)
        expectClose(result, Self.expected(problem, x, y))
    }

    @Test func takesTheTypeOfTheOperandThatIsNotConstant() throws {
        let types = try MatMul().resultTypes(
            of: Operands([
                .init(type: ValueType(.float16, [1, 2]), constant: OperatorTrial.noise([1, 2], .float16)),
                .init(type: ValueType(.float32, [2, .unknown])),
            ])
        )
        #expect(types == [ValueType(.float32, [1, .unknown])])
    }

    @Test func contradictionsAreErrors() {
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(MatMul(), OperatorTrial.noise([2, 3]), OperatorTrial.noise([2, 3]))
        }
    }

    @Test(arguments: problems, [Set<Int>(), [1]]) func kernels(
        problem: Problem,
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

    @Test func gradient() {
        for transposeX in [false, true] {
            for transposeY in [false, true] {
                let op = MatMul(transposeX: transposeX, transposeY: transposeY)
                let (x, y) = (transposeX ? [4, 3] : [3, 4], transposeY ? [5, 4] : [4, 5])
                #expect(GradientProblem("", op, [.real(x), .real(y)]).failures() == [])
                #expect(GradientProblem("stacks", op, [.real([2, 1] + x), .real([3] + y)]).failures() == [])
                #expect(GradientProblem("row", op, [.real([4]), .real([2] + y)]).failures() == [])
                #expect(GradientProblem("column", op, [.real([2] + x), .real([4])]).failures() == [])
            }
        }
        #expect(GradientProblem("vectors", MatMul(), [.real([4]), .real([4])]).failures() == [])
    }
}
