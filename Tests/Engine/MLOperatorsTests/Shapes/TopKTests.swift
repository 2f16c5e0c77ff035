import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct TopKTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "ties",
            TopK(count: 2),
            [Tensor([1, 5, 5, 2] as [Float], shape: [1, 4])],
            expected: [Tensor([5, 5] as [Float], shape: [1, 2]), Tensor([1, 2] as [Int32], shape: [1, 2])]
        ),
        OperatorProblem(
            "the lowest of columns",
            TopK(count: 1, axis: 0, isAscending: true),
            [Tensor([3, 1, 2, 4] as [Float], shape: [2, 2])],
            expected: [Tensor([2, 1] as [Float], shape: [1, 2]), Tensor([1, 0] as [Int32], shape: [1, 2])]
        ),
        OperatorProblem(
            "all elements",
            TopK(count: -1, axis: 1),
            [Tensor([1, 3, 2] as [Int32], shape: [1, 3])],
            expected: [Tensor([3, 2, 1] as [Int32], shape: [1, 3]), Tensor([1, 2, 0] as [Int32], shape: [1, 3])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    /// Many elements are equal; k is 1, 5, half of them and all.
    @Test(arguments: [[7, 300], [300, 7], [5, 40, 6], [6000], [2, 5000], [1]])
    func tiesKeepTheirOrder(shape: [Int]) {
        var random = RandomTensors(seed: 31)
        for type in [ScalarType.float32, .int32, .float16] {
            // Coarse numbers repeat; zeros have both signs.
            let numbers = random.tensor(shape, .float32, in: -40...40).values.map { $0.rounded() * 0.5 }
            let values = numbers.enumerated().map { $1 == 0 && $0 % 2 == 0 ? -0.0 : $1 }
            let x = Tensor(values: values, scalarType: type, shape: shape)
            for axis in shape.indices {
                for isAscending in [false, true] {
                    for count in Set([1, Swift.min(5, shape[axis]), shape[axis] / 2, -1]) {
                        for givesIndices in [false, true] {
                            let best = OperatorProblem(
                                "",
                                TopK(
                                    count: count,
                                    axis: axis,
                                    isAscending: isAscending,
                                    givesIndices: givesIndices
                                ),
                                [x],
                                tolerance: 0
                            )
                            #expect(best.failures() == [])
                        }
                    }
                }
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([OperatorTrial.floats([1, 5, 3, 2], [1, 4])], as: TopK(count: 2)) {
            $0.topK.axis = -1
            $0.topK.k = 2
        },
        LayerProblem(
            [OperatorTrial.floats([1, 5, 3, 2], [1, 4]), OperatorTrial.floats([3])],
            as: TopK(count: 3, axis: 1, isAscending: true),
            [OperatorTrial.floats([1, 5, 3, 2], [1, 4])]
        ) {
            $0.topK.axis = 1
            $0.topK.useBottomK = true
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
