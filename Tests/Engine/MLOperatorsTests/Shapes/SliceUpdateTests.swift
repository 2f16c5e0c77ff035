import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct SliceUpdateTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "update",
            SliceUpdate(SliceByIndexTests.rule(squeeze: [true, false])),
            [counting([2, 3]), Tensor([7, 8] as [Float], shape: [2]), ints([1, 1]), ints([2, 3])],
            constants: [2, 3],
            expected: [Tensor([0, 1, 2, 3, 7, 8] as [Float], shape: [2, 3])]
        ),
        OperatorProblem(
            "update at places known while running",
            SliceUpdate(),
            [counting([3, 4]), Tensor([7, 8, 9, 6] as [Float], shape: [2, 2]), ints([1, -3]), ints([3, 3])],
            expected: [Tensor([0, 1, 2, 3, 4, 7, 8, 7, 8, 9, 6, 11] as [Float], shape: [3, 4])]
        ),
        OperatorProblem(
            "update backwards",
            SliceUpdate(SliceByIndexTests.rule([-1, 2])),
            [counting([2, 4]), Tensor([5, 6, 7, 8] as [Float], shape: [2, 2]), ints([-1, 1]), ints([-3, 4])],
            expected: [Tensor([0, 7, 2, 8, 4, 5, 6, 6] as [Float], shape: [2, 4])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }
}
