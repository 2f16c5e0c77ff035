import Glibc
import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct SoftmaxTests {
    @Test(arguments: [-1, 0, 1, 2, 3]) func everyAxis(axis: Int) {
        var random = RandomTensors(seed: 2)
        let shape = [2, 3, 4, 5]
        let x = random.tensor(shape, in: -9...9)
        let place = axis < 0 ? axis + 4 : axis
        let stride = shape.rowMajorStrides[place]
        let values = x.values.enumerated().map { index, value in
            let first = index - index / stride % shape[place] * stride
            return 1 / (0..<shape[place]).reduce(0) { $0 + exp(x.values[first + $1 * stride] - value) }
        }
        let expected = Tensor(values: values, scalarType: .float32, shape: shape)
        #expect(OperatorProblem("", Softmax(axis: axis), [x], expected: [expected]).failures() == [])
    }

    static let layers: [LayerProblem] = [
        LayerProblem([OperatorTrial.noise([2, 3, 2, 2])], as: Softmax(axis: 1)) { $0.softmax = .init() },
        LayerProblem([OperatorTrial.noise([2, 3, 4])], as: Softmax(axis: 2)) { $0.softmaxNd.axis = 2 },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: UInt64(1)...3) func gradient(seed: UInt64) {
        for axis in [-1, 0, 1] {
            #expect(GradientProblem("", Softmax(axis: axis), [.real([3, 4, 2])], seed: seed).failures() == [])
        }
    }
}
