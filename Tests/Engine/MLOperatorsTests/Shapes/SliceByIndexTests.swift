import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct SliceByIndexTests {
    private static let x = counting([2, 3, 4, 5])

    static func rule(
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

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([1, 3, 4, 5])],
            expected: [picked(counting([1, 3, 4, 5]), [1, 3, 2, 5]) { [$0[0], $0[1], 1 + 2 * $0[2], $0[3]] }]
        ) {
            $0.slice.axis = .heightAxis
            $0.slice.startIndex = 1
            $0.slice.endIndex = 4
            $0.slice.stride = 2
        },
        LayerProblem([counting([3, 4])], expected: [picked(counting([3, 4]), [2, 3]) { [$0[0] + 1, $0[1]] }]) {
            $0.sliceStatic.beginIds = [1, 9]
            $0.sliceStatic.endIds = [3, 3]
            $0.sliceStatic.beginMasks = [false, true]
            $0.sliceStatic.endMasks = [false, false]
            $0.sliceStatic.strides = [1, 1]
        },
        LayerProblem(
            [counting([3, 4]), OperatorTrial.floats([1, 0])],
            expected: [picked(counting([3, 4]), [2, 2]) { [$0[0] + 1, 2 * $0[1]] }]
        ) {
            $0.sliceDynamic.endIds = [3, 4]
            $0.sliceDynamic.strides = [1, 2]
        },
        LayerProblem([counting([1, 1, 4, 5])], as: Crop(top: 1, bottom: 0, left: 2, right: 1)) {
            $0.crop.cropAmounts.borderAmounts = LayerProblem.borders([(1, 0), (2, 1)])
        },
        LayerProblem(
            [counting([1, 1, 4, 5]), counting([1, 1, 2, 3])],
            expected: [picked(counting([1, 1, 4, 5]), [1, 1, 2, 3]) { [0, 0, $0[2] + 1, $0[3] + 2] }]
        ) {
            $0.crop.offset = [1, 2]
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem(
                "",
                SliceByIndex(),
                x + [GradientProblem.integers([0, 1, 1]), GradientProblem.integers([2, 3, 4])]
            )
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
