import MLGraph
import MLNumerics
import MLOperators
import TestSupport
import Testing

@Suite struct SpaceToBatchTests {
    private static let types: [ScalarType] = [.float32, .int32, .float16, .uint8, .bool]

    @Test func blocks() {
        let x = counting([4, 1, 2, 2])
        let spread = picked(x, [1, 1, 4, 4]) { [$0[2] % 2 * 2 + $0[3] % 2, 0, $0[2] / 2, $0[3] / 2] }
        let back = SpaceToBatch(blockShape: [2, 2], paddings: [0, 0, 0, 0])
        #expect(OperatorProblem("", back, [spread], expected: [x]).failures() == [])
        let padded = SpaceToBatch(blockShape: [2, 2], paddings: [1, 0, 0, 1])
        #expect(OperatorProblem("", padded, [counting([1, 1, 3, 3])]).failures() == [])
    }

    @Test func kernels() {
        var random = RandomTensors(seed: 23)
        for (block, margins) in [
            ([2, 2], [0, 0, 0, 0]), ([2, 3], [1, 1, 3, 0]), ([3, 1], [0, 3, 2, 5]), ([1, 4], [0, 0, 5, 3]),
        ] {
            for type in Self.types {
                let (h, w) = (block[0] * 7, block[1] * 5)
                let image = [2, 3, h - margins[0] - margins[1], w - margins[2] - margins[3]]
                guard image.allSatisfy({ $0 > 0 }) else { continue }
                let there = OperatorProblem(
                    "there",
                    SpaceToBatch(blockShape: block, paddings: margins),
                    [random.tensor(image, type, in: 0...90)],
                    tolerance: 0
                )
                #expect(there.failures() == [])
            }
        }
    }
}
