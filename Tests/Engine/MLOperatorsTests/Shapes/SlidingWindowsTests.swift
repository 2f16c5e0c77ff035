import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct SlidingWindowsTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            SlidingWindows(axis: 1, size: 3, stride: 2),
            [counting([2, 7])],
            expected: [picked(counting([2, 7]), [2, 3, 3]) { [$0[0], $0[1] * 2 + $0[2]] }]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 7])], as: SlidingWindows(axis: 1, size: 3, stride: 2)) {
            $0.slidingWindows.axis = 1
            $0.slidingWindows.windowSize = 3
            $0.slidingWindows.step = 2
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", SlidingWindows(axis: 1, size: 2, stride: 1), x)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
