import MLGraph
import MLNumerics
import MLOperators
import MLSpecification
import TestSupport
import Testing

@Suite struct CumulativeSumTests {
    @Test func sums() {
        let x = Tensor([1, 2, 3, 4, 5, 6] as [Float], shape: [2, 3])
        let cases: [(CumulativeSum, [Float])] = [
            (CumulativeSum(axis: 1), [1, 3, 6, 4, 9, 15]),
            (CumulativeSum(axis: -1, isExclusive: true), [0, 1, 3, 0, 4, 9]),
            (CumulativeSum(axis: 1, isReversed: true), [6, 5, 3, 15, 11, 6]),
            (CumulativeSum(axis: 1, isExclusive: true, isReversed: true), [5, 3, 0, 11, 6, 0]),
            (CumulativeSum(axis: 0), [1, 2, 3, 5, 7, 9]),
        ]
        for (op, values) in cases {
            #expect(OperatorProblem("", op, [x], expected: [Tensor(values, shape: [2, 3])]).failures() == [])
        }
    }

    @Test(arguments: [[5, 40, 9], [1, 70_000, 1], [2, 300, 70], [6, 5, 300]]) func kernels(shape: [Int]) {
        var random = RandomTensors(seed: 44)
        for type in [ScalarType.float32, .int32] {
            let x = random.tensor(shape, type, in: type == .int32 ? -90_000...100_000 : -1...1)
            for axis in 0..<3 {
                for (isExclusive, isReversed) in [(false, false), (true, false), (false, true), (true, true)] {
                    let sum = CumulativeSum(axis: axis, isExclusive: isExclusive, isReversed: isReversed)
                    #expect(OperatorProblem("", sum, [x], tolerance: 1e-5).failures() == [])
                }
            }
        }
    }

    static let layers: [LayerProblem] = [
        LayerProblem([counting([2, 3])], as: CumulativeSum(axis: 1, isExclusive: true, isReversed: true)) {
            $0.cumSum.axis = 1
            $0.cumSum.excludeFinalSum = true
            $0.cumSum.reverse = true
        },
        LayerProblem([counting([2, 3]), OperatorTrial.floats([1])], as: CumulativeSum(axis: 1), [counting([2, 3])]) {
            $0.cumSum = .init()
        },
    ]

    @Test(arguments: layers) func layer(_ problem: LayerProblem) { #expect(problem.failures() == []) }

    @Test(arguments: UInt64(1)...2) func gradient(seed: UInt64) {
        for isExclusive in [false, true] {
            for isReversed in [false, true] {
                let op = CumulativeSum(axis: 1, isExclusive: isExclusive, isReversed: isReversed)
                #expect(GradientProblem("", op, [.real([2, 5, 3])], seed: seed).failures() == [])
            }
        }
    }
}
