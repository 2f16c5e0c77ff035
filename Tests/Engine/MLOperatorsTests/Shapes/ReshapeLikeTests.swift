import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ReshapeLikeTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            ReshapeLike(begins: [0, 1], ends: [2, nil]),
            [x, counting([2, 3, 9]), counting([7, 4, 5])],
            expected: [x]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3, 4]), counting([4, 6])], expected: [counting([4, 6])]) { $0.reshapeLike = .init() }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", ReshapeLike(begins: [0], ends: [nil]), x + [.noise([6, 4])])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
