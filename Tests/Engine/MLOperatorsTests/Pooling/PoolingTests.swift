import MLGraph
import MLNumerics
import MLOperators
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
}
