import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct TransposeTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Transpose([0, 2, 3, 1]),
            [x],
            expected: [picked(x, [2, 4, 5, 3]) { [$0[0], $0[3], $0[1], $0[2]] }]
        ),
        OperatorProblem(
            "",
            Transpose([-1, 0, 1, 2]),
            [x],
            expected: [picked(x, [5, 2, 3, 4]) { [$0[1], $0[2], $0[3], $0[0]] }]
        ),
        OperatorProblem(
            "",
            Transpose([1, 0]),
            [counting([3, 4], .int32)],
            expected: [picked(counting([3, 4], .int32), [4, 3]) { [$0[1], $0[0]] }]
        ),
        OperatorProblem("", Transpose([0, 1, 2]), [counting([1, 3, 4])], expected: [counting([1, 3, 4])]),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func contradictions() {
        let x = Operands.Operand(type: ValueType(.float32, [2, 3]))
        #expect(throws: ModelError.self) { try Transpose([0, 0]).resultTypes(of: Operands([x])) }
        #expect(throws: ModelError.self) { try Transpose([0]).resultTypes(of: Operands([x])) }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3, 4])], as: Transpose([2, 0, 1])) { $0.transpose.axes = [2, 0, 1] },
        LayerProblem([counting([2, 3, 4, 5])], as: Transpose([0, 3, 1, 2])) { $0.permute.axis = [0, 3, 1, 2] },
        LayerProblem([counting([2, 1, 3, 4, 5])], as: Transpose([2, 1, 0, 3, 4])) { $0.permute.axis = [1, 0, 2, 3] },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Transpose([2, 0, 1]), x)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
