import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct ReverseSequenceTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .uint8, .bool]

    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            ReverseSequence(sequenceAxis: 1, batchAxis: 0),
            [counting([2, 3]), ints([2, 3])],
            expected: [Tensor([1, 0, 2, 5, 4, 3] as [Float], shape: [2, 3])]
        )
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    @Test func kernels() {
        var random = RandomTensors(seed: 21)
        for (shape, sequence, batch) in [
            ([6, 70, 50], 1, 0), ([70, 6, 50], 0, 1), ([5, 6, 70], 2, 0), ([70, 4, 6], 0, 2), ([9, 31], 1, 0),
        ] {
            for type in Self.types {
                let problem = OperatorProblem(
                    "",
                    ReverseSequence(sequenceAxis: sequence, batchAxis: batch),
                    [
                        random.tensor(shape, type, in: 0...90),
                        random.tensor([shape[batch]], .int32, in: -3...Double(shape[sequence] + 9)),
                    ],
                    tolerance: 0
                )
                #expect(problem.failures() == [])
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem(
            [counting([2, 3]), OperatorTrial.floats([2, 3])],
            as: ReverseSequence(sequenceAxis: 1, batchAxis: 0),
            [counting([2, 3]), ints([2, 3])]
        ) { $0.reverseSeq.sequenceAxis = 1 }
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", ReverseSequence(sequenceAxis: 1, batchAxis: 0), x + [GradientProblem.integers([2, 3])])
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
