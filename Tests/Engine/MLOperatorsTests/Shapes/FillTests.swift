import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct FillTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Fill(value: 7, scalarType: .int32),
            [ints([2, 2])],
            expected: [Tensor([7, 7, 7, 7] as [Int32], shape: [2, 2])]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func contradictions() {
        let shape = ints([Int(Int32.max), Int(Int32.max)])
        let operands = Operands([Operands.Operand(type: ValueType(.int32, [2]), constant: shape)])
        #expect(throws: ModelError.self) { try Fill(value: 0, scalarType: .float32).resultTypes(of: operands) }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([], as: Fill(value: 7, scalarType: .float32), [ints([2, 3])]) {
            $0.fillStatic.value = 7
            $0.fillStatic.targetShape = [2, 3]
        },
        LayerProblem([OperatorTrial.floats([2, 3])], as: Fill(value: 7, scalarType: .float32), [ints([2, 3])]) {
            $0.fillDynamic.value = 7
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
