import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct IdentityTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem("", Identity(), [x], expected: [x])
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([], expected: [counting([1, 1, 2, 1, 3])]) {
            $0.loadConstant.shape = [2, 1, 3]
            $0.loadConstant.data.floatValue = [0, 1, 2, 3, 4, 5]
        },
        LayerProblem([], expected: [counting([2, 3])]) {
            $0.loadConstantNd.shape = [2, 3]
            $0.loadConstantNd.data.floatValue = [0, 1, 2, 3, 4, 5]
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Identity(), x)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
