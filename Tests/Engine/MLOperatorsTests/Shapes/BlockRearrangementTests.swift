import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct BlockRearrangementTests {
    static let problems: [OperatorProblem] = [
        OperatorProblem(
            "",
            SpaceToDepth(blockSize: 2),
            [counting([1, 2, 2, 4])],
            expected: [
                picked(counting([1, 2, 2, 4]), [1, 8, 1, 2]) { [0, $0[1] % 2, $0[1] / 4, $0[3] * 2 + $0[1] / 2 % 2] }
            ]
        ),
        OperatorProblem(
            "",
            DepthToSpace(blockSize: 2),
            [counting([1, 8, 1, 2])],
            expected: [
                picked(counting([1, 8, 1, 2]), [1, 2, 2, 4]) {
                    [0, ($0[2] % 2 * 2 + $0[3] % 2) * 2 + $0[1], $0[2] / 2, $0[3] / 2]
                }
            ]
        ),
        OperatorProblem(
            "",
            PixelShuffle(blockSize: 2),
            [counting([1, 8, 1, 2])],
            expected: [
                picked(counting([1, 8, 1, 2]), [1, 2, 2, 4]) {
                    [0, $0[1] * 4 + $0[2] % 2 * 2 + $0[3] % 2, $0[2] / 2, $0[3] / 2]
                }
            ]
        ),
        OperatorProblem(
            "",
            PixelUnshuffle(blockSize: 2),
            [counting([1, 2, 2, 4])],
            expected: [
                picked(counting([1, 2, 2, 4]), [1, 8, 1, 2]) { [0, $0[1] / 4, $0[1] / 2 % 2, $0[3] * 2 + $0[1] % 2] }
            ]
        ),
    ]

    @Test(arguments: problems) func problem(_ problem: OperatorProblem) { #expect(problem.failures() == []) }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([1, 2, 2, 4])], as: SpaceToDepth(blockSize: 2)) { $0.reorganizeData.blockSize = 2 },
        LayerProblem([counting([1, 8, 1, 2])], as: DepthToSpace(blockSize: 2)) {
            $0.reorganizeData.blockSize = 2
            $0.reorganizeData.mode = .depthToSpace
        },
        LayerProblem([counting([1, 8, 1, 2])], as: PixelShuffle(blockSize: 2)) {
            $0.reorganizeData.blockSize = 2
            $0.reorganizeData.mode = .pixelShuffle
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        let image: [GradientProblem.Operand] = [.real([1, 4, 4, 6])]
        let problems = [
            GradientProblem("", SpaceToDepth(blockSize: 2), image),
            GradientProblem("", DepthToSpace(blockSize: 2), image),
            GradientProblem("", PixelShuffle(blockSize: 2), image),
            GradientProblem("", PixelUnshuffle(blockSize: 2), image),
        ]
        for problem in problems { #expect(problem.failures() == []) }
    }
}
