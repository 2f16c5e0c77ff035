import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Orders with many equal elements, along every axis, of few and of all elements.
@Suite struct SortingKernelTests {
    @Test(arguments: [[7, 300], [300, 7], [5, 40, 6], [6000], [2, 5000], [1]])
    func sorting(shape: [Int]) {
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
}
