import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct CropTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Crop(top: 1, bottom: 0, left: 2, right: 1),
            [x],
            expected: [picked(x, [2, 3, 3, 2]) { [$0[0], $0[1], $0[2] + 1, $0[3] + 2] }]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let image: [GradientProblem.Operand] = [.real([1, 4, 4, 6])]
        let problems = [
            GradientProblem("", Crop(top: 1, bottom: 0, left: 1, right: 2), image)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
