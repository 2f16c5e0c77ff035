import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct SplitTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Split(axis: 1, sizes: [1, 2]),
            [x],
            expected: [picked(x, [2, 1, 4, 5]) { $0 }, picked(x, [2, 2, 4, 5]) { [$0[0], $0[1] + 1, $0[2], $0[3]] }]
        ),
        OperatorProblem(
            "",
            Split(axis: -1, count: 2),
            [counting([2, 4])],
            expected: [
                Tensor([0, 1, 4, 5] as [Float], shape: [2, 2]), Tensor([2, 3, 6, 7] as [Float], shape: [2, 2]),
            ]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([1, 4, 2, 3])], as: Split(axis: 1, count: 2)) { $0.split.nOutputs = 2 },
        LayerProblem([counting([2, 5])], as: Split(axis: 1, sizes: [1, 4])) {
            $0.splitNd.axis = 1
            $0.splitNd.splitSizes = [1, 4]
        },
        LayerProblem([counting([2, 5])], as: Split(axis: 1, sizes: [3, 2])) {
            $0.splitNd.axis = 1
            $0.splitNd.numSplits = 2
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Split(axis: 1, sizes: [1, 2]), x),
            GradientProblem("", Split(axis: 2, count: 2), x),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
