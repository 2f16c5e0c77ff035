import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct LinearTests {
    @Test(arguments: [[3], [2, 3], [2, 2, 3]]) func everyRank(shape: [Int]) throws {
        let x = OperatorTrial.noise(shape)
        let weight = OperatorTrial.noise([4, 3], seed: 2)
        let bias = OperatorTrial.noise([4], seed: 3)
        let result = try OperatorTrial.program(Linear.self, ["x": x, "weight": weight, "bias": bias])[0]
        #expect(result.shape == shape.dropLast() + [4])
        var expected: [Double] = []
        for row in 0..<shape.elementCount / 3 {
            for n in 0..<4 {
                expected.append(
                    bias.values[n] + (0..<3).reduce(0) { $0 + x.values[row * 3 + $1] * weight.values[n * 3 + $1] }
                )
            }
        }
        expectClose(result, expected)
    }

    @Test func integersResidualAndActivation() throws {
        let whole = try OperatorTrial.reference(
            Linear(),
            Tensor([1, 2] as [Int32], shape: [2]),
            Tensor([3, 4] as [Int32], shape: [1, 2])
        )[0]
        #expect(whole.scalarType == .int32 && whole.values == [11])
        let fused = try OperatorTrial.reference(
            Linear(activation: .clip(low: 0, high: 6)),
            OperatorTrial.floats([1, 2]),
            OperatorTrial.floats([1, 1, -1, 0], [2, 2]),
            nil,
            OperatorTrial.floats([9, 0.5])
        )[0]
        #expect(fused.values == [6, 0])
    }

    @Test func contradictionsAreErrors() {
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(Linear(), OperatorTrial.noise([2, 3]), OperatorTrial.noise([4, 2]))
        }
        #expect(throws: ModelError.self) {
            try OperatorTrial.reference(
                Linear(),
                OperatorTrial.noise([2, 3]),
                OperatorTrial.noise([4, 3]),
                OperatorTrial.noise([3])
            )
        }
    }

    @Test(arguments: [[19], [1, 19], [3, 19], [2, 9, 19]], [Set([1, 2]), []])
    func kernels(shape: [Int], constants: Set<Int>) {
        var random = RandomTensors(seed: 3)
        let operands: [Tensor?] = [
            random.tensor(shape), random.tensor([37, 19]), random.tensor([37]), random.tensor(shape.dropLast() + [37]),
        ]
        let full = OperatorProblem(
            "all",
            Linear(activation: .geluErf),
            operands,
            constants: constants,
            tolerance: 1e-4,
            seed: 3
        )
        #expect(full.failures() == [])
        let bare = OperatorProblem(
            "bare",
            Linear(),
            Array(operands.prefix(2)),
            constants: constants.intersection([1]),
            tolerance: 1e-4
        )
        #expect(bare.failures() == [])
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([2, 3])],
            as: Linear(),
            [counting([2, 3]), counting([2, 3]), OperatorTrial.floats([5, 6])]
        ) {
            $0.innerProduct.inputChannels = 3
            $0.innerProduct.outputChannels = 2
            $0.innerProduct.weights.floatValue = [0, 1, 2, 3, 4, 5]
            $0.innerProduct.hasBias_p = true
            $0.innerProduct.bias.floatValue = [5, 6]
        },
        LayerProblem([counting([2, 3]), counting([3, 2])], as: MatMul()) { $0.batchedMatmul = .init() },
        LayerProblem([counting([2, 3])], as: Linear(), [counting([2, 3]), counting([2, 3])]) {
            $0.batchedMatmul.weightMatrixFirstDimension = 3
            $0.batchedMatmul.weightMatrixSecondDimension = 2
            $0.batchedMatmul.weights.floatValue = [0, 1, 2, 3, 4, 5]
        },
        LayerProblem(
            [OperatorTrial.floats([2, 0], [2, 1, 1, 1, 1])],
            expected: [OperatorTrial.floats([2, 5, 0, 3], [2, 1, 2, 1, 1])]
        ) {
            $0.embedding.inputDim = 3
            $0.embedding.outputChannels = 2
            $0.embedding.weights.floatValue = [0, 1, 2, 3, 4, 5]
        },
        LayerProblem([OperatorTrial.floats([2, 0], [2, 1])], expected: [OperatorTrial.floats([3, 7, 1, 5], [2, 2])]) {
            $0.embeddingNd.vocabSize = 3
            $0.embeddingNd.embeddingSize = 2
            $0.embeddingNd.weights.floatValue = [0, 1, 2, 3, 4, 5]
            $0.embeddingNd.hasBias_p = true
            $0.embeddingNd.bias.floatValue = [1, 2]
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        #expect(GradientProblem("", Linear(), [.real([5, 4]), .real([3, 4]), .real([3])]).failures() == [])
        #expect(GradientProblem("no bias", Linear(), [.real([2, 3, 4]), .real([6, 4]), .none]).failures() == [])
        #expect(GradientProblem("vector", Linear(), [.real([4]), .real([6, 4]), .real([6])]).failures() == [])
    }
}
