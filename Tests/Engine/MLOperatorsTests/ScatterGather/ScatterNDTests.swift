import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ScatterNDTests {
    private static func tensor(_ values: [Float], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            ScatterND(mode: .mul),
            [counting([2, 3]), Tensor([0, 1, 1, 2] as [Int32], shape: [2, 2]), tensor([10, 20], [2])],
            constants: [1],
            expected: [tensor([0, 10, 2, 3, 4, 100], [2, 3])]
        ),
        OperatorProblem(
            "rows",
            ScatterND(mode: .update),
            [counting([3, 2]), Tensor([2] as [Int32], shape: [1, 1]), tensor([8, 9], [1, 2])],
            constants: [1],
            expected: [tensor([0, 1, 2, 3, 8, 9], [3, 2])]
        ),
        OperatorProblem(
            "leading indices",
            ScatterND(mode: .add, leadingIndices: [1, 0]),
            [counting([2, 2, 2, 2]), Tensor([1] as [Int32], shape: [1, 1]), tensor([20, 30], [1, 2])],
            constants: [1],
            expected: [tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 41, 12, 13, 14, 15], [2, 2, 2, 2])]
        ),
        OperatorProblem(
            "negative indices behind leading ones",
            ScatterND(mode: .update, leadingIndices: [2]),
            [counting([3, 2]), Tensor([-1] as [Int32], shape: [1, 1]), tensor([9], [1])],
            constants: [1],
            expected: [tensor([0, 1, 2, 3, 4, 9], [3, 2])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test(arguments: [ScatterMode.add, .sub, .mul, .div, .max, .min])
    func modes(mode: ScatterMode) {
        var random = RandomTensors(seed: 12)
        for type in [ScalarType.float32, .int32] {
            let x = random.tensor([40, 30, 33], type, in: -9...9)
            let slices = OperatorProblem(
                "slices",
                ScatterND(mode: mode),
                [x, random.tensor([90, 2], .int32, in: -30...29), random.tensor([90, 33], type, in: 1...3)],
                constants: [1],
                tolerance: 1e-3
            )
            #expect(slices.failures() == [])
            let elements = OperatorProblem(
                "elements",
                ScatterND(mode: mode),
                [x, random.tensor([900, 3], .int32, in: -29...29), random.tensor([900], type, in: 1...3)],
                constants: [1],
                tolerance: 1e-3
            )
            #expect(elements.failures() == [])
        }
    }

    @Test func leadingIndicesOutsideAreErrors() {
        for leading in [[2], [-1], [0, 0, 0]] {
            #expect(throws: ModelError.self) {
                try OperatorTrial.reference(
                    ScatterND(mode: .update, leadingIndices: leading),
                    counting([2, 2, 2]),
                    Tensor([0] as [Int32], shape: [1, 1]),
                    OperatorTrial.floats([1, 2], [1, 2])
                )
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([2, 3]), OperatorTrial.floats([0, 1, 1, 2], [2, 2]), OperatorTrial.floats([10, 20])],
            expected: [OperatorTrial.floats([0, 10, 2, 3, 4, 100], [2, 3])]
        ) { $0.scatterNd.mode = .scatterMul }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
