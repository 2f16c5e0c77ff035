import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ReduceArgTests {
    @Test func places() {
        let x = Tensor([3, 1, 3, 0, -1, -1] as [Float], shape: [2, 3])
        func ints(_ values: [Int32], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }
        let problems = [
            OperatorProblem(
                "",
                ReduceArg<Greatest>(axis: -1, keepsDimensions: false),
                [x],
                expected: [ints([0, 0], [2])]
            ),
            OperatorProblem(
                "",
                ReduceArg<Least>(axis: 1, keepsDimensions: true),
                [x],
                expected: [ints([1, 1], [2, 1])]
            ),
            OperatorProblem(
                "",
                ReduceArg<Least>(axis: 0, keepsDimensions: false),
                [x],
                expected: [ints([1, 1, 1], [3])]
            ),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }

    @Test func notANumber() {
        for shape in [[1, 70], [70, 1], [70, 3], [1, 40_000]] {
            let axis = shape[0] > shape[1] ? 0 : 1
            for place in [0, 5, 37, 69] {
                var values = (0..<shape[0] * shape[1]).map { Double($0 % 50) }
                values[place] = .nan
                let x = Tensor(values: values, scalarType: .float32, shape: shape)
                let problems: [any Operator] = [
                    ReduceArg<Greatest>(axis: axis, keepsDimensions: false),
                    ReduceArg<Least>(axis: axis, keepsDimensions: true),
                ]
                for op in problems { #expect(OperatorProblem("", op, [x], tolerance: 0).failures() == []) }
            }
        }
    }

    @Test func integers() {
        var random = RandomTensors(seed: 43)
        for shape in [[5, 40, 9], [3, 700, 1], [900, 2, 2]] {
            let x = random.tensor(shape, .int32, in: -20...20)
            for axis in 0..<3 {
                let greatest = ReduceArg<Greatest>(axis: axis, keepsDimensions: false)
                #expect(OperatorProblem("", greatest, [x], tolerance: 0).failures() == [])
                let least = ReduceArg<Least>(axis: axis, keepsDimensions: false)
                #expect(OperatorProblem("", least, [x], tolerance: 0).failures() == [])
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [OperatorTrial.floats([3, 1, 4, 0], [2, 2])],
            as: ReduceArg<Greatest>(axis: 1, keepsDimensions: true)
        ) {
            $0.argMax.axis = 1
        },
        LayerProblem(
            [OperatorTrial.floats([3, 1, 4, 0], [2, 2])],
            as: ReduceArg<Least>(axis: 0, keepsDimensions: false)
        ) {
            $0.argMin.axis = 0
            $0.argMin.removeDim = true
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }
}
