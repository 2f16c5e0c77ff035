import Glibc
import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct ChannelwiseTests {
    @Test(arguments: [[2, 3], [2, 3, 4], [2, 3, 4, 5]]) func parameters(shape: [Int]) {
        var random = RandomTensors(seed: 1)
        let x = random.tensor(shape, in: -3...3)
        let alpha = random.tensor([3])
        let beta = random.tensor([3])
        let inner = shape.dropFirst(2).reduce(1, *)
        func mapped(_ function: (Double, Int) -> Double) -> Tensor {
            let values = x.values.enumerated().map { function($1, $0 / inner % 3) }
            return Tensor(values: values, scalarType: .float32, shape: shape)
        }
        let slopes = mapped { $0 > 0 ? $0 : $0 * alpha.values[$1] }
        #expect(OperatorProblem("", PRelu(), [x, alpha], constants: [1], expected: [slopes]).failures() == [])
        let softplus = mapped { alpha.values[$1] * log(1 + exp(beta.values[$1] * $0)) }
        let problem = OperatorProblem(
            "",
            ParametricSoftplus(),
            [x, alpha, beta],
            constants: [1, 2],
            expected: [softplus]
        )
        #expect(problem.failures() == [])
    }

    @Test(arguments: [-1, 0, 1, 2, 3]) func softmax(axis: Int) {
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
}
