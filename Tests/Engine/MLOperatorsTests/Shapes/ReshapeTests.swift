import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ReshapeTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem("0 and -1", Reshape(), [x, ints([0, -1, 5])], expected: [x.reshaped([3, 8, 5])]),
        OperatorProblem("keep", Reshape(), [x, ints([0, 0, 20, 1])], expected: [x.reshaped([2, 3, 20, 1])]),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test(arguments: [[4, -1], [-1, -1]]) func contradictions(shape: [Int]) {
        let x = Operands.Operand(type: ValueType(.float32, [2, 3]))
        let extents = Operands.Operand(type: ValueType(.int32, [2]), constant: ints(shape))
        #expect(throws: ModelError.self) { try Reshape().resultTypes(of: Operands([x, extents])) }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3, 4])], expected: [counting([6, 4])]) { $0.reshapeStatic.targetShape = [6, -1] },
        LayerProblem([counting([2, 3, 4]), OperatorTrial.floats([4, -1])], expected: [counting([4, 6])]) {
            $0.reshapeDynamic = .init()
        },
        LayerProblem([counting([2, 3, 4])], expected: [counting([2, 12, 1])]) {
            $0.rankPreservingReshape.targetShape = [0, -1, 1]
        },
        LayerProblem([counting([1, 2, 3, 4])], expected: [counting([1, 4, 3, 2])]) {
            $0.reshape.targetShape = [4, 3, 2]
        },
        LayerProblem([counting([1, 2, 3, 4])], expected: [counting([1, 24, 1, 1])]) { $0.flatten.mode = .channelFirst },
        LayerProblem(
            [counting([1, 2, 1, 2])],
            expected: [OperatorTrial.floats([0, 2, 1, 3], [1, 4, 1, 1])]
        ) { $0.flatten.mode = .channelLast },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Reshape(), x + [GradientProblem.integers([4, 6])])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
