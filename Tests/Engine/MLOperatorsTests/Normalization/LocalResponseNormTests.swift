import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct LocalResponseNormTests {
    @Test func byHand() throws {
        let x = OperatorTrial.floats([1, 2, 3, 4], [1, 4, 1, 1])
        let result = try OperatorTrial.program(
            LocalResponseNorm.self,
            [
                "x": x, "size": OperatorTrial.int(3), "alpha": OperatorTrial.float(3), "beta": OperatorTrial.float(1),
                "k": OperatorTrial.float(2),
            ]
        )[0]
        expectClose(result, [1.0 / 7, 2.0 / 16, 3.0 / 31, 4.0 / 27])
    }

    /// A tensor of rank 3 is one image: its channels are axis 0.
    @Test func ofAnImage() throws {
        let x = OperatorTrial.floats([1, -7, 5, -6, -3, -5], [1, 3, 2])
        let result = try OperatorTrial.program(LocalResponseNorm.self, ["x": x, "size": OperatorTrial.int(2)])[0]
        expectClose(result, [0.99996257, -6.98716545, 4.99531746, -5.99191284, -2.99898791, -4.99531746])
    }

    @Test func kernels() {
        var random = RandomTensors(seed: 4)
        for size in [1, 2, 3, 5, 20] {
            let op = LocalResponseNorm(size: size, alpha: 0.5, beta: 0.75, k: 2)
            let problem = OperatorProblem("neighbours", op, [random.tensor([2, 7, 3, 4])], tolerance: 1e-4)
            #expect(problem.failures() == [])
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([1, 5, 2, 2])],
            as: LocalResponseNorm(size: 3, alpha: 0.5, beta: 0.75, k: 2),
            tolerance: 1e-4
        ) {
            $0.lrn.localSize = 3
            $0.lrn.alpha = 0.5
            $0.lrn.beta = 0.75
            $0.lrn.k = 2
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        for size in [1, 2, 3, 5] {
            let op = LocalResponseNorm(size: size, alpha: 0.5, beta: 0.75, k: 1.5)
            #expect(GradientProblem("\(size)", op, [.real([2, 5, 3, 2])]).failures() == [])
        }
    }
}
