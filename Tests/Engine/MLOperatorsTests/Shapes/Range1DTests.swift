import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct Range1DTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Range1D(),
            [Tensor(scalar: 1, .int32), Tensor(scalar: 8, .int32), Tensor(scalar: 3, .int32)],
            expected: [ints([1, 4, 7])]
        ),
        OperatorProblem(
            "",
            Range1D(),
            [Tensor(scalar: 1, .float32), Tensor(scalar: 0, .float32), Tensor(scalar: -0.5, .float32)],
            expected: [Tensor([1, 0.5] as [Float], shape: [2])]
        ),
        OperatorProblem(
            "",
            Range1D(),
            [Tensor(scalar: 3, .int32), Tensor(scalar: 1, .int32), Tensor(scalar: 1, .int32)],
            expected: [ints([])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([], expected: [OperatorTrial.floats([1, 4, 7])]) {
            $0.rangeStatic.startValue = 1
            $0.rangeStatic.endValue = 8
            $0.rangeStatic.stepSizeValue = 3
        },
        LayerProblem([OperatorTrial.floats([8])], expected: [OperatorTrial.floats([1, 4, 7])]) {
            $0.rangeDynamic.startValue = 1
            $0.rangeDynamic.stepSizeValue = 3
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
