import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct SliceBySizeTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            SliceBySize(),
            [x, ints([0, -2, 1, 0]), ints([2, 1, -1, 5])],
            expected: [picked(x, [2, 1, 3, 5]) { [$0[0], 1, $0[2] + 1, $0[3]] }]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([3, 4]), OperatorTrial.floats([1])],
            expected: [picked(counting([3, 4]), [3, 2]) { [$0[0], $0[1] + 1] }]
        ) {
            $0.sliceBySize.axis = 1
            $0.sliceBySize.size = 2
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem(
                "",
                SliceBySize(),
                x + [GradientProblem.integers([0, 1, 1]), GradientProblem.integers([2, -1, 2])]
            )
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
