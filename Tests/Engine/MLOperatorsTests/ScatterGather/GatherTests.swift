import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct GatherTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .int8]

    private static let indexTypes: [ScalarType] = [.int32, .int16, .uint8]

    private static func tensor(_ values: [Float], _ shape: [Int]) -> Tensor { Tensor(values, shape: shape) }

    private static let x = counting([2, 3, 4])

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "rows",
            Gather(axis: 0),
            [counting([4, 3]), ints([2, 0, -1])],
            expected: [picked(counting([4, 3]), [3, 3]) { [[2, 0, 3][$0[0]], $0[1]] }]
        ),
        OperatorProblem(
            "middle",
            Gather(axis: 1),
            [x, Tensor([2, 0] as [Int32], shape: [1, 2])],
            expected: [picked(x, [2, 1, 2, 4]) { [$0[0], [2, 0][$0[2]], $0[3]] }]
        ),
        OperatorProblem(
            "scalar",
            Gather(axis: -1),
            [x, Tensor(scalar: 3, .int32)],
            expected: [picked(x, [2, 3]) { [$0[0], $0[1], 3] }]
        ),
        OperatorProblem(
            "constant index",
            Gather(axis: 0),
            [x, Tensor(scalar: 1, .int32)],
            constants: [1],
            expected: [picked(x, [3, 4]) { [1, $0[0], $0[1]] }]
        ),
        OperatorProblem(
            "constant index inside",
            Gather(axis: 1),
            [x, ints([-1])],
            constants: [1],
            expected: [picked(x, [2, 1, 4]) { [$0[0], 2, $0[2]] }]
        ),
        OperatorProblem(
            "table",
            Gather(axis: 0),
            [counting([5, 2]), ints([4, 1])],
            constants: [0],
            expected: [tensor([8, 9, 2, 3], [2, 2])]
        ),
        OperatorProblem(
            "integers",
            Gather(axis: 0),
            [counting([5], .int32), ints([4, 1])],
            expected: [ints([4, 1])]
        ),
        OperatorProblem(
            "batch",
            Gather(axis: 1, batchDimensions: 1),
            [counting([2, 3]), Tensor([2, 0, 1, 1] as [Int32], shape: [2, 2])],
            expected: [tensor([2, 0, 4, 4], [2, 2])]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func indicesOutside() throws {
        let strict = Gather(axis: 0, indexRule: IndexRule(isValidated: true))
        #expect(throws: ModelError.self) { try OperatorTrial.reference(strict, counting([3]), ints([3])) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(strict, counting([3]), ints([-1])) }
        #expect(try OperatorTrial.reference(Gather(axis: 0), counting([3]), ints([99, -99]))[0].values == [2, 0])
    }

    @Test func halfTables() throws {
        let table = counting([5, 2]).converted(to: .float16)
        let problem = OperatorProblem(
            "",
            Gather(axis: 0).widened,
            [table, ints([4, 1])],
            constants: [0],
            expected: [Self.tensor([8, 9, 2, 3], [2, 2])]
        )
        #expect(problem.failures() == [])
    }

    /// Large enough for several workers; indices also outside and from the end.
    @Test(arguments: [([30, 50, 40], 0), ([30, 50, 40], 1), ([200, 300], 1), ([40, 3, 5], 2)])
    func rows(shape: [Int], axis: Int) {
        var random = RandomTensors(seed: 14)
        for type in Self.types {
            for indexType in Self.indexTypes {
                let indices = random.tensor([37], indexType, in: indexType == .uint8 ? 0...40 : -40...40)
                let x = random.tensor(shape, type, in: -50...50)
                #expect(OperatorProblem("", Gather(axis: axis), [x, indices], tolerance: 0).failures() == [])
            }
        }
    }

    @Test func batches() {
        var random = RandomTensors(seed: 15)
        for shape in [[12, 30, 50], [4, 6, 30, 20]] {
            let axis = shape.count - 2
            let problem = OperatorProblem(
                "batches",
                Gather(axis: axis, batchDimensions: 1),
                [random.tensor(shape), random.tensor([shape[0], 41], .int32, in: -33...33)],
                tolerance: 0
            )
            #expect(problem.failures() == [])
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([4, 3]), OperatorTrial.floats([2, 0])],
            as: Gather(axis: 0),
            [counting([4, 3]), ints([2, 0])]
        ) { $0.gather.axis = 0 }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Gather(axis: 1), x + [GradientProblem.integers([2, 0, 2, 1])])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
