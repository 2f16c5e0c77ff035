import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct BatchNormTests {
    @Test func byHand() throws {
        let result = try OperatorTrial.program(
            BatchNorm.self,
            [
                "x": OperatorTrial.floats([1, 2, 3, 4], [1, 2, 2]), "mean": OperatorTrial.floats([1, 2]),
                "variance": OperatorTrial.floats([3, 0]), "gamma": OperatorTrial.floats([2, 1]),
                "beta": OperatorTrial.floats([0, 5]), "epsilon": OperatorTrial.float(1),
            ]
        )[0]
        expectClose(result, [0, 1, 6, 7])
    }

    @Test func contradictionsAreErrors() {
        let x = OperatorTrial.noise([1, 2, 3])
        let two = OperatorTrial.noise([2])
        let three = OperatorTrial.noise([3])
        #expect(throws: ModelError.self) { try OperatorTrial.reference(BatchNorm(), x, two, three) }
    }

    @Test func kernels() {
        var random = RandomTensors(seed: 1)
        for shape in [[2, 5, 7], [2, 19, 4, 3], [1, 6, 2, 3, 4]] {
            let channels = [shape[1]]
            let operands: [Tensor?] = [
                random.tensor(shape), random.tensor(channels), random.tensor(channels, in: 0.1...2),
                random.tensor(channels), random.tensor(channels),
            ]
            let full = OperatorProblem("full", BatchNorm(), operands, constants: [1, 2, 3, 4], tolerance: 1e-3)
            #expect(full.failures() == [])
            let bare = OperatorProblem(
                "bare",
                BatchNorm(),
                Array(operands.prefix(3)),
                constants: [1, 2],
                tolerance: 1e-3
            )
            #expect(bare.failures() == [])
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([1, 2, 1, 2])],
            as: BatchNorm(epsilon: 1),
            [
                counting([1, 2, 1, 2]), OperatorTrial.floats([1, 2]), OperatorTrial.floats([3, 8]),
                OperatorTrial.floats([2, 1]), OperatorTrial.floats([0, 5]),
            ]
        ) {
            $0.batchnorm.channels = 2
            $0.batchnorm.epsilon = 1
            $0.batchnorm.mean.floatValue = [1, 2]
            $0.batchnorm.variance.floatValue = [3, 8]
            $0.batchnorm.gamma.floatValue = [2, 1]
            $0.batchnorm.beta.floatValue = [0, 5]
        },
        LayerProblem(
            [counting([2, 2, 1, 2])],
            as: InstanceNorm(epsilon: 0.1),
            [counting([2, 2, 1, 2]), OperatorTrial.floats([2, 1]), OperatorTrial.floats([0, 5])],
            tolerance: 1e-4
        ) {
            $0.batchnorm.channels = 2
            $0.batchnorm.epsilon = 0.1
            $0.batchnorm.computeMeanVar = true
            $0.batchnorm.instanceNormalization = true
            $0.batchnorm.gamma.floatValue = [2, 1]
            $0.batchnorm.beta.floatValue = [0, 5]
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        #expect(
            GradientProblem(
                "",
                BatchNorm(epsilon: 1e-3),
                [.real([2, 3, 4, 5]), .real([3]), .real([3], in: 0.5...2), .real([3]), .real([3])]
            ).failures() == []
        )
        #expect(
            GradientProblem("plain", BatchNorm(), [.real([4, 3]), .real([3]), .real([3], in: 0.5...2), .none, .none])
                .failures()
                == []
        )
    }
}
