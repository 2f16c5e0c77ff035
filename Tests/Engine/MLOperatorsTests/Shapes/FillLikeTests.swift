import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct FillLikeTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .uint8, .bool]

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            FillLike(value: 1.5, scalarType: .float32),
            [counting([3], .int32)],
            expected: [Tensor([1.5, 1.5, 1.5] as [Float], shape: [3])]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func kernels() {
        for type in Self.types {
            let x = Tensor(uninitialized: .float32, shape: [30, 41], zeroed: true)
            #expect(OperatorProblem("", FillLike(value: 1, scalarType: type), [x], tolerance: 0).failures() == [])
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3])], as: FillLike(value: 7, scalarType: .float32)) { $0.fillLike.value = 7 }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
