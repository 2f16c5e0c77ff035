import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ScatterAlongAxisTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .int8]

    private static let indexTypes: [ScalarType] = [.int32, .int16, .uint8]

    private static func tensor(_ values: [Float], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            ScatterAlongAxis(axis: 1, mode: .sub),
            [counting([2, 2]), Tensor([0, 1] as [Int32], shape: [2, 1]), tensor([5, 5], [2, 1])],
            expected: [tensor([-5, 1, 2, -2], [2, 2])]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test(arguments: [ScatterMode.add, .sub, .mul, .div, .max, .min])
    func modes(mode: ScatterMode) {
        var random = RandomTensors(seed: 12)
        for type in [ScalarType.float32, .int32] {
            let x = random.tensor([40, 30, 33], type, in: -9...9)
            let updates = random.tensor([40, 7, 33], type, in: type == .int32 ? 1...4 : 0.5...2)
            let indices = random.tensor([40, 7, 33], .int32, in: -30...29)
            let along = OperatorProblem(
                "along axis",
                ScatterAlongAxis(axis: 1, mode: mode),
                [x, indices, updates],
                tolerance: 1e-4
            )
            #expect(along.failures() == [])
        }
    }

    /// Large enough for several workers; indices also outside and from the end.
    @Test(arguments: [([40, 60, 20], 2), ([50, 64, 3], 0), ([50, 64, 3], -2), ([2000], 0), ([3, 5, 40, 41], 3)])
    func kernels(shape: [Int], axis: Int) {
        var random = RandomTensors(seed: 11)
        let place = axis < 0 ? axis + shape.count : axis
        var taken = shape
        taken[place] = shape[place] / 2 + 3
        for type in Self.types {
            for indexType in Self.indexTypes {
                let reach = Double(shape[place] + 4)
                let indices = random.tensor(taken, indexType, in: indexType == .uint8 ? 0...100 : -reach...reach)
                let x = random.tensor(shape, type, in: -50...50)
                let update = OperatorProblem(
                    "update",
                    ScatterAlongAxis(axis: axis, mode: .update),
                    [x, indices, random.tensor(taken, type, in: -50...50)],
                    tolerance: 0
                )
                #expect(update.failures() == [])
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([2, 2]), OperatorTrial.floats([0, 1], [2, 1]), OperatorTrial.floats([5, 5], [2, 1])],
            expected: [OperatorTrial.floats([-5, 1, 2, -2], [2, 2])]
        ) {
            $0.scatterAlongAxis.axis = 1
            $0.scatterAlongAxis.mode = .scatterSub
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
