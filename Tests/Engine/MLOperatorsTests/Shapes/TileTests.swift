import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct TileTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Tile(),
            [counting([2, 3]), ints([2, 1])],
            expected: [Tensor([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5] as [Float], shape: [4, 3])]
        ),
        OperatorProblem(
            "",
            Tile(),
            [x, ints([1, 2, 1, 3])],
            expected: [picked(x, [2, 6, 4, 15]) { [$0[0], $0[1] % 3, $0[2], $0[3] % 5] }]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func contradictions() {
        let x = Operands.Operand(type: ValueType(.float32, [2, 3]))
        let counts = Operands.Operand(type: ValueType(.int32, [2]), constant: ints([1, -1]))
        #expect(throws: ModelError.self) { try Tile().resultTypes(of: Operands([x, counts])) }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3])], as: Tile(), [counting([2, 3]), ints([2, 1])]) { $0.tile.reps = [2, 1] },
        LayerProblem(
            [counting([2, 3]), OperatorTrial.floats([1, 3])],
            as: Tile(),
            [counting([2, 3]), ints([1, 3])]
        ) {
            $0.tile = .init()
        },
        LayerProblem([counting([2, 1, 2, 1, 1])], as: Tile(), [counting([2, 1, 2, 1, 1]), ints([3, 1, 1, 1, 1])]) {
            $0.sequenceRepeat.nRepetitions = 3
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Tile(), x + [GradientProblem.integers([2, 1, 3])])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
