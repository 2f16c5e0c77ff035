import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct BatchToSpaceTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .uint8, .bool]

    @Test func blocks() {
        let x = counting([4, 1, 2, 2])
        let wide = BatchToSpace(blockShape: [2, 2], crops: [0, 0, 0, 0])
        let spread = picked(x, [1, 1, 4, 4]) { [$0[2] % 2 * 2 + $0[3] % 2, 0, $0[2] / 2, $0[3] / 2] }
        #expect(OperatorProblem("", wide, [x], expected: [spread]).failures() == [])
        let cropped = BatchToSpace(blockShape: [2, 2], crops: [1, 0, 0, 1])
        let inner = picked(spread, [1, 1, 3, 3]) { [0, 0, $0[2] + 1, $0[3]] }
        #expect(OperatorProblem("", cropped, [x], expected: [inner]).failures() == [])
    }

    @Test func kernels() {
        var random = RandomTensors(seed: 23)
        for (block, margins) in [
            ([2, 2], [0, 0, 0, 0]), ([2, 3], [1, 1, 3, 0]), ([3, 1], [0, 3, 2, 5]), ([1, 4], [0, 0, 5, 3]),
        ] {
            guard margins[0] + margins[1] < block[0] * 7, margins[2] + margins[3] < block[1] * 5 else { continue }
            for type in Self.types {
                let back = OperatorProblem(
                    "back",
                    BatchToSpace(blockShape: block, crops: margins),
                    [random.tensor([2 * block[0] * block[1], 3, 7, 5], type, in: 0...90)],
                    tolerance: 0
                )
                #expect(back.failures() == [])
            }
        }
    }
}
