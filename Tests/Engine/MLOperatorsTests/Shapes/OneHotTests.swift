import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct OneHotTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            OneHot(axis: -1, scalarType: .float32),
            [ints([1, 0, 5]), Tensor(scalar: 2, .int32)],
            expected: [Tensor([0, 1, 1, 0, 0, 0] as [Float], shape: [3, 2])]
        ),
        OperatorProblem(
            "",
            OneHot(axis: 0, on: 5, off: -1, scalarType: .int32),
            [ints([1, 0]), Tensor(scalar: 3, .int32)],
            expected: [Tensor([-1, 5, 5, -1, -1, -1] as [Int32], shape: [3, 2])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func kernels() {
        var random = RandomTensors(seed: 24)
        for axis in [-1, 0, 1] {
            for type in [ScalarType.float32, .int32, .bool] {
                let problem = OperatorProblem(
                    "axis \(axis)",
                    OneHot(axis: axis, on: 1, off: 0, scalarType: type),
                    [random.tensor([7, 30], .int32, in: -3...25), Tensor(scalar: 21, .int32)],
                    tolerance: 0
                )
                #expect(problem.failures() == [])
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [OperatorTrial.floats([1, 0])],
            as: OneHot(axis: -1, on: 5, off: -1, scalarType: .float32),
            [ints([1, 0]), Tensor(scalar: 3, .int32)]
        ) {
            $0.oneHot.axis = -1
            $0.oneHot.oneHotVectorSize = 3
            $0.oneHot.onValue = 5
            $0.oneHot.offValue = -1
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
