import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct SliceByContentsTests {
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
}
