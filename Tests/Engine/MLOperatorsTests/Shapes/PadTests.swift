import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct PadTests {
    private static let x = counting([2, 3, 4, 5])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "constant",
            Pad(mode: .constant, value: 9),
            [counting([2, 2]), ints([1, 0, 0, 2])],
            expected: [Tensor([9, 9, 9, 9, 0, 1, 9, 9, 2, 3, 9, 9] as [Float], shape: [3, 4])]
        ),
        OperatorProblem(
            "reflect",
            Pad(mode: .reflect),
            [counting([1, 3]), ints([2, 1])],
            expected: [Tensor([2, 1, 0, 1, 2, 1] as [Float], shape: [1, 6])]
        ),
        OperatorProblem(
            "reflect to and fro",
            Pad(mode: .reflect),
            [counting([1, 3]), ints([5, 3])],
            expected: [Tensor([1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1] as [Float], shape: [1, 11])]
        ),
        OperatorProblem(
            "replicate",
            Pad(mode: .replicate),
            [counting([1, 3]), ints([2, 1])],
            expected: [Tensor([0, 0, 0, 1, 2, 2] as [Float], shape: [1, 6])]
        ),
        OperatorProblem(
            "reflect image",
            Pad(mode: .reflect),
            [x, ints([1, 2, 3, 1])],
            expected: [
                picked(x, [2, 3, 7, 9]) {
                    [$0[0], $0[1], [1, 0, 1, 2, 3, 2, 1][$0[2]], [3, 2, 1, 0, 1, 2, 3, 4, 3][$0[3]]]
                }
            ]
        ),
        OperatorProblem(
            "replicate image",
            Pad(mode: .replicate),
            [x, ints([1, 1, 2, 0])],
            expected: [picked(x, [2, 3, 6, 7]) { [$0[0], $0[1], min(max($0[2] - 1, 0), 3), max($0[3] - 2, 0)] }]
        ),
        OperatorProblem(
            "channels",
            Pad(mode: .constant),
            [counting([1, 2, 1, 1]), ints([1, 1, 0, 0, 0, 0])],
            expected: [Tensor([0, 0, 1, 0] as [Float], shape: [1, 4, 1, 1])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([1, 1, 2, 2])],
            as: Pad(mode: .constant, value: 9),
            [counting([1, 1, 2, 2]), ints([1, 0, 0, 2])]
        ) {
            $0.padding.constant.value = 9
            $0.padding.paddingAmounts.borderAmounts = LayerProblem.borders([(1, 0), (0, 2)])
        },
        LayerProblem(
            [counting([1, 1, 2, 3])],
            as: Pad(mode: .reflect),
            [counting([1, 1, 2, 3]), ints([1, 0, 2, 1])]
        ) {
            $0.padding.reflection = .init()
            $0.padding.paddingAmounts.borderAmounts = LayerProblem.borders([(1, 0), (2, 1)])
        },
        LayerProblem([counting([2, 2])], as: Pad(mode: .constant, value: 3), [counting([2, 2]), ints([1, 0, 0, 2])]) {
            $0.constantPad.value = 3
            $0.constantPad.padAmounts = [1, 0, 0, 2]
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Pad(mode: .constant, value: 2), x + [GradientProblem.integers([1, 0, 2, 3])]),
            GradientProblem("", Pad(mode: .reflect), x + [GradientProblem.integers([1, 2, 3, 1])]),
            GradientProblem("", Pad(mode: .replicate), x + [GradientProblem.integers([1, 2, 3, 1])]),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
