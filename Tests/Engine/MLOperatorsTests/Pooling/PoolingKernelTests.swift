import MLNumerics
import MLOperators
import Testing
import TestSupport

@Suite struct PoolingKernelTests {
    struct Window: Sendable {
        var x: [Int]
        var kernel: [Int]
        var strides: [Int]
        var padding: WindowPadding
        var roundsUp = false
    }

    static let windows: [Window] = [
        Window(x: [2, 3, 11], kernel: [3], strides: [2], padding: .same),
        Window(x: [2, 19, 9, 8], kernel: [3, 3], strides: [2, 2], padding: .custom(before: [1, 1], after: [1, 1])),
        Window(
            x: [1, 5, 7, 7],
            kernel: [2, 3],
            strides: [2, 3],
            padding: .custom(before: [1, 0], after: [1, 0]),
            roundsUp: true
        ),
        Window(x: [1, 4, 6, 5], kernel: [2, 2], strides: [1, 1], padding: .sameLower),
        Window(
            x: [1, 3, 4, 5, 6],
            kernel: [2, 3, 2],
            strides: [2, 1, 2],
            padding: .custom(before: [1, 1, 0], after: [0, 1, 1])
        ),
    ]

    @Test(arguments: windows) func agreesWithThePlainEvaluation(window: Window) {
        var random = RandomTensors(seed: 5)
        let x = random.tensor(window.x)
        let kernel = window.kernel
        let (strides, padding, roundsUp) = (window.strides, window.padding, window.roundsUp)
        var problems = [
            OperatorProblem(
                "max",
                MaxPool(kernel: kernel, strides: strides, padding: padding, roundsUp: roundsUp),
                [x]
            ),
            OperatorProblem(
                "length",
                L2Pool(kernel: kernel, strides: strides, padding: padding, roundsUp: roundsUp),
                [x]
            ),
        ]
        for excludesPadding in [false, true] {
            let op = AveragePool(
                kernel: kernel,
                strides: strides,
                padding: padding,
                roundsUp: roundsUp,
                excludesPadding: excludesPadding
            )
            problems.append(OperatorProblem("mean", op, [x]))
        }
        for problem in problems { #expect(problem.failures() == []) }
    }

    @Test func global() {
        var random = RandomTensors(seed: 6)
        let x = random.tensor([2, 7, 5, 4])
        #expect(OperatorProblem("max", MaxPool.global, [x]).failures() == [])
        #expect(OperatorProblem("mean", AveragePool.global, [x]).failures() == [])
    }
}
