import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct RegroupTests {
    @Test func regroups() {
        var random = RandomTensors(seed: 3)
        let sequence = random.tensor([2, 3, 4, 5])
        let folded = random.tensor([6, 4, 5, 1])
        let problems = [
            OperatorProblem(
                "adds a batch",
                Regroup.insertingBatch,
                [sequence],
                expected: [sequence.reshaped([2, 1, 3, 4, 5])]
            ),
            OperatorProblem(
                "joins sequence and batch",
                Regroup.droppingBatch,
                [sequence.reshaped([2, 3, 4, 5, 1])],
                expected: [sequence.reshaped([6, 4, 5, 1])]
            ),
            OperatorProblem(
                "takes extents over",
                Regroup([.like(0), .like(1), .axis(1), .axis(2), .axis(3)]),
                [folded, random.tensor([2, 3])],
                expected: [folded.reshaped([2, 3, 4, 5, 1])]
            ),
        ]
        for problem in problems { #expect(problem.failures() == []) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(Regroup([.axis(0)]), sequence) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(Regroup([.axis(7)]), sequence) }
    }

    @Test func gradient() {
        let x: [GradientProblem.Operand] = [.real([2, 3, 4])]
        let problems = [
            GradientProblem("", Regroup([.axis(0), .merged(1..<3), .one]), x)
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
