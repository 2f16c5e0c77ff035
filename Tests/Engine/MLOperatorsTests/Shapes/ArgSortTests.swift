import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ArgSortTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem("", ArgSort(), [Tensor([1, 3, 2] as [Float], shape: [3])], expected: [ints([1, 2, 0])]),
        OperatorProblem(
            "",
            ArgSort(axis: 0, isAscending: true),
            [Tensor([1, 3, 0, 4] as [Float], shape: [2, 2])],
            expected: [Tensor([1, 0, 0, 1] as [Int32], shape: [2, 2])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    /// Many elements are equal.
    @Test(arguments: [[7, 300], [300, 7], [5, 40, 6], [6000], [2, 5000], [1]])
    func kernels(shape: [Int]) {
        var random = RandomTensors(seed: 31)
        for type in [ScalarType.float32, .int32, .float16] {
            // Coarse numbers repeat; zeros have both signs.
            let numbers = random.tensor(shape, .float32, in: -40...40).values.map { $0.rounded() * 0.5 }
            let values = numbers.enumerated().map { $1 == 0 && $0 % 2 == 0 ? -0.0 : $1 }
            let x = Tensor(values: values, scalarType: type, shape: shape)
            for axis in shape.indices {
                for isAscending in [false, true] {
                    let order = OperatorProblem("", ArgSort(axis: axis, isAscending: isAscending), [x], tolerance: 0)
                    #expect(order.failures() == [])
                }
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([OperatorTrial.floats([1, 3, 2])], expected: [ints([1, 2, 0])]) { $0.argSort.descending = true },
        LayerProblem([OperatorTrial.floats([1, 3, 2])], expected: [ints([0, 2, 1])]) { $0.argSort.axis = 0 },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
