import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ReverseTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Reverse(axes: nil),
            [counting([2, 3])],
            expected: [Tensor([5, 4, 3, 2, 1, 0] as [Float], shape: [2, 3])]
        ),
        OperatorProblem(
            "",
            Reverse(axes: [1, -1]),
            [x],
            expected: [picked(x, [2, 3, 4, 5]) { [$0[0], 2 - $0[1], $0[2], 4 - $0[3]] }]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3])], as: Reverse(axes: [1])) { $0.reverse.reverseDim = [false, true] }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Reverse(axes: [1]), x)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
