import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ExpandDimsTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem("", ExpandDims(axes: [0, -1]), [counting([2, 3])], expected: [counting([1, 2, 3, 1])])
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func contradictions() {
        let x = Operands.Operand(type: ValueType(.float32, [2, 3]))
        #expect(throws: ModelError.self) { try ExpandDims(axes: [0, 0]).resultTypes(of: Operands([x])) }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3])], as: ExpandDims(axes: [0, -1])) { $0.expandDims.axes = [0, -1] }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", ExpandDims(axes: [0, 2]), x)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
