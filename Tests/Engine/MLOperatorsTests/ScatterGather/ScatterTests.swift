import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ScatterTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .int8]

    private static let indexTypes: [ScalarType] = [.int32, .int16, .uint8]

    private static func tensor(_ values: [Float], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Scatter(axis: 0, mode: .add),
            [tensor([1, 2, 3, 4, 5, 6], [2, 3]), ints([1, 0]), tensor([5, 6, 7, 8, 9, 10], [2, 3])],
            expected: [tensor([9, 11, 13, 9, 11, 13], [2, 3])]
        ),
        OperatorProblem(
            "",
            Scatter(axis: 1, mode: .update),
            [counting([2, 3]), ints([-1]), tensor([7, 8], [2, 1])],
            expected: [tensor([0, 1, 7, 3, 4, 8], [2, 3])]
        ),
        OperatorProblem(
            "",
            Scatter(axis: 0, mode: .max),
            [ints([1, 5]), ints([0, 1]), ints([3, 3])],
            expected: [ints([3, 5])]
        ),
        OperatorProblem(
            "indices outside join nothing",
            Scatter(axis: 1, mode: .add, leavesOutOutside: true),
            [counting([2, 3]), ints([-1, 1, 3]), tensor([9, 10, 9, 9, 20, 9], [2, 3])],
            constants: [1],
            expected: [tensor([0, 11, 2, 3, 24, 5], [2, 3])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test(arguments: [ScatterMode.add, .sub, .mul, .div, .max, .min])
    func modes(mode: ScatterMode) {
        var random = RandomTensors(seed: 12)
        for type in [ScalarType.float32, .int32] {
            let x = random.tensor([40, 30, 33], type, in: -9...9)
            let updates = random.tensor([40, 7, 33], type, in: type == .int32 ? 1...4 : 0.5...2)
            let rows = OperatorProblem(
                "rows",
                Scatter(axis: 1, mode: mode),
                [x, random.tensor([7], .int32, in: -30...29), updates],
                tolerance: 1e-4
            )
            #expect(rows.failures() == [])
        }
    }

    /// Large enough for several workers; indices also outside and from the end.
    @Test(arguments: [([30, 50, 40], 0), ([30, 50, 40], 1), ([200, 300], 1), ([40, 3, 5], 2)])
    func rows(shape: [Int], axis: Int) {
        var random = RandomTensors(seed: 14)
        for type in Self.types {
            for indexType in Self.indexTypes {
                let indices = random.tensor([37], indexType, in: indexType == .uint8 ? 0...40 : -40...40)
                let x = random.tensor(shape, type, in: -50...50)
                var taken = shape
                taken[axis] = 37
                let updates = random.tensor(taken, type, in: -50...50)
                for leavesOutOutside in [false, true] {
                    let update = OperatorProblem(
                        leavesOutOutside ? "update inside" : "update",
                        Scatter(axis: axis, mode: .update, leavesOutOutside: leavesOutOutside),
                        [x, indices, updates],
                        tolerance: 0
                    )
                    #expect(update.failures() == [])
                }
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([2, 3]), OperatorTrial.floats([1]), OperatorTrial.floats([7, 8], [2, 1])],
            expected: [OperatorTrial.floats([0, 8, 2, 3, 12, 5], [2, 3])]
        ) {
            $0.scatter.axis = 1
            $0.scatter.mode = .scatterAdd
        }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
