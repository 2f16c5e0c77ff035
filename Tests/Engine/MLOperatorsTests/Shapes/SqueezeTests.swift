import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct SqueezeTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem("", Squeeze(axes: [0, -2]), [counting([1, 2, 1, 3])], expected: [counting([2, 3])])
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func allAxes() throws {
        #expect(try OperatorTrial.reference(Squeeze(axes: nil), counting([1, 2, 1, 3]))[0].shape == [2, 3])
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([1, 2, 1, 3])], as: Squeeze(axes: [0])) { $0.squeeze.axes = [0] },
        LayerProblem([counting([1, 2, 1, 3])], as: Squeeze(axes: nil)) { $0.squeeze.squeezeAll = true },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let problems = [
            GradientProblem("", Squeeze(axes: [0]), [.real([1, 3, 4])])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
