import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct ScatterGatherTests {
    private static let x = counting([2, 3, 4])
    private static func floats(_ values: [Float], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "rows",
            Gather(axis: 0),
            [counting([4, 3]), ints([2, 0, -1])],
            expected: [picked(counting([4, 3]), [3, 3]) { [[2, 0, 3][$0[0]], $0[1]] }]
        ),
        OperatorProblem(
            "middle",
            Gather(axis: 1),
            [x, Tensor([2, 0] as [Int32], shape: [1, 2])],
            expected: [picked(x, [2, 1, 2, 4]) { [$0[0], [2, 0][$0[2]], $0[3]] }]
        ),
        OperatorProblem(
            "scalar",
            Gather(axis: -1),
            [x, Tensor(scalar: 3, .int32)],
            expected: [picked(x, [2, 3]) { [$0[0], $0[1], 3] }]
        ),
        OperatorProblem(
            "constant index",
            Gather(axis: 0),
            [x, Tensor(scalar: 1, .int32)],
            constants: [1],
            expected: [picked(x, [3, 4]) { [1, $0[0], $0[1]] }]
        ),
        OperatorProblem(
            "constant index inside",
            Gather(axis: 1),
            [x, ints([-1])],
            constants: [1],
            expected: [picked(x, [2, 1, 4]) { [$0[0], 2, $0[2]] }]
        ),
        OperatorProblem(
            "table",
            Gather(axis: 0),
            [counting([5, 2]), ints([4, 1])],
            constants: [0],
            expected: [floats([8, 9, 2, 3], [2, 2])]
        ),
        OperatorProblem(
            "integers",
            Gather(axis: 0),
            [counting([5], .int32), ints([4, 1])],
            expected: [ints([4, 1])]
        ),
        OperatorProblem(
            "batch",
            Gather(axis: 1, batchDimensions: 1),
            [counting([2, 3]), Tensor([2, 0, 1, 1] as [Int32], shape: [2, 2])],
            expected: [floats([2, 0, 4, 4], [2, 2])]
        ),
        OperatorProblem(
            "",
            GatherAlongAxis(axis: 1),
            [counting([2, 3]), Tensor([2, 0, 1, 1] as [Int32], shape: [2, 2])],
            expected: [floats([2, 0, 4, 4], [2, 2])]
        ),
        OperatorProblem(
            "",
            GatherAlongAxis(axis: 0),
            [counting([2, 3]), Tensor([1, 0, 1] as [Int32], shape: [1, 3])],
            expected: [floats([3, 1, 5], [1, 3])]
        ),
        OperatorProblem(
            "",
            GatherND(),
            [x, Tensor([1, 2, 0, -1] as [Int32], shape: [2, 2])],
            constants: [1],
            expected: [picked(x, [2, 4]) { [[1, 0][$0[0]], 2, $0[1]] }]
        ),
        OperatorProblem(
            "batch",
            GatherND(batchDimensions: 1),
            [counting([2, 3]), Tensor([2, 0] as [Int32], shape: [2, 1])],
            constants: [1],
            expected: [floats([2, 3], [2])]
        ),
        OperatorProblem(
            "",
            Scatter(axis: 0, mode: .add),
            [floats([1, 2, 3, 4, 5, 6], [2, 3]), ints([1, 0]), floats([5, 6, 7, 8, 9, 10], [2, 3])],
            expected: [floats([9, 11, 13, 9, 11, 13], [2, 3])]
        ),
        OperatorProblem(
            "",
            Scatter(axis: 1, mode: .update),
            [counting([2, 3]), ints([-1]), floats([7, 8], [2, 1])],
            expected: [floats([0, 1, 7, 3, 4, 8], [2, 3])]
        ),
        OperatorProblem(
            "",
            Scatter(axis: 0, mode: .max),
            [ints([1, 5]), ints([0, 1]), ints([3, 3])],
            expected: [ints([3, 5])]
        ),
        OperatorProblem(
            "",
            ScatterAlongAxis(axis: 1, mode: .sub),
            [counting([2, 2]), Tensor([0, 1] as [Int32], shape: [2, 1]), floats([5, 5], [2, 1])],
            expected: [floats([-5, 1, 2, -2], [2, 2])]
        ),
        OperatorProblem(
            "",
            ScatterND(mode: .mul),
            [counting([2, 3]), Tensor([0, 1, 1, 2] as [Int32], shape: [2, 2]), floats([10, 20], [2])],
            constants: [1],
            expected: [floats([0, 10, 2, 3, 4, 100], [2, 3])]
        ),
        OperatorProblem(
            "rows",
            ScatterND(mode: .update),
            [counting([3, 2]), Tensor([2] as [Int32], shape: [1, 1]), floats([8, 9], [1, 2])],
            constants: [1],
            expected: [floats([0, 1, 2, 3, 8, 9], [3, 2])]
        ),
        OperatorProblem(
            "indices outside join nothing",
            Scatter(axis: 1, mode: .add, leavesOutOutside: true),
            [counting([2, 3]), ints([-1, 1, 3]), floats([9, 10, 9, 9, 20, 9], [2, 3])],
            constants: [1],
            expected: [floats([0, 11, 2, 3, 24, 5], [2, 3])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func indicesOutside() throws {
        let strict = Gather(axis: 0, indexRule: IndexRule(isValidated: true))
        #expect(throws: ModelError.self) { try OperatorTrial.reference(strict, counting([3]), ints([3])) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(strict, counting([3]), ints([-1])) }
        #expect(try OperatorTrial.reference(Gather(axis: 0), counting([3]), ints([99, -99]))[0].values == [2, 0])
    }

    @Test func halfTables() throws {
        let table = counting([5, 2]).converted(to: .float16)
        let problem = OperatorProblem(
            "",
            Gather(axis: 0).widened,
            [table, ints([4, 1])],
            constants: [0],
            expected: [Self.floats([8, 9, 2, 3], [2, 2])]
        )
        #expect(problem.failures() == [])
    }
}
