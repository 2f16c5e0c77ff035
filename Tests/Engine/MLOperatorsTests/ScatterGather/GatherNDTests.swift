import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct GatherNDTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .int8]

    private static func tensor(_ values: [Float], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }

    private static let x = counting([2, 3, 4])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            GatherND(),
            [x, Tensor([1, 2, 0, -1] as [Int32], shape: [2, 2])],
            constants: [1],
            expected: [picked(x, [2, 4]) { [[1, 0][$0[0]], 2, $0[1]] }]
        ),
        OperatorProblem(
            "batch",
            GatherND(batchDimensions: 1),
            [counting([2, 3]), Tensor([2, 0] as [Int32], shape: [2, 1])],
            constants: [1],
            expected: [tensor([2, 3], [2])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func kernels() {
        var random = RandomTensors(seed: 13)
        for type in Self.types {
            for (shape, batch, length, items) in [
                ([30, 40, 25], 0, 1, [700]), ([30, 40, 25], 0, 2, [60, 9]), ([30, 40, 25], 0, 3, [9000]),
                ([30, 40, 25], 1, 1, [30, 25]), ([30, 40, 25], 1, 2, [30, 300]),
            ] {
                let problem = OperatorProblem(
                    "batch \(batch) length \(length)",
                    GatherND(batchDimensions: batch),
                    [
                        random.tensor(shape, type, in: -50...50),
                        random.tensor(items + [length], .int32, in: -45...45),
                    ],
                    constants: [1],
                    tolerance: 0
                )
                #expect(problem.failures() == [])
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([2, 3]), OperatorTrial.floats([1, 2, 0, 1], [2, 2])],
            expected: [OperatorTrial.floats([5, 1])]
        ) { $0.gatherNd = .init() }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", GatherND(), x + [.fixed(Tensor([0, 1, 1, 2, 0, 1] as [Int32], shape: [3, 2]))])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
