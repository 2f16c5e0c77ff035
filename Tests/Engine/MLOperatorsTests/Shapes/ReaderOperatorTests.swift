import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

/// Operators that only the readers make: regrouped axes, slices by contents, states.
@Suite struct ReaderOperatorTests {
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

    @Test func slicesByContents() throws {
        let x = OperatorTrial.floats((0..<12).map(Double.init), [3, 4])
        func slice(_ steps: [Int]?, squeeze: [Int]?) throws -> Tensor {
            try OperatorTrial.reference(
                SliceByContents(SliceRule()),
                [
                    x, OperatorTrial.integers([1, 3]), OperatorTrial.integers([3, 0]),
                    steps.map(OperatorTrial.integers),
                    nil, nil, squeeze.map(OperatorTrial.integers),
                ]
            )[0]
        }
        let backwards = try slice([1, -2], squeeze: nil)
        #expect(backwards.shape == [2, 2] && backwards.values == [7, 5, 11, 9])
        let row = try slice([1, -1], squeeze: [1, 0])
        #expect(row.shape == [3] && row.values == [7, 6, 5])
        #expect(throws: ModelError.self) { try slice([0, 1], squeeze: nil) }
    }

    @Test func statesKeepTheirType() throws {
        let state = ValueType(.float16, [2, 3], kind: .state)
        func types(_ op: some Operator, _ operands: ValueType...) throws -> [ValueType] {
            OperatorTrial.note(op)
            return try op.resultTypes(of: Operands(operands.map { Operands.Operand(type: $0) }))
        }
        #expect(try types(ReadState(), state) == [ValueType(.float16, [2, 3])])
        #expect(try types(UpdateState(), state, ValueType(.float16, [2, 3])) == [ValueType(.float16, [2, 3])])
        #expect(throws: ModelError.self) { try types(ReadState(), ValueType(.float16, [2, 3])) }
        #expect(throws: ModelError.self) { try types(UpdateState(), state, ValueType(.float32, [2, 3])) }
        #expect(throws: ModelError.self) { try types(UpdateState(), state, ValueType(.float16, [2, 4])) }
    }
}
