import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct BroadcastToTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            BroadcastTo(),
            [counting([3, 1]), ints([2, 3, 4])],
            expected: [picked(counting([3, 1]), [2, 3, 4]) { [$0[1], 0] }]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([3, 1])], as: BroadcastTo(), [counting([3, 1]), ints([2, 3, 4])]) {
            $0.broadcastToStatic.targetShape = [2, 3, 4]
        },
        LayerProblem(
            [counting([3, 1]), OperatorTrial.floats([3, 4])],
            as: BroadcastTo(),
            [counting([3, 1]), ints([3, 4])]
        ) {
            $0.broadcastToDynamic = .init()
        },
        LayerProblem([counting([3, 1]), counting([3, 4])], as: BroadcastTo(), [counting([3, 1]), ints([3, 4])]) {
            $0.broadcastToLike = .init()
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let problems = [
            GradientProblem("", BroadcastTo(), [.real([3, 1])] + [GradientProblem.integers([2, 3, 4])])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
