import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct L2NormTests {
    @Test func byHand() throws {
        let x = OperatorTrial.floats([3, 0, 4, 0, 0, 5, 0, 12], [2, 1, 2, 2])
        expectClose(
            try OperatorTrial.program(L2Norm.self, ["x": x])[0],
            [0.6, 0, 0.8, 0, 0, 5.0 / 13, 0, 12.0 / 13]
        )
    }

    @Test func contradictionsAreErrors() {
        let two = OperatorTrial.noise([2])
        #expect(throws: ModelError.self) { try OperatorTrial.reference(L2Norm(), two) }
    }

    @Test func kernels() {
        var random = RandomTensors(seed: 4)
        let l2 = OperatorProblem("l2", L2Norm(epsilon: 0.01), [random.tensor([2, 3, 4, 5])], tolerance: 1e-4)
        #expect(l2.failures() == [])
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([1, 2, 2, 3])], as: L2Norm(epsilon: 0.1)) { $0.l2Normalize.epsilon = 0.1 }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        #expect(GradientProblem("", L2Norm(epsilon: 1e-3), [.real([2, 3, 4, 5])]).failures() == [])
    }
}
