import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct SlicingTests {
    private static let x = counting([2, 3, 4, 5])

    private static func rule(
        _ steps: [Int] = [],
        begin: [Bool] = [],
        end: [Bool] = [],
        squeeze: [Bool] = []
    ) -> SliceRule {
        var rule = SliceRule()
        (rule.steps, rule.beginMask, rule.endMask, rule.squeezeMask) = (steps, begin, end, squeeze)
        return rule
    }

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "plain",
            SliceByIndex(),
            [x, ints([0, 1, 0, 2]), ints([2, 3, 2, 5])],
            expected: [picked(x, [2, 2, 2, 3]) { [$0[0], $0[1] + 1, $0[2], $0[3] + 2] }]
        ),
        OperatorProblem(
            "negative",
            SliceByIndex(),
            [x, ints([0, -2, 0, -3]), ints([2, -1, 9, -1])],
            expected: [picked(x, [2, 1, 4, 2]) { [$0[0], 1, $0[2], $0[3] + 2] }]
        ),
        OperatorProblem(
            "steps",
            SliceByIndex(rule([1, 2, 1, -2])),
            [x, ints([0, 0, 0, 4]), ints([2, 3, 4, 0])],
            expected: [picked(x, [2, 2, 4, 2]) { [$0[0], $0[1] * 2, $0[2], 4 - $0[3] * 2] }]
        ),
        OperatorProblem(
            "backwards",
            SliceByIndex(rule([-1], begin: [true], end: [true])),
            [counting([4]), ints([0]), ints([0])],
            expected: [Tensor([3, 2, 1, 0] as [Float], shape: [4])]
        ),
        OperatorProblem(
            "masks",
            SliceByIndex(rule(begin: [true, false, true, true], end: [true, true, false, true])),
            [x, ints([9, 1, 9, 9]), ints([9, 9, 2, 9])],
            expected: [picked(x, [2, 2, 2, 5]) { [$0[0], $0[1] + 1, $0[2], $0[3]] }]
        ),
        OperatorProblem(
            "squeezed",
            SliceByIndex(rule(squeeze: [false, true, false, true])),
            [x, ints([0, -1, 0, 2]), ints([2, 0, 4, 0])],
            expected: [picked(x, [2, 4]) { [$0[0], 2, $0[1], 2] }]
        ),
        OperatorProblem(
            "first row",
            SliceByIndex(),
            [counting([4, 6]), ints([1, 0]), ints([2, 6])],
            expected: [picked(counting([4, 6]), [1, 6]) { [1, $0[1]] }]
        ),
        OperatorProblem("nothing", SliceByIndex(), [counting([4]), ints([3]), ints([1])], expected: [counting([0])]),
        OperatorProblem(
            "update",
            SliceUpdate(rule(squeeze: [true, false])),
            [counting([2, 3]), Tensor([7, 8] as [Float], shape: [2]), ints([1, 1]), ints([2, 3])],
            constants: [2, 3],
            expected: [Tensor([0, 1, 2, 3, 7, 8] as [Float], shape: [2, 3])]
        ),
        OperatorProblem(
            "update at places known while running",
            SliceUpdate(),
            [counting([3, 4]), Tensor([7, 8, 9, 6] as [Float], shape: [2, 2]), ints([1, -3]), ints([3, 3])],
            expected: [Tensor([0, 1, 2, 3, 4, 7, 8, 7, 8, 9, 6, 11] as [Float], shape: [3, 4])]
        ),
        OperatorProblem(
            "update backwards",
            SliceUpdate(rule([-1, 2])),
            [counting([2, 4]), Tensor([5, 6, 7, 8] as [Float], shape: [2, 2]), ints([-1, 1]), ints([-3, 4])],
            expected: [Tensor([0, 7, 2, 8, 4, 5, 6, 6] as [Float], shape: [2, 4])]
        ),
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
        OperatorProblem(
            "",
            Stack(axis: 1),
            [counting([2, 2]), counting([2, 2])],
            expected: [Tensor([0, 1, 0, 1, 2, 3, 2, 3] as [Float], shape: [2, 2, 2])]
        ),
        OperatorProblem(
            "",
            Stack(axis: -1),
            [counting([2]), counting([2])],
            expected: [Tensor([0, 0, 1, 1] as [Float], shape: [2, 2])]
        ),
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

    @Test func extentsOfUnknownAxes() throws {
        func extent(_ rule: SliceRule, _ begin: Int?, _ end: Int?) -> Dimension {
            rule.extent(0, of: .unknown, begin: begin, end: end)
        }
        #expect(extent(Self.rule(), -1, 0) == .unknown)
        #expect(extent(Self.rule(), 1, 2) == 1)
        #expect(extent(Self.rule(end: [true]), -1, nil) == 1)
        #expect(extent(Self.rule(), 0, 3) == .unknown)
        #expect(extent(Self.rule([-1], begin: [true], end: [true]), nil, nil) == .unknown)
    }
}
