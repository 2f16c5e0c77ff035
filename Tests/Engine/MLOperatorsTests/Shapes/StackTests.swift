import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct StackTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Stack(axis: 1),
            [counting([2, 2]), counting([2, 2])],
            expected: [Tensor([0, 1, 0, 1, 2, 3, 2, 3] as [Float], shape: [2, 2, 2])]
        ),
        OperatorProblem(
            "",
            Stack(axis: -1),
            [counting([2]), counting([2])],
            expected: [Tensor([0, 0, 1, 1] as [Float], shape: [2, 2])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3]), counting([2, 3])], as: Stack(axis: 1)) { $0.stack.axis = 1 }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let problems = [
            GradientProblem("", Stack(axis: 1), [.real([2, 3]), .real([2, 3])])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
