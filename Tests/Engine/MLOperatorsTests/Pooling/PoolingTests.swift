import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct PoolingTests {
    static let row = OperatorTrial.floats([1, 2, 3, 4, 5], [1, 1, 5])

    @Test func maximum() throws {
        let result = try OperatorTrial.program(
            MaxPool.self,
            [
                "x": OperatorTrial.floats([-1, -2, -3, -4], [1, 1, 2, 2]),
                "kernel_sizes": OperatorTrial.integers([2, 2]), "strides": OperatorTrial.integers([1, 1]),
                "pad_type": OperatorTrial.string("custom"), "pad": OperatorTrial.integers([1, 1, 0, 0]),
            ]
        )[0]
        #expect(result.shape == [1, 1, 3, 1])
        #expect(result.values == [-1, -1, -3])
    }

    static let averages: [(AveragePool, [Double])] = [
        (.init(kernel: [2], strides: [2]), [1.5, 3.5]),
        (.init(kernel: [2], strides: [2], roundsUp: true), [1.5, 3.5, 5]),
        (.init(kernel: [2], strides: [2], padding: .same), [1.5, 3.5, 2.5]),
        (.init(kernel: [2], strides: [2], padding: .same, excludesPadding: true), [1.5, 3.5, 5]),
        (.init(kernel: [2], strides: [2], padding: .sameLower), [0.5, 2.5, 4.5]),
        (.init(kernel: [3], strides: [2], padding: .custom(before: [1], after: [1])), [1, 3, 3]),
        (
            .init(kernel: [3], strides: [2], padding: .custom(before: [1], after: [1]), excludesPadding: true),
            [1.5, 3, 4.5]
        ),
        (.init(kernel: [2], strides: [3], padding: .custom(before: [1], after: [1]), roundsUp: true), [0.5, 3.5]),
        (.global, [3]),
    ]

    @Test(arguments: averages) func average(op: AveragePool, expected: [Double]) throws {
        expectClose(try OperatorTrial.reference(op, Self.row)[0], expected)
    }

    @Test func aRoundedUpWindowMustBeginInside() throws {
        // ⌈(4 + 2 − 2) / 3⌉ + 1 = 3 windows, but the third would begin behind the input and its leading border.
        let x = OperatorTrial.floats([1, 2, 3, 4], [1, 1, 4])
        let op = MaxPool(kernel: [2], strides: [3], padding: .custom(before: [1], after: [1]), roundsUp: true)
        #expect(try OperatorTrial.reference(op, x)[0].values == [1, 4])
    }

    @Test func euclideanLength() throws {
        let x = OperatorTrial.floats([3, 4, 0, 5], [1, 1, 4])
        expectClose(try OperatorTrial.reference(L2Pool(kernel: [2], strides: [2]), x)[0], [5, 5])
    }

    @Test func threeSpatialAxes() throws {
        let x = OperatorTrial.noise([2, 3, 4, 4, 2])
        let result = try OperatorTrial.reference(MaxPool(kernel: [2, 4, 1], strides: [2, 1, 1]), x)[0]
        #expect(result.shape == [2, 3, 2, 1, 2])
        var expected: [Double] = []
        for slice in 0..<6 {
            for d in 0..<2 {
                for w in 0..<2 {
                    let places = (0..<2).flatMap { a in
                        (0..<4).map { b in ((slice * 4 + d * 2 + a) * 4 + b) * 2 + w }
                    }
                    expected.append(places.map { x.values[$0] }.max()!)
                }
            }
        }
        expectClose(result, expected)
    }

    @Test func contradictionsAreErrors() {
        #expect(throws: ModelError.self) { try OperatorTrial.reference(MaxPool(kernel: [6]), Self.row) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(MaxPool(kernel: [2, 2]), Self.row) }
        #expect(throws: ModelError.self) { try OperatorTrial.reference(MaxPool(kernel: [2], strides: [0]), Self.row) }
    }

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

    static let layers: [LayerProblem] = [
        LayerProblem([counting([1, 2, 4, 5])], as: MaxPool(kernel: [2, 3], strides: [2, 1])) {
            $0.pooling.kernelSize = [2, 3]
            $0.pooling.stride = [2, 1]
            $0.pooling.valid = .init()
        },
        LayerProblem([counting([1, 2, 4, 5])], as: AveragePool.global) {
            $0.pooling.type = .average
            $0.pooling.globalPooling = true
        },
        LayerProblem(
            [counting([1, 2, 4, 5])],
            as: L2Pool(kernel: [2, 2], strides: [2, 2], padding: .same),
            tolerance: 1e-4
        ) {
            $0.pooling.type = .l2
            $0.pooling.kernelSize = [2, 2]
            $0.pooling.stride = [2, 2]
            $0.pooling.same = .init()
        },
        LayerProblem([counting([1, 2, 2, 4, 5])], as: AveragePool(kernel: [1, 2, 3], strides: [1, 2, 1])) {
            $0.pooling3D.type = .average
            $0.pooling3D.kernelDepth = 1
            $0.pooling3D.kernelHeight = 2
            $0.pooling3D.kernelWidth = 3
            $0.pooling3D.strideDepth = 1
            $0.pooling3D.strideHeight = 2
            $0.pooling3D.strideWidth = 1
            $0.pooling3D.paddingType = .valid
        },
        LayerProblem([counting([1, 2, 2, 4, 5])], as: MaxPool.global) { $0.globalPooling3D.type = .max },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test func gradient() {
        for padding: WindowPadding in [.valid, .same, .custom(before: [1, 0], after: [0, 1])] {
            for roundsUp in [false, true] {
                let x: [GradientProblem.Operand] = [.real([2, 3, 7, 6])]
                #expect(
                    GradientProblem(
                        "",
                        MaxPool(kernel: [3, 2], strides: [2, 2], padding: padding, roundsUp: roundsUp),
                        x
                    ).failures()
                        == []
                )
                #expect(
                    GradientProblem(
                        "",
                        L2Pool(kernel: [2, 2], strides: [2, 1], padding: padding, roundsUp: roundsUp),
                        x
                    ).failures()
                        == []
                )
                for excludes in [false, true] {
                    let op = AveragePool(
                        kernel: [3, 3],
                        strides: [2, 1],
                        padding: padding,
                        roundsUp: roundsUp,
                        excludesPadding: excludes
                    )
                    #expect(GradientProblem("", op, x).failures() == [])
                }
            }
        }
        #expect(GradientProblem("global", AveragePool.global, [.real([2, 3, 4, 5])]).failures() == [])
        #expect(GradientProblem("global", MaxPool.global, [.real([2, 3, 4, 5])]).failures() == [])
        #expect(
            GradientProblem("pairs", MaxPool(kernel: [2, 2], strides: [2, 2]), [.real([2, 3, 8, 38])]).failures() == []
        )
        #expect(
            GradientProblem("pairs", MaxPool(kernel: [1, 2], strides: [3, 2]), [.real([2, 3, 8, 11])]).failures() == []
        )
        #expect(GradientProblem("1-D", MaxPool(kernel: [2], strides: [2]), [.real([2, 3, 9])]).failures() == [])
        #expect(GradientProblem("3-D", AveragePool(kernel: [2, 2, 2]), [.real([1, 2, 3, 4, 3])]).failures() == [])
    }
}
