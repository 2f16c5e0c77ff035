import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct GatherAlongAxisTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .int8]

    private static let indexTypes: [ScalarType] = [.int32, .int16, .uint8]

    private static func tensor(_ values: [Float], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            GatherAlongAxis(axis: 1),
            [counting([2, 3]), Tensor([2, 0, 1, 1] as [Int32], shape: [2, 2])],
            expected: [tensor([2, 0, 4, 4], [2, 2])]
        ),
        OperatorProblem(
            "",
            GatherAlongAxis(axis: 0),
            [counting([2, 3]), Tensor([1, 0, 1] as [Int32], shape: [1, 3])],
            expected: [tensor([3, 1, 5], [1, 3])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

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
                #expect(OperatorProblem("", GatherAlongAxis(axis: axis), [x, indices], tolerance: 0).failures() == [])
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([2, 3]), OperatorTrial.floats([2, 0, 1, 1], [2, 2])],
            expected: [OperatorTrial.floats([2, 0, 4, 4], [2, 2])]
        ) { $0.gatherAlongAxis.axis = 1 }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem(
                "",
                GatherAlongAxis(axis: 1),
                x + [.fixed(Tensor((0..<16).map { Int32($0 % 3) }, shape: [2, 2, 4]))]
            )
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
