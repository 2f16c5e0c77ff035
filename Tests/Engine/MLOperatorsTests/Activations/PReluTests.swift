import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct PReluTests {
    @Test(arguments: [[2, 3], [2, 3, 4], [2, 3, 4, 5]]) func parameters(shape: [Int]) {
        var random = RandomTensors(seed: 1)
        let x = random.tensor(shape, in: -3...3)
        let alpha = random.tensor([3])
        let inner = shape.dropFirst(2).reduce(1, *)
        func mapped(_ function: (Double, Int) -> Double) -> Tensor {
            let values = x.values.enumerated().map { function($1, $0 / inner % 3) }
            return Tensor(values: values, scalarType: .float32, shape: shape)
        }
        let slopes = mapped { $0 > 0 ? $0 : $0 * alpha.values[$1] }
        #expect(OperatorProblem("", PRelu(), [x, alpha], constants: [1], expected: [slopes]).failures() == [])
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [OperatorTrial.floats([-1, 2, -3, 4], [1, 2, 1, 2])],
            expected: [OperatorTrial.floats([-2, 2, -9, 4], [1, 2, 1, 2])]
        ) { $0.activation.preLu.alpha.floatValue = [2, 3] }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: UInt64(1)...3) func gradient(seed: UInt64) {
        #expect(GradientProblem("", PRelu(), [.real([2, 3, 4]), .real([3])], seed: seed).failures() == [])
    }
}
