import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct NonZeroTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            NonZero(),
            [Tensor([0, 2, 3, 0] as [Float], shape: [2, 2])],
            expected: [Tensor([0, 1, 1, 0] as [Int32], shape: [2, 2])]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func everyType() throws {
        for type in [ScalarType.float32, .int32, .float16, .uint8, .bool, .int16] {
            let x = Tensor(values: [0, 2, 0, 0, 1, 3, 0, 0], scalarType: type, shape: [2, 2, 2])
            let found = try OperatorTrial.reference(NonZero(), x)
            #expect(found[0].values == [0, 0, 1, 1, 0, 0, 1, 0, 1])
        }
        let numbers = Tensor([0, .nan, -0.0, 5] as [Float], shape: [4])
        #expect(try OperatorTrial.reference(NonZero(), numbers)[0].values == [1, 3])
        #expect(try OperatorTrial.reference(NonZero(), Tensor(scalar: 3, .float32))[0].shape == [1, 0])
        #expect(try OperatorTrial.reference(NonZero(), Tensor([] as [Float], shape: [3, 0]))[0].shape == [0, 2])
    }

    static let layers: [LayerProblem] = [
        LayerProblem([OperatorTrial.floats([0, 2, 3, 0], [2, 2])], as: NonZero()) { $0.whereNonZero = .init() }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
