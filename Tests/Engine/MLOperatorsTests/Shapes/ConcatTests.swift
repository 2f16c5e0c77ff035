import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ConcatTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            Concat(axis: 0),
            [counting([1, 2]), counting([2, 2])],
            expected: [Tensor([0, 1, 0, 1, 2, 3] as [Float], shape: [3, 2])]
        ),
        OperatorProblem(
            "",
            Concat(axis: -1),
            [counting([2, 1]), counting([2, 2])],
            expected: [Tensor([0, 0, 1, 1, 2, 3] as [Float], shape: [2, 3])]
        ),
        OperatorProblem(
            "image",
            Concat(axis: 1),
            [x, x],
            expected: [picked(x, [2, 6, 4, 5]) { [$0[0], $0[1] % 3, $0[2], $0[3]] }]
        ),
        OperatorProblem(
            "interleaved",
            Concat(axis: 1, isInterleaved: true),
            [x, x],
            expected: [picked(x, [2, 6, 4, 5]) { [$0[0], $0[1] / 2, $0[2], $0[3]] }]
        ),
        OperatorProblem(
            "scalars",
            Concat(axis: 0),
            [Tensor(scalar: 3, .int32), Tensor(scalar: 4, .int32)],
            expected: [ints([3, 4])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([1, 2, 3, 4]), counting([1, 1, 3, 4])], as: Concat(axis: 1)) { $0.concat = .init() },
        LayerProblem([counting([2, 3, 4]), counting([2, 3, 4])], as: Concat(axis: 2, isInterleaved: true)) {
            $0.concatNd.axis = -1
            $0.concatNd.interleave = true
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let problems = [
            GradientProblem("", Concat(axis: 1), [.real([2, 3, 4]), .real([2, 1, 4]), .noise([2, 2, 4])]),
            GradientProblem(
                "interleaved",
                Concat(axis: 2, isInterleaved: true),
                [.real([2, 3, 4]), .real([2, 3, 4])]
            ),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
