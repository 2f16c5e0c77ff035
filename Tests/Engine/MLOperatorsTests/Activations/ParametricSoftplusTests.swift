import Glibc
import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ParametricSoftplusTests {
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

    static let layers: [LayerProblem] = [
        LayerProblem(
            [OperatorTrial.floats([-1, 2, -3, 4], [1, 2, 1, 2])],
            as: ParametricSoftplus(),
            [
                OperatorTrial.floats([-1, 2, -3, 4], [1, 2, 1, 2]), OperatorTrial.floats([2, 3]),
                OperatorTrial.floats([0.5, 1]),
            ]
        ) {
            $0.activation.parametricSoftplus.alpha.floatValue = [2, 3]
            $0.activation.parametricSoftplus.beta.floatValue = [0.5, 1]
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: UInt64(1)...3) func gradient(seed: UInt64) {
        #expect(
            GradientProblem("", ParametricSoftplus(), [.real([2, 3, 4]), .real([3]), .real([3])], seed: seed).failures()
                == []
        )
    }
}
