import MLNumerics
import MLOperators
import Testing

@Suite struct ClassifyTests {
    @Test func namesTheLargest() throws {
        let results = try OperatorTrial.program(
            Classify.self,
            [
                "probabilities": OperatorTrial.floats([0.1, 0.7, 0.2], [1, 3]),
                "classes": Tensor(strings: ["cat", "dog", "cow"], shape: [3]),
            ]
        )
        #expect(results[0].strings == ["dog"])
        #expect(results[1].shape == [3])
    }

    @Test func integerLabels() throws {
        let op = Classify(.integers([7, 9]))
        #expect(try OperatorTrial.reference(op, OperatorTrial.floats([2, 1]))[0].values == [7])
        #expect(throws: ModelError.self) { try OperatorTrial.reference(op, OperatorTrial.floats([2, 1, 3])) }
    }
}
