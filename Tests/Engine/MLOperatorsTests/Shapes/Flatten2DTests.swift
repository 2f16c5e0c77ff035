import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct Flatten2DTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem("", Flatten2D(axis: -1), [counting([2, 3, 2])], expected: [counting([6, 2])]),
        OperatorProblem("", Flatten2D(axis: 1), [counting([3])], expected: [counting([3, 1])]),
        OperatorProblem("", Flatten2D(axis: -1), [counting([3])], expected: [counting([1, 3])]),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3, 4])], as: Flatten2D(axis: 2)) { $0.flattenTo2D.axis = 2 }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Flatten2D(axis: 1), x)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
